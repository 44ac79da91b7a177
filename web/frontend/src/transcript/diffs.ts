/** The changes of files that a tool call reports, in one form for all ways of saying it. */

import type { DiffContent, ToolContent } from "./blocks.ts";

/** Either both texts are known (no old text: a new file), or `patch` is, or neither. */
export interface FileDiff {
  path: string;
  operation: "add" | "delete" | "modify" | "move" | "copy" | (string & {});
  oldPath: string | null;
  oldText: string | null;
  newText: string | null;
  /** The part of a git patch that is about this file. */
  patch: string | null;
}

export function diffsOf(content: readonly ToolContent[]): FileDiff[] {
  return content.flatMap((item) => (item.type === "diff" ? [...changesOf(item)] : []));
}

function* changesOf(item: DiffContent): Iterable<FileDiff> {
  const patch = item.patch?.text ?? null;
  const none = { oldPath: null, oldText: null, newText: null };
  for (const change of item.changes) {
    if (change.type === "unknown") {
      const path = pathOf(change.received);
      const section = sectionOf(patch, path, item.changes.length);
      yield { ...none, path, operation: change.tag, patch: section };
      continue;
    }
    yield {
      ...none,
      path: change.path,
      operation: change.operation,
      oldPath: change.oldPath ?? null,
      patch: sectionOf(patch, change.path, item.changes.length),
    };
  }
  if (item.changes.length === 0 && item.path !== undefined) {
    const oldText = item.oldText ?? null;
    yield {
      path: item.path,
      operation: oldText === null ? "add" : "modify",
      oldPath: null,
      oldText,
      newText: item.newText ?? null,
      patch,
    };
  }
}

function pathOf(received: unknown): string {
  const path = (received as { path?: unknown } | null)?.path;
  return typeof path === "string" ? path : "";
}

const SECTION = "diff --git ";

/** The part of a patch about one file; the whole patch if the part is not known. */
function sectionOf(patch: string | null, path: string, changes: number): string | null {
  if (patch === null || changes === 1) return patch;
  for (const part of `\n${patch}`.split(`\n${SECTION}`).slice(1)) {
    const header = part.split("\n", 1)[0] ?? "";
    if (header.endsWith(` ${path}`)) return SECTION + part;
  }
  return patch;
}
