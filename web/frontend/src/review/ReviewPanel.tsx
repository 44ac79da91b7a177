/* All changes of a session, file by file and hunk by hunk, to accept or to undo.

   What is shown is what is still in the files now, compared with what they were before the agent
   changed them; so what was undone is gone, and what the user changed is not in the way. */

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import "../content/content.css";
import "./review.css";
import type { OpenSession } from "../client/types.ts";
import { titleText } from "../content/visible_text.ts";
import { Accepted } from "./accepted.ts";
import { DiffCounts, FileName } from "./DiffSummary.tsx";
import { DiffView, LayoutChoice } from "./DiffView.tsx";
import { fingerprint, type Hunk } from "./hunks.ts";
import { redo, reviewFile, undo, type FileReview, type Undone } from "./review_file.ts";
import { changedFiles, type ChangedFile } from "./session_changes.ts";

interface Props {
  session: OpenSession;
  /** The file to show first. */
  path?: string;
  onClose?: () => void;
}

/** The files that tool calls have changed so far, read again when a call changes. */
function useChangedFiles(session: OpenSession): ChangedFile[] {
  const timeline = session.transcript.timeline.value;
  let revisions = 0;
  for (const item of timeline) {
    if (item.kind === "toolCall" && item.diffs.length > 0) revisions += item.revision.value + 1;
  }
  return useMemo(() => changedFiles(timeline), [timeline, revisions]);
}

