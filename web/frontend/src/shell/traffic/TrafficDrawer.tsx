/* What goes over the wire: requests with their answers, and notifications; searchable. */

import "./traffic.css";

import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { AccordClient } from "../../client/types.ts";
import { durationText, sizeText, titleText, visibleText } from "../../content/visible_text.ts";
import { Icon } from "../Icon.tsx";
import { prettyMessage, rowsOf, searchRows, type TrafficRow } from "./traffic_rows.ts";

/** Drawn at once; a search reaches all that is kept. */
const ROWS_SHOWN_MAX = 300;
const MESSAGE_CHARS_MAX = 200_000;

export function TrafficDrawer({ client, onClose }: { client: AccordClient; onClose(): void }) {
  const entries = client.traffic.entries.value;
  const [search, setSearch] = useState("");
  const [chosen, setChosen] = useState<number | null>(null);
  const rows = useMemo(() => rowsOf(entries), [entries]);
  const found = useMemo(() => searchRows(rows, search), [rows, search]);
  const shown = found.slice(-ROWS_SHOWN_MAX);
  const row = rows.find((each) => each.id === chosen) ?? null;
  const list = useFollowedEnd(shown.at(-1)?.id);

  return (
    <section class="traffic" aria-label="Traffic" onKeyDown={(event) => event.key === "Escape" && onClose()}>
      <header>
        <h2>Traffic</h2>
        <input type="search" aria-label="Search the traffic" placeholder="Search methods and messages" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        <span class="soft" role="status">
          {found.length === rows.length ? `${rows.length} rows` : `${found.length} of ${rows.length} rows`}
          {found.length > shown.length && `, the last ${shown.length} shown`}
        </span>
        <button type="button" onClick={() => client.traffic.clear()}>
          Clear
        </button>
        <button type="button" class="quiet icon" aria-label="Close the traffic" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="traffic-body">
        <ul ref={list} class="traffic-rows" aria-label="Messages" onKeyDown={moveByArrow}>
          {shown.map((each) => (
            <li key={each.id}>
              <button type="button" class={each.failed ? "quiet failed" : "quiet"} aria-pressed={each.id === chosen} onClick={() => setChosen(each.id)}>
                <RowSummary row={each} />
              </button>
            </li>
          ))}
        </ul>
        <div class="traffic-detail" tabIndex={0} role="group" aria-label="The chosen message">
          {row === null ? <p class="soft">Choose a row to see its messages.</p> : <RowDetail row={row} />}
        </div>
      </div>
    </section>
  );
}

function RowSummary({ row }: { row: TrafficRow }) {
  const way = row.way === "sent" ? "→" : "←";
  return (
    <>
      <span class="traffic-time soft">{new Date(row.at).toLocaleTimeString([], { hour12: false })}</span>
      <span aria-label={row.way} role="img" class={`traffic-way ${row.way}`}>
        {way}
      </span>
      <span class="traffic-method">{titleText(row.method)}</span>
      <span class="soft traffic-size">
        {sizeText(row.first.size + (row.answer?.size ?? 0))}
        {row.kind === "request" && `, ${row.answer ? durationText(row.answer.at - row.first.at) : "no answer yet"}`}
        {row.failed && ", error"}
      </span>
    </>
  );
}

function RowDetail({ row }: { row: TrafficRow }) {
  return (
    <>
      <h3>
        {row.way === "sent" ? "Sent" : "Received"}: {titleText(row.method)}
      </h3>
      <Message text={row.first.text} />
      {row.kind === "request" && <h3>{row.answer ? (row.failed ? "Error" : "Answer") : "No answer yet"}</h3>}
      {row.answer && <Message text={row.answer.text} />}
    </>
  );
}

function Message({ text }: { text: string }) {
  const pretty = useMemo(() => visibleText(prettyMessage(text).slice(0, MESSAGE_CHARS_MAX)), [text]);
  return <pre>{pretty}</pre>;
}

function moveByArrow(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const buttons = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("button")];
  const at = buttons.indexOf(document.activeElement as HTMLElement);
  if (step === undefined || at < 0) return;
  event.preventDefault();
  buttons[at + step]?.focus();
}

/** Stay at the end while new rows come, unless the reader has scrolled away from it. */
function useFollowedEnd(last: number | undefined) {
  const list = useRef<HTMLUListElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    const element = list.current;
    if (element === null) return;
    const onScroll = (): void => {
      atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => element.removeEventListener("scroll", onScroll);
  }, []);
  useEffect(() => {
    if (atEnd.current && list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [last]);
  return list;
}
