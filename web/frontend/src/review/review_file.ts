/* One file under review: what the agent changed in it and is still there. */

import type { OpenSession } from "../client/types.ts";
import { countsOf, hunksBetween, hunksOf, type Counts, type Hunk } from "./hunks.ts";
import type { ChangedFile } from "./session_changes.ts";
import { reversed, withoutHunk } from "./undo.ts";

/** A file as it is: null where there is none. */
interface Content {
  readonly text: string | null;
  readonly hash: string | null;
}

export interface FileReview {
  readonly file: ChangedFile;
  readonly hunks: readonly Hunk[];
  readonly counts: Counts;
  /** The file now, and its text before; null where nothing can be undone, and `problem` says why. */
  readonly current: (Content & { before: string | null }) | null;
  readonly problem: string | null;
}

/** A change that was taken back, in case it is wanted again. */
export interface Undone {
  readonly path: string;
  /** What the file had before it was taken back. */
  readonly text: string | null;
  readonly hash: string | null;
}

/** Compare the file as it is now with what it was before the agent changed it. */
export async function reviewFile(session: OpenSession, file: ChangedFile): Promise<FileReview> {
  const reported = file.diffs.map(hunksOf);
  const known = reported.filter((hunks) => hunks !== null);
  const asReported = (problem: string): FileReview => made(file, known.flat(), null, problem);
  if (known.length < reported.length) {
    return asReported("The agent did not report what it changed, so it cannot be undone here.");
  }
  const now = await session.read(file.path);
  if ("problem" in now) {
    const { before, lost } = textBefore("", known);
    // Whether the file is really gone is asked again by whoever writes it.
    if (file.operation !== "delete" || lost > 0 || before === "") return asReported(now.problem);
    return made(file, hunksBetween(before, ""), { text: null, hash: null, before }, null);
  }
  const { before, lost } = textBefore(now.text, known);
  const isNew = file.diffs[0]?.operation === "add" && before === "";
  const problem =
    lost === 0
      ? null
      : `${lost === 1 ? "One change" : `${lost} changes`} cannot be found any more: the file was changed since.`;
  return made(
    file,
    hunksBetween(before, now.text),
    { ...now, before: isNew ? null : before },
    problem,
  );
}

function made(
  file: ChangedFile,
  hunks: readonly Hunk[],
  current: FileReview["current"],
  problem: string | null,
): FileReview {
  return { file, hunks, counts: countsOf(hunks), current, problem };
}

/** The text before all changes, and how many of these could not be found in it. */
function textBefore(text: string, changes: readonly Hunk[][]): { before: string; lost: number } {
  let made = { before: text, lost: 0 };
  for (const hunks of [...changes].reverse()) {
    const { text: before, lost } = reversed(made.before, hunks);
    made = { before, lost: made.lost + lost };
  }
  // Where all was undone, nothing is left of a later change that was built on an earlier one.
  const isUndone = made.lost > 0 && changes.length > 1 && made.before === text;
  return isUndone ? textBefore(text, changes.slice(0, -1)) : made;
}

/** Take back these hunks, or all. Rejects with a sentence if the file has changed meanwhile. */
export async function undo(
  session: OpenSession,
  review: FileReview,
  hunks: readonly Hunk[] | null,
): Promise<Undone> {
  const { current, file } = review;
  if (current === null) throw new Error(review.problem ?? `${file.path} cannot be changed here.`);
  await session.write(file.path, textWithout(current, review, hunks), current.hash);
  const now = await session.read(file.path);
  return { path: file.path, text: current.text, hash: "problem" in now ? null : now.hash };
}

function textWithout(
  current: NonNullable<FileReview["current"]>,
  review: FileReview,
  hunks: readonly Hunk[] | null,
): string | null {
  // The only change of a file is all of it: a new file goes, a deleted one comes back.
  if (hunks === null || current.text === null || hunks.length === review.hunks.length)
    return current.before;
  let text: string | null = current.text;
  // From the end, so that the places of the others stay right.
  for (const hunk of [...hunks].reverse()) text = text === null ? null : withoutHunk(text, hunk);
  if (text === null)
    throw new Error(
      `${review.file.path} has changed meanwhile. Look at it again before you undo this.`,
    );
  return text;
}

/** Bring back what was taken back last. */
export async function redo(session: OpenSession, undone: Undone): Promise<void> {
  await session.write(undone.path, undone.text, undone.hash);
}