export function ReviewPanel({ session, path, onClose }: Props) {
  const files = useChangedFiles(session);
  const accepted = useMemo(() => new Accepted(session.summary.value.sessionId), [session]);
  const [reviews, setReviews] = useState<ReadonlyMap<string, FileReview>>(new Map());
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [undone, setUndone] = useState<readonly Undone[]>([]);
  const load = useCallback(
    async (file: ChangedFile) => {
      const made = await reviewFile(session, file);
      setReviews((before) => new Map(before).set(file.path, made));
    },
    [session],
  );
  useEffect(() => {
    for (const file of files) void load(file).catch((error: unknown) => setProblem(sentence(error)));
  }, [files, load]);
  useEffect(() => {
    if (path !== undefined) document.getElementById(anchorOf(path))?.scrollIntoView({ block: "start" });
  }, [path, reviews.size]);

  const change = async (work: () => Promise<void>) => {
    setBusy(true);
    setProblem(null);
    try {
      await work();
    } catch (error) {
      setProblem(sentence(error));
    }
    await Promise.all(files.map(load)).catch((error: unknown) => setProblem(sentence(error)));
    setBusy(false);
  };
  const undoAll = (wanted: readonly UndoStep[]) =>
    change(async () => {
      const done: Undone[] = [];
      try {
        for (const [review, hunk] of wanted) done.push(await undo(session, review, hunk));
      } finally {
        setUndone(done);
      }
    });
  const redoAll = () =>
    change(async () => {
      for (const one of [...undone].reverse()) await redo(session, one);
      setUndone([]);
    });
  const loaded = files.map((file) => reviews.get(file.path)).filter((review) => review !== undefined);
  const open = loaded.filter((review) => openHunks(review, accepted).length > 0);
  const totals = { added: 0, removed: 0 };
  for (const { counts } of loaded) {
    totals.added += counts.added;
    totals.removed += counts.removed;
  }
  return (
    <section class="review" aria-label="Review of all changes">
      <header class="review-head">
        <h2>Changes</h2>
        <span class="soft">{files.length === 1 ? "1 file" : `${files.length} files`}</span>
        <DiffCounts counts={totals} />
        <span class="spacer" />
        <LayoutChoice />
        <button type="button" class="small" disabled={open.length === 0} onClick={() => accepted.accept(open.flatMap((review) => marksOf(review)))}>
          Accept all
        </button>
        <UndoButton label="Undo all" disabled={isBusy || !open.some((review) => review.current !== null)} confirm="Undo all changes?" onUndo={() => undoAll(open.filter((review) => review.current !== null).map((review) => undoStep(review, accepted)))} />
        {onClose ? <button type="button" class="quiet small" aria-label="Close the review" onClick={onClose}>Close</button> : null}
      </header>
      <p class="review-problem problem" role="alert">{problem}</p>
      <div class="review-undone" role="status">
        {undone.length === 0 ? null : (
          <>
            <span>Undone in {[...new Set(undone.map((one) => titleText(one.path)))].join(", ")}. </span>
            <button type="button" class="small" disabled={isBusy} onClick={() => void redoAll()}>Bring it back</button>
          </>
        )}
      </div>
      {files.length === 0 ? <p class="soft review-empty">The agent has changed no files in this session.</p> : null}
      {files.map((file) => (
        <FileSection
          key={file.path}
          file={file}
          review={reviews.get(file.path)}
          folder={session.summary.value.cwd}
          accepted={accepted}
          isBusy={isBusy}
          onUndo={(review, hunk) => void undoAll([hunk === null ? undoStep(review, accepted) : [review, [hunk]]])}
        />
      ))}
    </section>
  );
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function anchorOf(path: string): string {
  return `review ${path}`;
}

function marksOf(review: FileReview): string[] {
  return review.hunks.map((hunk) => fingerprint(review.file.path, hunk));
}

function openHunks(review: FileReview, accepted: Accepted): Hunk[] {
  return review.hunks.filter((hunk) => !accepted.has(fingerprint(review.file.path, hunk)));
}

type UndoStep = readonly [FileReview, readonly Hunk[] | null];

/** All of a file, unless some of its hunks were accepted. */
function undoStep(review: FileReview, accepted: Accepted): UndoStep {
  const open = openHunks(review, accepted);
  return [review, open.length === review.hunks.length ? null : open];
}

interface FileProps {
  file: ChangedFile;
  review: FileReview | undefined;
  folder: string;
  accepted: Accepted;
  isBusy: boolean;
  onUndo: (review: FileReview, hunk: Hunk | null) => void;
}

function FileSection({ file, review, folder, accepted, isBusy, onUndo }: FileProps) {
  const open = review === undefined ? [] : openHunks(review, accepted);
  const done = (review?.hunks.length ?? 0) - open.length;
  const name = titleText(file.path);
  return (
    <section class="file-diff review-file" id={anchorOf(file.path)} aria-label={name}>
      <header>
        <FileName path={file.path} oldPath={file.oldPath} operation={file.operation} folder={folder} />
        {review ? <DiffCounts counts={review.counts} /> : null}
        {done > 0 ? <span class="badge badge-good">{open.length === 0 ? "accepted" : `${done} accepted`}</span> : null}
        <span class="spacer" />
        {review && done > 0 ? <button type="button" class="quiet small" onClick={() => accepted.reopen(marksOf(review))}>Look again</button> : null}
        {review && open.length > 0 ? (
          <>
            <button type="button" class="small" aria-label={`Accept all changes of ${name}`} onClick={() => accepted.accept(marksOf(review))}>Accept</button>
            <UndoButton label="Undo" what={`all changes of ${name}`} disabled={isBusy || review.current === null} onUndo={() => onUndo(review, null)} />
          </>
        ) : null}
      </header>
      {review === undefined ? <p class="soft small file-note">Reading the file…</p> : null}
      {review?.problem ? <p class="soft small file-note">{titleText(review.problem)}</p> : null}
      {review !== undefined && review.hunks.length === 0 && review.problem === null ? <p class="soft small file-note">Nothing is left of the changes.</p> : null}
      {review !== undefined && open.length > 0 ? (
        <DiffView
          path={file.path}
          hunks={open}
          actions={(hunk) => (
            <span class="hunk-actions">
              <button type="button" class="quiet small" aria-label={`Accept the change at line ${hunk.newStart}`} onClick={() => accepted.accept([fingerprint(file.path, hunk)])}>Accept</button>
              <UndoButton label="Undo" what={`the change at line ${hunk.newStart}`} quiet disabled={isBusy || review.current === null} onUndo={() => onUndo(review, hunk)} />
            </span>
          )}
        />
      ) : null}
    </section>
  );
}

/** With `confirm`, a second click on the same place is needed. */
function UndoButton(props: { label: string; what?: string; confirm?: string; quiet?: boolean; disabled: boolean; onUndo: () => void }) {
  const { label, what, confirm, quiet, disabled, onUndo } = props;
  const [isAsking, setAsking] = useState(false);
  const click = () => {
    if (confirm !== undefined && !isAsking) setAsking(true);
    else {
      setAsking(false);
      onUndo();
    }
  };
  return (
    <button type="button" class={quiet ? "quiet small" : "small danger"} aria-label={what ? `Undo ${what}` : undefined} disabled={disabled} onClick={click} onBlur={() => setAsking(false)}>
      {isAsking ? confirm : label}
    </button>
  );
}
