/** Prompts of ours that the agent may echo.
 *
 * A prompt is shown the moment it is sent.  An agent echoes it under an id that the answer to the
 * prompt names too, and the two come in either order.  None of this may show the prompt twice, and
 * none of it may swallow a message that is not the echo.
 */

import { joinedText, type ContentBlock } from "./blocks.ts";
import type { Message } from "./items.ts";

export const PROMPTS_AWAITING_ECHO_MAX = 16;

const hasNoText = (block: ContentBlock): boolean => block.type !== "text";
const othersIn = (blocks: readonly ContentBlock[]): number => blocks.filter(hasNoText).length;

/** One prompt and how much of its echo has come. */
export class SentPrompt {
  /** What was taken for the echo so far: if it is none, this becomes a message of its own. */
  readonly seen: ContentBlock[] = [];
  /** The agent itself gave the message id of its echo, so nothing is guessed here. */
  isConfirmed = false;
  private readonly text: string;
  private matched = 0;
  private others: number;

  constructor(readonly message: Message) {
    this.text = message.text;
    this.others = othersIn(message.blocks);
  }

  /** Whether all that was sent has come back. */
  get isComplete(): boolean {
    return this.matched === this.text.length && this.others === 0;
  }

  /** Whether a whole message has the content of the prompt: of blocks without text, the number. */
  equals(blocks: readonly ContentBlock[]): boolean {
    return this.text === joinedText(blocks) && this.others === othersIn(blocks);
  }

  /** Whether the block continues the echo, which then counts as come. */
  takes(block: ContentBlock): boolean {
    if (block.type !== "text") {
      if (this.others === 0) return false;
      this.others -= 1;
    } else {
      if (!this.text.startsWith(block.text, this.matched)) return false;
      this.matched += block.text.length;
    }
    this.seen.push(block);
    return true;
  }
}

/** The prompts that still may be echoed, oldest first; one leaves once its echo is complete. */
export class SentPrompts {
  private waiting: SentPrompt[] = [];

  add(message: Message): void {
    this.waiting = [...this.waiting, new SentPrompt(message)].slice(-PROMPTS_AWAITING_ECHO_MAX);
  }

  /** The prompt that is shown as this message, if its echo is still expected. */
  of(message: Message): SentPrompt | undefined {
    return this.waiting.find((prompt) => prompt.message === message);
  }

  drop(message: Message): void {
    this.waiting = this.waiting.filter((prompt) => prompt.message !== message);
  }

  /** The prompts without an echo and without a known id. */
  unnamed(): SentPrompt[] {
    return this.waiting.filter(
      (prompt) => prompt.message.messageId === null && prompt.seen.length === 0,
    );
  }
}
