/* The files that the agent read or changed, newest first. */

import { useMemo } from "preact/hooks";
import "./review.css";
import type { OpenSession } from "../client/types.ts";
import { titleText } from "../content/visible_text.ts";
import { touchedFiles } from "./session_changes.ts";

interface Props {
  session: OpenSession;
  onShowFile?: (path: string, line: number | null) => void;
  onReview?: (path: string) => void;
}

export function FilesTouched({ session, onShowFile, onReview }: Props) {
  const timeline = session.transcript.timeline.value;
  let revisions = 0;
  for (const item of timeline) if (item.kind === "toolCall") revisions += item.revision.value;
  const files = useMemo(() => touchedFiles(timeline), [timeline, revisions]);
  const { cwd } = session.summary.value;
  const root = cwd.endsWith("/") ? cwd : `${cwd}/`;
  if (files.length === 0) return <p class="soft">The agent has not touched any files yet.</p>;
  return (
    <ul class="files-touched" aria-label="Files that the agent touched">
      {files.map((file) => {
        const name = titleText(
          file.path.startsWith(root) ? file.path.slice(root.length) : file.path,
        );
        const show =
          file.isChanged && onReview
            ? () => onReview(file.path)
            : onShowFile
              ? () => onShowFile(file.path, file.line)
              : undefined;
        return (
          <li key={file.path}>
            <button
              type="button"
              class="quiet small"
              disabled={show === undefined}
              onClick={show}
              title={titleText(file.path)}
            >
              <span class="mono path" dir="ltr">
                {name}
              </span>
              <span class={file.isChanged ? "badge badge-good" : "badge badge-plain"}>
                {file.isChanged ? "changed" : "read"}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
