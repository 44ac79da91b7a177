/* One changed file inside a tool call or a question: what happened to it, how much, and the diff. */

import { useMemo } from "preact/hooks";
import { titleText } from "../content/visible_text.ts";
import type { FileDiff } from "../transcript/items.ts";
import { DiffView } from "./DiffView.tsx";
import { countsOf, hunksOf, type Counts } from "./hunks.ts";

const OPERATIONS: Record<string, string> = {
  add: "new",
  delete: "deleted",
  modify: "",
  move: "moved",
  copy: "copied",
};
const LINES_IN_CARD = 60;

/** How many lines were added and removed. */
export function DiffCounts({ counts }: { counts: Counts }) {
  return (
    <span class="diff-counts mono small">
      <span class="count-added" aria-label={`${counts.added} lines added`}>
        +{counts.added}
      </span>{" "}
      <span class="count-removed" aria-label={`${counts.removed} lines removed`}>
        −{counts.removed}
      </span>
    </span>
  );
}

export function FileName({
  path,
  oldPath,
  operation,
  folder = "",
}: {
  path: string;
  oldPath: string | null;
  operation: string;
  folder?: string;
}) {
  const root = folder === "" || folder.endsWith("/") ? folder : `${folder}/`;
  const short = (name: string) =>
    titleText(root !== "" && name.startsWith(root) ? name.slice(root.length) : name);
  const words = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : titleText(operation);
  return (
    <>
      <span class="mono path file-name" dir="ltr" title={titleText(path)}>
        {oldPath === null || oldPath === path ? "" : `${short(oldPath)} → `}
        {short(path)}
      </span>
      {words ? (
        <span
          class={`badge badge-${operation === "delete" ? "bad" : operation === "add" ? "good" : "plain"}`}
        >
          {words}
        </span>
      ) : null}
    </>
  );
}

export function DiffSummary({ diff, folder = "" }: { diff: FileDiff; folder?: string }) {
  const hunks = useMemo(() => hunksOf(diff), [diff]);
  return (
    <div class="file-diff" role="group" aria-label={`Changes of ${titleText(diff.path)}`}>
      <header>
        <FileName
          path={diff.path}
          oldPath={diff.oldPath}
          operation={diff.operation}
          folder={folder}
        />
        {hunks === null ? null : <DiffCounts counts={countsOf(hunks)} />}
      </header>
      {hunks === null ? (
        <p class="soft small file-note">What changed was not reported.</p>
      ) : hunks.length === 0 ? (
        <p class="soft small file-note">The content is unchanged.</p>
      ) : (
        <DiffView path={diff.path} hunks={hunks} linesMax={LINES_IN_CARD} />
      )}
    </div>
  );
}
