/** The values of ACP version 2 that a transcript holds as they came. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Meta = Record<string, unknown>;

export interface Annotations {
  audience?: string[] | null;
  lastModified?: string | null;
  priority?: number | null;
  _meta?: Meta | null;
}

interface Block {
  annotations?: Annotations | null;
  _meta?: Meta | null;
}

export interface TextBlock extends Block {
  type: "text";
  text: string;
}

/** `data` is base64, here and below. */
export interface ImageBlock extends Block {
  type: "image";
  data: string;
  mimeType: string;
  uri?: string | null;
}

export interface AudioBlock extends Block {
  type: "audio";
  data: string;
  mimeType: string;
}

export interface ResourceLinkBlock extends Block {
  type: "resource_link";
  name: string;
  uri: string;
  title?: string | null;
  description?: string | null;
  mimeType?: string | null;
  size?: number | null;
}

/** A resource with its contents: `text` or `blob`; if both are there, the text counts. */
export interface ResourceBlock extends Block {
  type: "resource";
  resource: { uri: string; text?: string; blob?: string; mimeType?: string | null };
}

/** A variant of an open union that this page does not know, kept whole. */
export interface UnknownVariant {
  type: "unknown";
  /** What its tag says on the wire. */
  tag: string;
  received: Json;
}

export type KnownBlock = TextBlock | ImageBlock | AudioBlock | ResourceLinkBlock | ResourceBlock;
export type ContentBlock = KnownBlock | UnknownVariant;

/** One file of a diff, as version 2 reports it. */
export interface DiffChange {
  type?: undefined;
  operation: "add" | "delete" | "modify" | "move" | "copy";
  path: string;
  oldPath?: string;
  fileType?: string | null;
  mimeType?: string | null;
}

/** Changes of files: `changes` is the truth, `patch` shows it.
 *
 * `path`, `oldText` and `newText` are how the first drafts of version 2 said it; agents of version
 * 1 report diffs so, and then `changes` is empty.  `ToolCall.diffs` reads both forms.
 */
export interface DiffContent {
  type: "diff";
  changes: (DiffChange | UnknownVariant)[];
  patch?: { format: string; text: string } | null;
  path?: string;
  oldText?: string | null;
  newText?: string;
  _meta?: Meta | null;
}

export interface BlockContent {
  type: "content";
  content: ContentBlock;
  _meta?: Meta | null;
}

export interface TerminalContent {
  type: "terminal";
  terminalId: string;
  _meta?: Meta | null;
}

export type ToolContent = BlockContent | DiffContent | TerminalContent | UnknownVariant;

/** The text of a text block, and nothing of any other. */
export function textOf(block: ContentBlock): string {
  return block.type === "text" ? block.text : "";
}

export function joinedText(blocks: readonly ContentBlock[]): string {
  const [first] = blocks;
  if (blocks.length === 1 && first !== undefined) return textOf(first);
  return blocks.map(textOf).join("");
}
