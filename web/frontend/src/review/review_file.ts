/* One file under review: what the agent changed in it and is still there. */

import type { OpenSession } from "../client/types.ts";
import { countsOf, hunksBetween, hunksOf, type Counts, type Hunk } from "./hunks.ts";
import type { ChangedFile } from "./session_changes.ts";
import { reversed, withoutHunk } from "./undo.ts";

export interface FileReview {
  readonly file: ChangedFile;
  readonly hunks: readonly Hunk[];
  readonly counts: Counts;
  /** Null where nothing can be undone; `problem` says why. */
  readonly current: { text: string; hash: string; before: string } | null;
  readonly problem: string | null;
}

/** Compare the file as it is now with what it was before the agent changed it. */
export async function reviewFile(session: OpenSession, file: ChangedFile): Promise<FileReview> {
  const reported = file.diffs.map(hunksOf);
  const known = reported.filter((hunks) => hunks !== null);
  const asReported = (problem: string): FileReview => {
    const hunks = known.flat();
    return { file, hunks, counts: countsOf(hunks), current: null, problem };
  };
  if (file.operation === "delete") return asReported("The file was deleted. Ask the agent to bring it back.");
  if (known.length < reported.length) return asReported("The agent did not report what it changed, so it cannot be undone here.");
  const now = await session.read(file.path);
  if ("problem" in now) return asReported(now.problem);
  let before = now.text;
  let lost = 0;
  for (const hunks of known.reverse()) {
    const step = reversed(before, hunks);
    before = step.text;
    lost += step.lost;
  }
  const hunks = hunksBetween(before, now.text);
  const problem = lost === 0 ? null : `${lost === 1 ? "One change" : `${lost} changes`} cannot be found any more: the file was changed since.`;
  return { file, hunks, counts: countsOf(hunks), current: { ...now, before }, problem };
}

/** Take back one hunk, or all. Rejects with a sentence if the file has changed meanwhile. */
export async function undo(session: OpenSession, review: FileReview, hunk: Hunk | null): Promise<void> {
  const { current, file } = review;
  if (current === null) throw new Error(review.problem ?? `${file.path} cannot be changed here.`);
  const text = hunk === null ? current.before : withoutHunk(current.text, hunk);
  if (text === null) throw new Error(`${file.path} has changed meanwhile. Look at it again before you undo this.`);
  await session.write(file.path, text, current.hash);
}
