/** Content that grows block by block: the body of messages and of compaction summaries.
 *
 * Text that came in adjacent chunks is one block; blocks that came as one array stay apart, and so
 * does text with annotations or metadata.
 */

import { joinedText, type ContentBlock, type Meta, type TextBlock } from "./blocks.ts";
import { patchMeta } from "./meta.ts";

export class Content {
  blocks: ContentBlock[] = [];
  meta: Meta = {};
  /** How often all was replaced: positions in the text from before mean nothing after. */
  replacements = 0;
  /** The last block, if it came in a chunk, so that more text may be joined to it. */
  private open: TextBlock | null = null;
  /** The text of all blocks, if it is known. */
  private known: string | null = "";

  /** The text of all blocks; of a single one, no copy is held. */
  get text(): string {
    return (this.known ??= joinedText(this.blocks));
  }

  append(block: ContentBlock): void {
    this.known = null;
    if (!isPlainText(block)) {
      this.open = null;
      this.blocks.push(block);
    } else if (this.open !== null) {
      // Another object, because a message of the same words may hold the one before.
      this.open = { type: "text", text: this.open.text + block.text };
      this.blocks[this.blocks.length - 1] = this.open;
    } else {
      this.open = { type: "text", text: block.text };
      this.blocks.push(this.open);
    }
  }

  replace(blocks: readonly ContentBlock[]): void {
    this.blocks = [...blocks];
    this.known = null;
    this.open = null;
    this.replacements += 1;
  }

  /** Keep the blocks when nothing is given, clear them for null, replace them otherwise. */
  patch(blocks: readonly ContentBlock[] | null | undefined): void {
    if (blocks !== undefined) this.replace(blocks ?? []);
  }

  patchMeta(patch: Meta | null | undefined): void {
    this.meta = patchMeta(this.meta, patch);
  }
}

function isPlainText(block: ContentBlock): block is TextBlock {
  return block.type === "text" && block._meta === undefined && block.annotations === undefined;
}
