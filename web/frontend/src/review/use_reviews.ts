/* The files under review, read again whenever a tool call or the user has changed one. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { OpenSession } from "../client/types.ts";
import type { Hunk } from "./hunks.ts";
import { redo, reviewFile, undo, type FileReview, type Undone } from "./review_file.ts";
import { changedFiles, type ChangedFile } from "./session_changes.ts";

/** A file and what to take back of it; null for all. */
export type UndoStep = readonly [FileReview, readonly Hunk[] | null];

// While an agent is at work, files change many times a second.
const REST_MILLISECONDS = 250;

export interface Reviews {
  readonly files: readonly ChangedFile[];
  /** By path; a file that is not in it is being read. */
  readonly byPath: ReadonlyMap<string, FileReview>;
  /** What went wrong last, as a sentence. */
  readonly problem: string | null;
  readonly isBusy: boolean;
  /** What was taken back last. */
  readonly undone: readonly Undone[];
  undo(steps: readonly UndoStep[]): Promise<void>;
  redo(): Promise<void>;
}

export function useReviews(session: OpenSession): Reviews {
  const files = useChangedFiles(session);
  const [byPath, setByPath] = useState<ReadonlyMap<string, FileReview>>(new Map());
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [undone, setUndone] = useState<readonly Undone[]>([]);
  const load = useCallback(
    async (wanted: readonly ChangedFile[]) => {
      try {
        const made = await Promise.all(wanted.map((file) => reviewFile(session, file)));
        setByPath(
          (before) => new Map([...before, ...made.map((one) => [one.file.path, one] as const)]),
        );
      } catch (error) {
        setProblem(sentence(error));
      }
    },
    [session],
  );
  const isFirst = useRef(true);
  useEffect(() => {
    const timer = setTimeout(() => void load(files), isFirst.current ? 0 : REST_MILLISECONDS);
    isFirst.current = false;
    return () => clearTimeout(timer);
  }, [files, load]);

  const change = async (work: () => Promise<void>) => {
    setBusy(true);
    setProblem(null);
    try {
      await work();
    } catch (error) {
      setProblem(sentence(error));
    }
    await load(files);
    setBusy(false);
  };
  const undoSteps = (steps: readonly UndoStep[]) =>
    change(async () => {
      const done: Undone[] = [];
      try {
        for (const [review, hunks] of steps) done.push(await undo(session, review, hunks));
      } finally {
        setUndone(done);
      }
    });
  const redoAll = () =>
    change(async () => {
      for (const one of [...undone].reverse()) await redo(session, one);
      setUndone([]);
    });
  return { files, byPath, problem, isBusy, undone, undo: undoSteps, redo: redoAll };
}

/** The files that tool calls have changed so far. */
function useChangedFiles(session: OpenSession): ChangedFile[] {
  const timeline = session.transcript.timeline.value;
  let revisions = 0;
  for (const item of timeline) {
    if (item.kind === "toolCall" && item.diffs.length > 0) revisions += item.revision.value + 1;
  }
  return useMemo(() => changedFiles(timeline), [timeline, revisions]);
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
