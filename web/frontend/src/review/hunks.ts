/* Changes of a file as hunks of lines, from two texts or from a git patch.

   Invariant: a line keeps its end, so that a hunk can be put back exactly as it was; only "\n"
   ends a line, as in git. */

import { structuredPatch } from "diff";
import type { FileDiff } from "../transcript/items.ts";

export interface HunkLine {
  readonly kind: "same" | "added" | "removed";
  /** With its line end, if it has one. */
  readonly text: string;
}

export interface Hunk {
  /** Counted from one; where a side has no lines, the line that they would stand before. */
  readonly oldStart: number;
  readonly newStart: number;
  readonly heading: string;
  readonly lines: readonly HunkLine[];
}

const CONTEXT_LINES = 3;
// Two texts that differ more are shown as one large change, which takes no time to find.
const COMPARE_MILLISECONDS = 300;

/** The hunks of one reported change; null where only the fact is known. */
export function hunksOf(diff: FileDiff): Hunk[] | null {
  if (diff.newText !== null) return hunksBetween(diff.oldText ?? "", diff.newText);
  return diff.patch === null ? null : hunksOfPatch(diff.patch);
}

export function hunksBetween(before: string, after: string): Hunk[] {
  if (before === after) return [];
  const patch = structuredPatch("", "", before, after, "", "", {
    context: CONTEXT_LINES,
    timeout: COMPARE_MILLISECONDS,
  });
  if (patch === undefined) return [replaced(before, after)];
  return patch.hunks.map((hunk) => ({
    oldStart: hunk.oldStart,
    newStart: hunk.newStart,
    heading: "",
    lines: linesOf(hunk.lines),
  }));
}

function replaced(before: string, after: string): Hunk {
  const lines = (text: string, kind: "added" | "removed") =>
    splitLines(text).map((line) => ({ kind, text: line }));
  return {
    oldStart: 1,
    newStart: 1,
    heading: "",
    lines: [...lines(before, "removed"), ...lines(after, "added")],
  };
}

const HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)$/;

/** The hunks of a git patch of one file. Lines that are none of a hunk are passed over. */
export function hunksOfPatch(patch: string): Hunk[] {
  const hunks: Hunk[] = [];
  const rows = patch.split("\n");
  for (let at = 0; at < rows.length; at += 1) {
    const header = HEADER.exec(rows[at]!);
    if (header === null) continue;
    let old = Number(header[2] ?? 1);
    let fresh = Number(header[4] ?? 1);
    const body: string[] = [];
    // By count, because a removed line may look like a header: "--- a".
    while (at + 1 < rows.length && (old > 0 || fresh > 0 || rows[at + 1]!.startsWith("\\"))) {
      const row = rows[at + 1]!;
      const mark = row[0] ?? " ";
      if (!" +-\\".includes(mark)) break;
      if (mark === " " || mark === "-") old -= 1;
      if (mark === " " || mark === "+") fresh -= 1;
      body.push(row === "" ? " " : row);
      at += 1;
    }
    // git names the line before where a side has no lines.
    const oldStart = Number(header[1]) + (header[2] === "0" ? 1 : 0);
    const newStart = Number(header[3]) + (header[4] === "0" ? 1 : 0);
    hunks.push({ oldStart, newStart, heading: header[5] ?? "", lines: linesOf(body) });
  }
  return hunks;
}

const KINDS: Record<string, HunkLine["kind"]> = { " ": "same", "+": "added", "-": "removed" };

function linesOf(rows: readonly string[]): HunkLine[] {
  const lines: HunkLine[] = [];
  for (const row of rows) {
    const kind = KINDS[row[0] ?? " "];
    if (kind !== undefined) lines.push({ kind, text: `${row.slice(1)}\n` });
    else if (lines.length > 0) {
      // "\ No newline at end of file" is about the line before it.
      const last = lines[lines.length - 1]!;
      lines[lines.length - 1] = { ...last, text: last.text.replace(/\n$/, "") };
    }
  }
  return lines;
}

/** Lines with their ends; the last one may have none. */
export function splitLines(text: string): string[] {
  const lines = text.split("\n");
  const last = lines.pop()!;
  const whole = lines.map((line) => `${line}\n`);
  return last === "" ? whole : [...whole, last];
}

export interface Counts {
  added: number;
  removed: number;
}

export function countsOf(hunks: readonly Hunk[]): Counts {
  const counts = { added: 0, removed: 0 };
  for (const hunk of hunks) {
    for (const line of hunk.lines) {
      if (line.kind !== "same") counts[line.kind] += 1;
    }
  }
  return counts;
}

/** What names the same change again after other parts of the file have changed. */
export function fingerprint(path: string, hunk: Hunk): string {
  let hash = 0x811c9dc5;
  const changed = hunk.lines
    .filter((line) => line.kind !== "same")
    .map((line) => `${line.kind[0]}${line.text}`);
  for (const char of `${path}\n${changed.join("")}`)
    hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193);
  return `${(hash >>> 0).toString(36)}.${changed.length}.${changed.join("").length}`;
}
