/* The rows of a diff as they are drawn: with line numbers, pairs, and marks on changed words. */

import { diffWordsWithSpace } from "diff";
import type { Segment } from "../content/highlight.ts";
import type { Hunk } from "./hunks.ts";

/** From one character to before another. */
export type Mark = readonly [number, number];

export interface Side {
  readonly kind: "same" | "added" | "removed";
  readonly number: number;
  /** Without its line end. */
  readonly text: string;
  readonly hasNoEnd: boolean;
  readonly marks: readonly Mark[];
}

/** A line on the left, one on the right, or both; unchanged lines are the same on both. */
export interface Row {
  readonly left: Side | null;
  readonly right: Side | null;
}

const WORDS_CHARS_MAX = 1_000;
const WORDS_MILLISECONDS = 5;
// In more lines of one hunk, words are not compared.
const PAIRS_MAX = 200;

/** Pair removed lines with the added lines that replace them. */
export function rowsOf(hunk: Hunk): Row[] {
  const rows: Row[] = [];
  let removed: Side[] = [];
  let added: Side[] = [];
  let pairs = 0;
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
      const [left, right] = [removed[at] ?? null, added[at] ?? null];
      if (left !== null && right !== null) pairs += 1;
      rows.push(pairs <= PAIRS_MAX ? pair(left, right) : { left, right });
    }
    removed = [];
    added = [];
  };
  let oldNumber = hunk.oldStart;
  let newNumber = hunk.newStart;
  for (const { kind, text } of hunk.lines) {
    if (kind === "removed") removed.push(sideOf(kind, oldNumber++, text));
    else if (kind === "added") added.push(sideOf(kind, newNumber++, text));
    else {
      flush();
      rows.push({ left: sideOf(kind, oldNumber++, text), right: sideOf(kind, newNumber++, text) });
    }
  }
  flush();
  return rows;
}

/** The same rows for one column: first all that a change removes, then all that it adds. */
export function inlineRows(rows: readonly Row[]): Row[] {
  const made: Row[] = [];
  let added: Row[] = [];
  for (const row of rows) {
    if (row.left?.kind === "same") {
      made.push(...added, row);
      added = [];
      continue;
    }
    if (row.left !== null) made.push({ left: row.left, right: null });
    if (row.right !== null) added.push({ left: null, right: row.right });
  }
  return made.concat(added);
}

function sideOf(kind: Side["kind"], number: number, text: string): Side {
  const hasNoEnd = !text.endsWith("\n");
  return { kind, number, text: hasNoEnd ? text : text.slice(0, -1), hasNoEnd, marks: [] };
}

function pair(left: Side | null, right: Side | null): Row {
  if (left === null || right === null) return { left, right };
  const marks = changedWords(left.text, right.text);
  if (marks === null) return { left, right };
  return { left: { ...left, marks: marks.removed }, right: { ...right, marks: marks.added } };
}

/** The changed words of two lines; null where the lines have too little in common. */
export function changedWords(
  before: string,
  after: string,
): { removed: Mark[]; added: Mark[] } | null {
  if (before.length > WORDS_CHARS_MAX || after.length > WORDS_CHARS_MAX) return null;
  const parts = diffWordsWithSpace(before, after, { timeout: WORDS_MILLISECONDS });
  if (parts === undefined) return null;
  const removed: Mark[] = [];
  const added: Mark[] = [];
  let [left, right, shared] = [0, 0, 0];
  for (const part of parts) {
    const size = part.value.length;
    if (part.removed) removed.push([left, (left += size)]);
    else if (part.added) added.push([right, (right += size)]);
    else {
      left += size;
      right += size;
      shared += part.value.trim().length;
    }
  }
  // Marks on nearly everything say nothing.
  return shared * 3 < Math.min(before.trim().length, after.trim().length)
    ? null
    : { removed, added };
}

export interface MarkedSegment extends Segment {
  readonly isMarked: boolean;
}

/** Segments of a line, cut where marks begin and end. */
export function markSegments(
  segments: readonly Segment[],
  marks: readonly Mark[],
): MarkedSegment[] {
  const made: MarkedSegment[] = [];
  let at = 0;
  let next = 0;
  for (const { text, scope } of segments) {
    const end = at + text.length;
    let from = at;
    while (from < end) {
      while (next < marks.length && marks[next]![1] <= from) next += 1;
      const mark = marks[next];
      const isMarked = mark !== undefined && mark[0] <= from;
      const to = Math.min(end, mark === undefined ? end : isMarked ? mark[1] : mark[0]);
      made.push({ text: text.slice(from - at, to - at), scope, isMarked });
      from = to;
    }
    at = end;
  }
  return made;
}
