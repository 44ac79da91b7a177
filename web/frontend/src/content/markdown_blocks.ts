/* Markdown as a list of blocks that grows while a message streams.

   Invariant: text that is appended changes the last two blocks at most, so all others keep their
   identity and are never parsed or drawn again. */

import { Lexer, type Links, type Token } from "marked";

export interface MarkdownBlock {
  /** Where the block starts in the text: a stable key. */
  readonly start: number;
  readonly token: Token;
}

// A list may go on after a blank line, so the block before the last one is still open.
const OPEN_BLOCKS = 2;

export class MarkdownBlocks {
  private text = "";
  private blocks: MarkdownBlock[] = [];
  private links: Links = {};

  /** With `breaks` every line break counts, as in what people type into a prompt. */
  constructor(private readonly breaks = false) {}

  /** Take the whole text as it is now; what was there before is read again only at its end. */
  update(received: string): readonly MarkdownBlock[] {
    const text = received.includes("\r") ? received.replace(/\r\n?/g, "\n") : received;
    if (text === this.text) return this.blocks;
    if (!text.startsWith(this.text)) {
      this.blocks = [];
      this.links = {};
    }
    const kept = this.blocks.slice(0, -OPEN_BLOCKS);
    const from = this.blocks[kept.length]?.start ?? 0;
    const known = Object.keys(this.links).length;
    const tail = this.read(text.slice(from), from);
    if (Object.keys(this.links).length > known) {
      // A new link definition may belong to words above it.
      this.blocks = this.read(text, 0);
    } else {
      const before = new Map(this.blocks.map((block) => [block.start, block]));
      this.blocks = kept.concat(tail.map((block) => same(before.get(block.start), block) ?? block));
    }
    this.text = text;
    return this.blocks;
  }

  private read(text: string, offset: number): MarkdownBlock[] {
    const lexer = new Lexer({ gfm: true, breaks: this.breaks, pedantic: false });
    lexer.tokens.links = this.links;
    let tokens: Token[];
    try {
      tokens = lexer.lex(text);
    } catch {
      // Nested too deeply for the parser: still shown, as plain text.
      return [{ start: offset, token: { type: "plain", raw: text, text } }];
    }
    this.links = lexer.tokens.links;
    const blocks: MarkdownBlock[] = [];
    let cursor = 0;
    for (const token of tokens) {
      if (token.type === "space" || token.type === "def") continue;
      // The parser drops blank ends of lists from `raw`, so lengths do not add up.
      const found = text.indexOf(token.raw, cursor);
      const start = found < 0 ? cursor : found;
      cursor = start + token.raw.length;
      blocks.push({ start: offset + start, token });
    }
    return blocks;
  }
}

function same(before: MarkdownBlock | undefined, now: MarkdownBlock): MarkdownBlock | undefined {
  const isSame = before?.token.raw === now.token.raw && before.token.type === now.token.type;
  return isSame ? before : undefined;
}
