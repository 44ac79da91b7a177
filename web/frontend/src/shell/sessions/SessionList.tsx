/* The sessions: searched, opened, and those that wait for an answer marked. */

import { useEffect, useMemo, useState } from "preact/hooks";

import type { AccordClient, OpenSession, SessionSummary } from "../../client/types.ts";
import { titleText } from "../../content/visible_text.ts";
import { openQuestions } from "../../questions/QuestionQueue.tsx";
import { messageOf } from "../../prompt/send_prompt.ts";
import { AgentPicker } from "./AgentPicker.tsx";
import { SessionActions } from "./SessionActions.tsx";
import { agoText, searchSessions, sessionTitle, shortFolder } from "./session_list.ts";

/** Drawn at first, and more with each click; a search reaches all. */
const SHOWN_AT_ONCE = 100;

interface Props {
  client: AccordClient;
  onOpened(): void;
}

export function SessionList({ client, onOpened }: Props) {
  const [search, setSearch] = useState("");
  const [shownMax, setShownMax] = useState(SHOWN_AT_ONCE);
  const now = useMinute();
  const sessions = client.sessions.value;
  const open = client.open.value;
  const found = useMemo(() => searchSessions(sessions, search), [sessions, search]);
  const byId = new Map(open.map((session) => [session.summary.value.sessionId, session]));
  const show = (id: string): void => {
    client.problem.value = null;
    client.openSession(id).then(onOpened, (error: unknown) => (client.problem.value = messageOf(error)));
  };
  const loadMore = (): void => {
    setShownMax(shownMax + SHOWN_AT_ONCE);
    if (found.length > shownMax) return;
    client.refreshSessions(true).catch((error: unknown) => (client.problem.value = messageOf(error)));
  };
  return (
    <>
      <div class="session-agent">
        <AgentPicker client={client} isLabelled={false} onProblem={(problem) => (client.problem.value = problem)} />
      </div>
      <input
        id="session-search"
        class="session-search"
        type="search"
        aria-label="Search the sessions"
        placeholder="Search sessions"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
      />
      <p class="problem session-problem" role="alert">
        {client.problem.value}
      </p>
      {found.length === 0 && <p class="soft session-none">{sessions.length === 0 ? "There are no sessions yet." : "No session fits the search."}</p>}
      <ul class="session-list" aria-label="Sessions">
        {found.slice(0, shownMax).map((summary) => (
          <SessionRow key={summary.sessionId} client={client} summary={summary} session={byId.get(summary.sessionId) ?? null} now={now} onShow={show} />
        ))}
        <li class="session-more">
          <button type="button" class="quiet" onClick={loadMore}>
            Older sessions
          </button>
        </li>
      </ul>
    </>
  );
}

interface RowProps {
  client: AccordClient;
  summary: SessionSummary;
  session: OpenSession | null;
  now: number;
  onShow(id: string): void;
}

function SessionRow({ client, summary: listed, session, now, onShow }: RowProps) {
  const summary = session?.summary.value ?? listed;
  const isActive = session !== null && client.active.value === session;
  const waiting = session === null ? 0 : openQuestions(session).length;
  const state = waiting > 0 ? "waits for your answer" : session?.running.value ? "working" : session ? "open" : "";
  const notes = [shortFolder(summary.cwd), summary.owner && `of ${titleText(summary.owner)}`, agoText(summary.updatedAt, now)];
  return (
    <li class={isActive ? "session-row active" : "session-row"}>
      <button type="button" class="quiet session-open" aria-current={isActive} onClick={() => onShow(summary.sessionId)}>
        <span class="session-title" dir="auto">
          {sessionTitle(summary)}
        </span>
        <span class="session-notes soft">{notes.filter(Boolean).join(" · ")}</span>
        {state && (
          <span class={`session-state ${waiting > 0 ? "waiting" : state}`}>
            {waiting > 1 ? <span aria-hidden="true">{waiting}</span> : null}
            <span class="hidden-text">{state}</span>
          </span>
        )}
      </button>
      <SessionActions client={client} summary={summary} session={session} />
    </li>
  );
}

/** The time, once a minute. */
function useMinute(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 60_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
