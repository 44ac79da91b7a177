/* A file of the session around a line; with `FollowView`, always the one the agent works on. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import "../content/content.css";
import "./review.css";
import type { OpenSession } from "../client/types.ts";
import { Segments } from "../content/Code.tsx";
import { languageOfPath, linesOfSegments, useHighlight } from "../content/highlight.ts";
import { titleText } from "../content/visible_text.ts";
import { currentPlace } from "./session_changes.ts";

// What is shown of a long file: the lines around the one that counts.
const LINES_AROUND = 200;

interface Props {
  session: OpenSession;
  path: string;
  line: number | null;
  /** Changes when the file should be read again. */
  version?: unknown;
}

export function FileView({ session, path, line, version }: Props) {
  const [file, setFile] = useState<
    { path: string; text: string } | { path: string; problem: string } | null
  >(null);
  useEffect(() => {
    let isDropped = false;
    void session.read(path).then(
      (read) => isDropped || setFile({ path, ...read }),
      (error: unknown) =>
        isDropped ||
        setFile({ path, problem: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      isDropped = true;
    };
  }, [session, path, version]);
  if (file === null || file.path !== path)
    return <p class="soft file-note">Reading {titleText(path)}…</p>;
  if ("problem" in file) return <p class="soft file-note">{titleText(file.problem)}</p>;
  return <Lines path={path} text={file.text} line={line} />;
}

function Lines({ path, text, line }: { path: string; text: string; line: number | null }) {
  const { from, code } = useMemo(() => {
    const lines = text.split("\n");
    const first = Math.max(0, Math.min((line ?? 1) - 1, lines.length - 1) - LINES_AROUND);
    return { from: first, code: lines.slice(first, first + 2 * LINES_AROUND).join("\n") };
  }, [text, line]);
  const segments = useHighlight(code, languageOfPath(path));
  const rows = useMemo(() => linesOfSegments(segments), [segments]);
  const marked = useRef<HTMLTableRowElement>(null);
  useEffect(() => marked.current?.scrollIntoView({ block: "center" }), [path, line, text]);
  return (
    <div
      class="file-lines"
      tabIndex={0}
      role="group"
      aria-label={`File ${titleText(path)}`}
      dir="ltr"
    >
      <table>
        <tbody>
          {rows.map((row, index) => {
            const number = from + index + 1;
            const isMarked = number === line;
            return (
              <tr
                key={number}
                class={isMarked ? "line-current" : undefined}
                ref={isMarked ? marked : null}
                aria-current={isMarked ? "location" : undefined}
              >
                <td class="line-number">{number}</td>
                <td class="line">
                  <Segments segments={row} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** The file that the newest tool call is about, at its line. */
export function FollowView({ session }: { session: OpenSession }) {
  const place = currentPlace(session.transcript.timeline.value);
  const version = place?.call.revision.value;
  if (place === null)
    return <p class="soft file-note">As soon as the agent opens a file, it is shown here.</p>;
  return (
    <section class="follow" aria-label="The file that the agent works on">
      <header class="follow-head">
        <span class="badge badge-plain">{place.call.isOver ? "last" : "now"}</span>
        <span class="mono path" dir="ltr">
          {titleText(place.path)}
          {place.line === null ? "" : `:${place.line}`}
        </span>
        <span class="soft small" dir="auto">
          {titleText(place.call.title)}
        </span>
      </header>
      <FileView
        session={session}
        path={place.path}
        line={place.line}
        version={`${version} ${place.call.status}`}
      />
    </section>
  );
}
