/* Beside the conversation: the changes of files, the files that the agent touched, or the file
   that it works on. */

import type { OpenSession } from "../../client/types.ts";
import { titleText } from "../../content/visible_text.ts";
import { FilesTouched } from "../../review/FilesTouched.tsx";
import { FileView, FollowView } from "../../review/FileView.tsx";
import { ReviewPanel } from "../../review/ReviewPanel.tsx";
import { Icon } from "../Icon.tsx";

export type Side =
  | { view: "changes"; path?: string }
  | { view: "files" }
  | { view: "follow" }
  | { view: "file"; path: string; line: number | null };

interface Props {
  session: OpenSession;
  side: Side;
  onSide(side: Side | null): void;
}

const VIEWS = [
  ["changes", "Changes"],
  ["files", "Files"],
  ["follow", "Follow"],
] as const;

export function SidePanel({ session, side, onSide }: Props) {
  const onShowFile = (path: string, line: number | null): void => onSide({ view: "file", path, line });
  const onReview = (path: string): void => onSide({ view: "changes", path });
  return (
    <section class="side" aria-label="Changes and files">
      <header class="side-head">
        <div role="group" aria-label="What is shown here">
          {VIEWS.map(([view, name]) => (
            <button key={view} type="button" class="quiet" aria-pressed={side.view === view} onClick={() => onSide({ view })}>
              {name}
            </button>
          ))}
        </div>
        <button type="button" class="quiet icon" aria-label="Close changes and files" title="Close (Alt+C)" onClick={() => onSide(null)}>
          <Icon name="close" />
        </button>
      </header>
      <div class="side-body">
        {side.view === "changes" && <ReviewPanel session={session} {...(side.path === undefined ? {} : { path: side.path })} />}
        {side.view === "files" && <FilesTouched session={session} onShowFile={onShowFile} onReview={onReview} />}
        {side.view === "follow" && <FollowView session={session} />}
        {side.view === "file" && (
          <>
            <h3 class="side-file" dir="ltr">
              {titleText(side.path)}
            </h3>
            <FileView session={session} path={side.path} line={side.line} />
          </>
        )}
      </div>
    </section>
  );
}
