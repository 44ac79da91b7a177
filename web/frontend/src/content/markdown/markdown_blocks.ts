/* Markdown as a list of blocks that grows while a message streams.

   Invariants
     - Text that is appended changes the last two blocks at most, so all others keep their identity
       and are never parsed or drawn again.
     - No text takes long: what a parser would need much time for is shown as plain text. */

import { Lexer, type Links, type Token } from "marked";

export interface MarkdownBlock {
  /** Where the block starts in the text: a stable key. */
  readonly start: number;
  readonly token: Token;
}

// A list may go on after a blank line, so the block before the last one is still open.
const OPEN_BLOCKS = 2;
// Deeper nesting takes the parser long, or more stack than there is.
const TOO_DEEP = /^ {0,3}(?:(?:> {0,3}){50}|(?:[-+*] {1,3}){50})/m;
// The parser looks from each mark over the rest of a paragraph: marks times length, about 6 ns each.
const PARAGRAPH_WORK_MAX = 1_500_000;
const MARKS = /[*_~[\]`<!&@\\:]/g;
// Definitions are few; a text of nothing else would be read again for each.
const DEFINITIONS_MAX = 100;

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
    const found = Object.keys(this.links).length;
    if (found > known && found <= DEFINITIONS_MAX) {
      // A new link definition may belong to words above it.
      this.blocks = this.read(text, 0);
    } else {
      const before = new Map(this.blocks.map((block) => [block.start, block]));
      this.blocks = kept.concat(tail.map((block) => same(before.get(block.start), block) ?? block));
    }
    this.text = text;
    return this.blocks;
  }

  private tokens(text: string): Token[] {
    const plain = [{ type: "plain", raw: text, text }];
    if (TOO_DEEP.test(text)) return plain;
    const lexer = new Lexer({ gfm: true, breaks: this.breaks, pedantic: false });
    lexer.tokens.links = this.links;
    try {
      const tokens = lexer.blockTokens(text, lexer.tokens);
      for (const { src, tokens: inside } of lexer.inlineQueue) readInline(lexer, src, inside);
      this.links = lexer.tokens.links;
      return tokens;
    } catch {
      // More nesting than there is stack.
      return plain;
    }
  }

  private read(text: string, offset: number): MarkdownBlock[] {
    const tokens = this.tokens(text);
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

/** The inside of a paragraph, unless that would take long. */
function readInline(lexer: Lexer, text: string, tokens: Token[]): void {
  const marks = text.length < 1_000 ? 0 : (text.match(MARKS)?.length ?? 0);
  if (marks * text.length > PARAGRAPH_WORK_MAX) tokens.push({ type: "text", raw: text, text });
  else lexer.inlineTokens(text, tokens);
}

function same(before: MarkdownBlock | undefined, now: MarkdownBlock): MarkdownBlock | undefined {
  const isSame = before?.token.raw === now.token.raw && before.token.type === now.token.type;
  return isSame ? before : undefined;
}
