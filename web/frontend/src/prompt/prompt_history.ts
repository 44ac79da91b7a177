/* Walks through earlier prompts with the arrow keys, and comes back to the unsent text.  Pure. */

export class PromptHistory {
  private at: number | null = null;
  private unsent = "";

  /** The text one step earlier (-1) or later (+1); null if there is none. */
  step(direction: -1 | 1, entries: readonly string[], current: string): string | null {
    if (this.at === null) {
      if (direction === 1 || entries.length === 0) return null;
      this.unsent = current;
      this.at = entries.length;
    }
    const next = Math.min(this.at, entries.length) + direction;
    if (next < 0) return null;
    if (next >= entries.length) {
      this.at = null;
      return this.unsent;
    }
    this.at = next;
    return entries[next]!;
  }

  /** Forget the position: the text was edited or sent. */
  leave(): void {
    this.at = null;
    this.unsent = "";
  }

  get isWalking(): boolean {
    return this.at !== null;
  }
}

/** Whether an arrow key leaves the text: only from its first or last line. */
export function leavesText(direction: -1 | 1, text: string, from: number, to: number): boolean {
  if (from !== to) return false;
  return direction === -1 ? !text.slice(0, from).includes("\n") : !text.slice(to).includes("\n");
}
