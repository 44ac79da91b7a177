/* Changes taken back: from the text of a file as it is now to what it was before.

   Invariant: nothing is guessed. A change that cannot be found at exactly one place is left alone
   and counted, so that the reader is told. */

import { splitLines, type Hunk } from "./hunks.ts";

/** The text without one hunk that was made from this very text; null if it does not match. */
export function withoutHunk(text: string, hunk: Hunk): string | null {
  const lines = splitLines(text);
  const { before, after } = sides(hunk);
  const start = hunk.newStart - 1;
  if (!matches(lines, after, start)) return null;
  lines.splice(start, after.length, ...before);
  return lines.join("");
}

export interface Reversal {
  readonly text: string;
  /** Hunks that are neither there nor taken back already. */
  readonly lost: number;
}

/** The text before these hunks of one change, as far as they can still be found. */
export function reversed(text: string, hunks: readonly Hunk[]): Reversal {
  const exact = reversedLines(text, hunks, false);
  if (exact.lost === 0 || text.includes("\r\n")) return exact;
  // A gateway may give the lines of a file with plain ends whatever it has on disk.
  const plain = reversedLines(text, hunks, true);
  return plain.lost < exact.lost ? plain : exact;
}

function reversedLines(text: string, hunks: readonly Hunk[], isPlain: boolean): Reversal {
  const lines = splitLines(text);
  let lost = 0;
  for (const hunk of [...hunks].reverse()) {
    const { before, after } = sides(hunk, isPlain);
    if (before.join("") === after.join("")) continue;
    const at = place(lines, after, hunk.newStart - 1);
    if (at !== null) lines.splice(at, after.length, ...before);
    else if (before.length === 0 || place(lines, before, hunk.oldStart - 1) === null) lost += 1;
  }
  return { text: lines.join(""), lost };
}

function sides(hunk: Hunk, isPlain = false): { before: string[]; after: string[] } {
  const lines = isPlain
    ? hunk.lines.map((line) => ({ ...line, text: line.text.replace(/\r\n$/, "\n") }))
    : hunk.lines;
  const before = lines.filter((line) => line.kind !== "added").map((line) => line.text);
  const after = lines.filter((line) => line.kind !== "removed").map((line) => line.text);
  return { before, after };
}

/** Where the lines stand: at the expected place, or at the only other one. */
function place(
  lines: readonly string[],
  wanted: readonly string[],
  expected: number,
): number | null {
  // Nothing stands anywhere, so only an empty file is sure to be the place.
  if (wanted.length === 0) return lines.length === 0 ? 0 : null;
  if (matches(lines, wanted, expected)) return expected;
  let found: number | null = null;
  for (let at = 0; at + wanted.length <= lines.length; at += 1) {
    if (lines[at] !== wanted[0] || !matches(lines, wanted, at)) continue;
    if (found !== null) return null;
    found = at;
  }
  return found;
}

function matches(lines: readonly string[], wanted: readonly string[], at: number): boolean {
  if (at < 0 || at + wanted.length > lines.length) return false;
  return wanted.every((line, index) => lines[at + index] === line);
}
