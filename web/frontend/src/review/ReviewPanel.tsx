/* All changes of a session, file by file and hunk by hunk, to accept or to undo.

   What is shown is what is still in the files now, compared with what they were before the agent
   changed them; so what was undone is gone, and what the user changed is not in the way. */

import { useEffect, useMemo, useState } from "preact/hooks";
import "../content/content.css";
import "./review.css";
import type { OpenSession } from "../client/types.ts";
import { titleText } from "../content/visible_text.ts";
import { Accepted } from "./accepted.ts";
import { DiffCounts, FileName } from "./DiffSummary.tsx";
import { DiffView, LayoutChoice } from "./DiffView.tsx";
import { fingerprint, type Hunk } from "./hunks.ts";
import type { FileReview } from "./review_file.ts";
import type { ChangedFile } from "./session_changes.ts";
import { useReviews, type Reviews, type UndoStep } from "./use_reviews.ts";

interface Props {
  session: OpenSession;
  /** The file to show first. */
  path?: string;
  onClose?: () => void;
}

export function ReviewPanel({ session, path, onClose }: Props) {
  const reviews = useReviews(session);
  const accepted = useMemo(() => new Accepted(session.summary.value.sessionId), [session]);
  useEffect(() => {
    if (path === undefined) return;
    document.getElementById(anchorOf(path))?.scrollIntoView({ block: "start" });
  }, [path, reviews.byPath.size]);
  const { files, isBusy } = reviews;
  return (
    <section class="review" aria-label="Review of all changes">
      <ReviewHead reviews={reviews} accepted={accepted} onClose={onClose} />
      <p class="review-problem problem" role="alert">
        {reviews.problem}
      </p>
      <UndoneLine reviews={reviews} />
      {files.length === 0 ? (
        <p class="soft review-empty">The agent has changed no files in this session.</p>
      ) : null}
      {files.map((file) => (
        <FileSection
          key={file.path}
          file={file}
          review={reviews.byPath.get(file.path)}
          folder={session.summary.value.cwd}
          accepted={accepted}
          isBusy={isBusy}
          onUndo={(review, hunk) =>
            void reviews.undo([hunk === null ? undoStep(review, accepted) : [review, [hunk]]])
          }
        />
      ))}
    </section>
  );
}

interface HeadProps {
  reviews: Reviews;
  accepted: Accepted;
  onClose: (() => void) | undefined;
}

function ReviewHead({ reviews, accepted, onClose }: HeadProps) {
  const { files, byPath, isBusy } = reviews;
  const loaded = files
    .map((file) => byPath.get(file.path))
    .filter((review) => review !== undefined);
  const open = loaded.filter((review) => openHunks(review, accepted).length > 0);
  const undoable = open.filter((review) => review.current !== null);
  const totals = { added: 0, removed: 0 };
  for (const { counts } of loaded) {
    totals.added += counts.added;
    totals.removed += counts.removed;
  }
  return (
    <header class="review-head">
      <h2>Changes</h2>
      <span class="soft">{files.length === 1 ? "1 file" : `${files.length} files`}</span>
      <DiffCounts counts={totals} />
      <span class="spacer" />
      <LayoutChoice />
      <span class="hunk-actions">
        <button
          type="button"
          class="small"
          disabled={open.length === 0}
          onClick={() => accepted.accept(open.flatMap(marksOf))}
        >
          Accept all
        </button>
        <UndoButton
          label="Undo all"
          disabled={isBusy || undoable.length === 0}
          confirm="Undo all changes?"
          onUndo={() => void reviews.undo(undoable.map((review) => undoStep(review, accepted)))}
        />
      </span>
      {onClose ? (
        <button type="button" class="quiet small" aria-label="Close the review" onClick={onClose}>
          Close
        </button>
      ) : null}
    </header>
  );
}

function UndoneLine({ reviews }: { reviews: Reviews }) {
  const { undone, isBusy } = reviews;
  const names = [...new Set(undone.map((one) => titleText(one.path)))].join(", ");
  return (
    <div class="review-undone" role="status">
      {undone.length === 0 ? null : (
        <>
          <span>Undone in {names}.</span>
          <button type="button" class="small" disabled={isBusy} onClick={() => void reviews.redo()}>
            Bring it back
          </button>
        </>
      )}
    </div>
  );
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
        <FileName
          path={file.path}
          oldPath={file.oldPath}
          operation={file.operation}
          folder={folder}
        />
        {review ? <DiffCounts counts={review.counts} /> : null}
        {done > 0 ? (
          <span class="badge badge-good">
            {open.length === 0 ? "accepted" : `${done} accepted`}
          </span>
        ) : null}
        <span class="spacer" />
        {review && done > 0 ? (
          <button
            type="button"
            class="quiet small"
            onClick={() => accepted.reopen(marksOf(review))}
          >
            Look again
          </button>
        ) : null}
        {review && open.length > 0 ? (
          <>
            <button
              type="button"
              class="small"
              aria-label={`Accept all changes of ${name}`}
              onClick={() => accepted.accept(marksOf(review))}
            >
              Accept
            </button>
            <UndoButton
              label="Undo"
              what={`all changes of ${name}`}
              disabled={isBusy || review.current === null}
              onUndo={() => onUndo(review, null)}
            />
          </>
        ) : null}
      </header>
      {review === undefined ? <p class="soft small file-note">Reading the file…</p> : null}
      {review?.problem ? <p class="soft small file-note">{titleText(review.problem)}</p> : null}
      {review !== undefined && review.hunks.length === 0 && review.problem === null ? (
        <p class="soft small file-note">Nothing is left of the changes.</p>
      ) : null}
      {review !== undefined && open.length > 0 ? (
        <DiffView
          path={file.path}
          hunks={open}
          actions={(hunk) => (
            <span class="hunk-actions">
              <button
                type="button"
                class="quiet small"
                aria-label={`Accept the change at line ${hunk.newStart}`}
                onClick={() => accepted.accept([fingerprint(file.path, hunk)])}
              >
                Accept
              </button>
              <UndoButton
                label="Undo"
                what={`the change at line ${hunk.newStart}`}
                quiet
                disabled={isBusy || review.current === null}
                onUndo={() => onUndo(review, hunk)}
              />
            </span>
          )}
        />
      ) : null}
    </section>
  );
}

/** With `confirm`, a second click on the same place is needed. */
function UndoButton(props: {
  label: string;
  what?: string;
  confirm?: string;
  quiet?: boolean;
  disabled: boolean;
  onUndo: () => void;
}) {
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
    <button
      type="button"
      class={quiet ? "quiet small" : "small danger"}
      aria-label={what ? `Undo ${what}` : undefined}
      disabled={disabled}
      onClick={click}
      onBlur={() => setAsking(false)}
    >
      {isAsking ? confirm : label}
    </button>
  );
}
