/* All files that the tool calls of a session changed or looked at, oldest first. */

import type { FileDiff, Item, ToolCall } from "../transcript/items.ts";

export interface ChangedFile {
  readonly path: string;
  readonly operation: string;
  readonly oldPath: string | null;
  /** What was reported, in order. */
  readonly diffs: readonly FileDiff[];
}

/** Changes that were really made: of calls that ended well. */
export function changedFiles(timeline: readonly Item[]): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (const item of timeline) {
    if (item.kind !== "toolCall" || item.status !== "completed") continue;
    for (const diff of item.diffs) note(files, diff);
  }
  return [...files.values()];
}

function note(files: Map<string, ChangedFile>, diff: FileDiff): void {
  const moved =
    diff.operation === "move" && diff.oldPath !== null ? files.get(diff.oldPath) : undefined;
  const before = files.get(diff.path) ?? moved;
  if (moved !== undefined && diff.oldPath !== null) files.delete(diff.oldPath);
  files.set(diff.path, {
    path: diff.path,
    // A new file that is changed later is still a new one.
    operation: before?.operation === "add" && diff.operation !== "delete" ? "add" : diff.operation,
    oldPath: before?.oldPath ?? diff.oldPath,
    diffs: [...(before?.diffs ?? []), diff],
  });
}

export interface TouchedFile {
  readonly path: string;
  line: number | null;
  /** How often it was the place of a tool call. */
  times: number;
  isChanged: boolean;
}

/** Files that tool calls named, the one touched last first. */
export function touchedFiles(timeline: readonly Item[]): TouchedFile[] {
  const files = new Map<string, TouchedFile>();
  const touch = (path: string, line: number | null, isChanged: boolean) => {
    const file = files.get(path) ?? { path, line: null, times: 0, isChanged: false };
    files.delete(path);
    files.set(path, {
      path,
      line: line ?? file.line,
      times: file.times + 1,
      isChanged: file.isChanged || isChanged,
    });
  };
  for (const item of timeline) {
    if (item.kind !== "toolCall") continue;
    const changed = new Set(item.status === "completed" ? item.diffs.map((diff) => diff.path) : []);
    for (const { path, line } of item.locations) {
      if (!changed.has(path)) touch(path, line, false);
    }
    for (const path of changed)
      touch(path, item.locations.find((one) => one.path === path)?.line ?? null, true);
  }
  return [...files.values()].reverse();
}

/** Where the agent is now: the newest tool call that names a place. */
export function currentPlace(
  timeline: readonly Item[],
): { call: ToolCall; path: string; line: number | null } | null {
  for (let at = timeline.length - 1; at >= 0; at -= 1) {
    const item = timeline[at]!;
    if (item.kind !== "toolCall") continue;
    const place = item.locations[item.locations.length - 1];
    const path = place?.path ?? item.diffs[item.diffs.length - 1]?.path;
    if (path) return { call: item, path, line: place?.line ?? null };
  }
  return null;
}
