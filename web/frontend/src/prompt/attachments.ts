/* Makes attachments of files that were pasted, dropped or chosen, and the blocks of a prompt.

   A file goes in the best form that the agent takes; what it does not take is refused with a
   sentence, before anything is sent. */

import type { Attachment } from "../client/types.ts";
import { sizeText } from "../content/visible_text.ts";

type ContentBlock = Attachment["block"];

export const ATTACHMENT_BYTES_MAX = 8 << 20;
export const ATTACHMENTS_BYTES_MAX = 20 << 20;
export const ATTACHMENTS_MAX = 20;
/** More text than this is treated as binary: it is sent as a file, not as words. */
const TEXT_BYTES_MAX = 1 << 20;

export interface PromptCapabilities {
  image: boolean;
  audio: boolean;
  embeddedContext: boolean;
}

/** What the agent takes in prompts besides text and links. */
export function promptCapabilities(capabilities: unknown): PromptCapabilities {
  const prompt = at(at(capabilities, "session"), "prompt");
  return {
    image: at(prompt, "image") != null,
    audio: at(prompt, "audio") != null,
    embeddedContext: at(prompt, "embeddedContext") != null,
  };
}

const at = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;

/** Why a file cannot be attached to these; null if it can. */
export function refusal(file: File, attached: readonly Attachment[], takes: PromptCapabilities): string | null {
  const name = file.name || "The file";
  const total = attached.reduce((sum, each) => sum + each.size, file.size);
  if (file.size > ATTACHMENT_BYTES_MAX) {
    return `${name} has ${sizeText(file.size)}; at most ${sizeText(ATTACHMENT_BYTES_MAX)} can be attached. Put it into the session's folder and name it with @.`;
  }
  if (total > ATTACHMENTS_BYTES_MAX || attached.length >= ATTACHMENTS_MAX) {
    return `${name} is too much for one prompt (at most ${ATTACHMENTS_MAX} attachments, ${sizeText(ATTACHMENTS_BYTES_MAX)}). Send the others first.`;
  }
  if (isImage(file)) return takes.image ? null : `This agent does not accept images. ${name} was not attached.`;
  if (file.type.startsWith("audio/")) {
    return takes.audio ? null : `This agent does not accept audio. ${name} was not attached.`;
  }
  return null;
}

// A drawing is text: agents read it better than they see it.
const isImage = (file: File): boolean => file.type.startsWith("image/") && file.type !== "image/svg+xml";

/** Reads the file into an attachment. The caller has asked `refusal` first. */
export async function attachmentOf(file: File, takes: PromptCapabilities): Promise<Attachment | { problem: string }> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const mimeType = file.type || "application/octet-stream";
  const name = file.name || (isImage(file) ? "Pasted image" : "Pasted file");
  const head = { id: crypto.randomUUID(), name, mimeType, size: bytes.length };
  const data = (): string => base64(bytes);
  if (isImage(file)) {
    const encoded = data();
    const preview = `data:${mimeType};base64,${encoded}`;
    return { ...head, block: block({ type: "image", mimeType, data: encoded }), preview };
  }
  if (mimeType.startsWith("audio/")) {
    return { ...head, block: block({ type: "audio", mimeType, data: data() }), preview: null };
  }
  const uri = `attachment:${encodeURIComponent(name)}`;
  const text = textOf(bytes);
  if (text !== null) {
    const type = file.type || "text/plain";
    const words = takes.embeddedContext
      ? { type: "resource", resource: { uri, mimeType: type, text } }
      : { type: "text", text: `${name}:\n\n${fenced(text)}` };
    return { ...head, mimeType: type, block: block(words), preview: null };
  }
  if (!takes.embeddedContext) {
    return { problem: `This agent accepts no attached files but text. ${name} was not attached; put it into the session's folder and name it with @.` };
  }
  return { ...head, block: block({ type: "resource", resource: { uri, mimeType, blob: data() } }), preview: null };
}

const block = (fields: Record<string, unknown>): ContentBlock => fields as unknown as ContentBlock;

function textOf(bytes: Uint8Array): string | null {
  if (bytes.length > TEXT_BYTES_MAX || bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The text in a fence that is longer than any in it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((found) => found.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(binary);
}

const MENTION = "mention:";

/** A file of the session's folder that the text names with an @. */
export function mentionOf(path: string, cwd: string): Attachment {
  const absolute = path.startsWith("/") ? path : `${cwd.replace(/\/+$/, "")}/${path}`;
  const uri = `file://${absolute.split("/").map(encodeURIComponent).join("/")}`;
  const name = path.split("/").at(-1) || path;
  return { id: MENTION + path, name: path, mimeType: "", size: 0, block: block({ type: "resource_link", name, uri }), preview: null };
}

export const isMention = (attachment: Attachment): boolean => attachment.id.startsWith(MENTION);

/** The attachments without the files that the text no longer names. */
export function stillMentioned(text: string, attachments: readonly Attachment[]): Attachment[] {
  return attachments.filter((each) => !isMention(each) || text.includes(`@${each.name}`));
}

/** What is sent: the words, then what goes with them. */
export function promptBlocks(text: string, attachments: readonly Attachment[]): ContentBlock[] {
  const words = text.trim();
  const rest = attachments.map((each) => each.block);
  return words === "" ? rest : [block({ type: "text", text: words }), ...rest];
}
