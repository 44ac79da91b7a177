/* One open session: its head, the conversation, the questions of the agent and the prompt. */

import "./sessions.css";

import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import type { AccordClient, OpenSession } from "../../client/types.ts";
import { durationText, titleText } from "../../content/visible_text.ts";
import { Conversation } from "../../conversation/Conversation.tsx";
import { UsageMeter } from "../../conversation/UsageMeter.tsx";
import { addFiles } from "../../prompt/add_files.ts";
import { Composer } from "../../prompt/Composer.tsx";
import type { Grants } from "../../questions/grants.ts";
import { QuestionQueue } from "../../questions/QuestionQueue.tsx";
import { Icon } from "../Icon.tsx";
import type { Action } from "../Menu.tsx";
import { People } from "../people/People.tsx";
import { SessionActions } from "./SessionActions.tsx";
import { sessionTitle, shortFolder } from "./session_list.ts";
import { SidePanel, type Side } from "./SidePanel.tsx";

interface Props {
  client: AccordClient;
  session: OpenSession;
  grants: Grants;
  isActive: boolean;
  side: Side | null;
  onSide(side: Side | null): void;
  more: readonly Action[];
  /** Stands before the title. */
  lead: ComponentChildren;
}

export function SessionPane({ client, session, grants, isActive, side, onSide, more, lead }: Props) {
  const pane = useRef<HTMLElement>(null);
  const [isDropTarget, setDropTarget] = useState(false);
  const focusPrompt = (): void => pane.current?.querySelector<HTMLElement>(".composer-text")?.focus();
  const summary = session.summary.value;
  const agent = client.agents.value.find((each) => each.name === summary.agent);
  const agentName = titleText(agent?.title, summary.agent);

  useEffect(() => {
    // On a phone the focus would open the keyboard over the conversation.
    if (isActive && matchMedia("(pointer: fine)").matches) focusPrompt();
  }, [session]);

  // The conversation draws all of its rows again when these change.
  const latest = useRef(onSide);
  latest.current = onSide;
  const showFile = useCallback((path: string, line: number | null) => latest.current({ view: "file", path, line }), []);
  const review = useCallback((path: string) => latest.current({ view: "changes", path }), []);

  const drop = (event: DragEvent): void => {
    setDropTarget(false);
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    void addFiles(session, files, agent?.capabilities).then(focusPrompt);
  };

  return (
    <section
      ref={pane}
      class={`pane${isActive ? " active" : ""}${isDropTarget ? " drop-target" : ""}`}
      aria-label={sessionTitle(summary)}
      onFocusIn={() => !isActive && (client.active.value = session)}
      onDragOver={(event) => {
        event.preventDefault();
        setDropTarget(true);
      }}
      onDragLeave={(event) => event.currentTarget === event.target && setDropTarget(false)}
      onDrop={drop}
    >
      <header class="pane-head">
        {lead}
        <div class="pane-title">
          <h2 dir="auto">{sessionTitle(summary)}</h2>
          <p class="soft" title={summary.cwd}>
            {agentName} · {shortFolder(summary.cwd)}
          </p>
        </div>
        <div class="pane-facts">
          <Working session={session} />
          <UsageMeter transcript={session.transcript} />
        </div>
        <People session={session} />
        <button type="button" class="quiet" aria-pressed={side !== null} title="Changes and files (Alt+C)" onClick={() => onSide(side === null ? { view: "changes" } : null)}>
          <Icon name="review" /> <span class="wide-only">Changes</span>
        </button>
        <SessionActions client={client} summary={summary} session={session} more={more} />
      </header>
      <div class={side === null ? "pane-body" : "pane-body with-side"}>
        <div class="pane-conversation">
          <Conversation session={session} onShowFile={showFile} onReview={review} />
        </div>
        {side !== null && <SidePanel session={session} side={side} onSide={onSide} />}
      </div>
      <div class="pane-foot">
        <QuestionQueue session={session} agent={agentName} grants={grants} onLeave={focusPrompt} />
        <Typing session={session} />
        <Composer client={client} session={session} />
      </div>
    </section>
  );
}

function Working({ session }: { session: OpenSession }) {
  const running = session.running.value;
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (running === null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [running]);
  if (session.loading.value) {
    return (
      <p class="working" role="status">
        Loading…
      </p>
    );
  }
  if (running === null) return null;
  const asks = session.questions.value.some((question) => question.settledBy === null);
  return (
    <p class={asks ? "working asks" : "working"} title={asks ? "The agent waits for an answer" : "The agent is working"}>
      <span class="working-dot" aria-hidden="true" />
      {asks ? "Waiting" : "Working"} <span aria-hidden="true">{durationText(Math.floor((now - running.since) / 1_000) * 1_000).replace(".0", "")}</span>
    </p>
  );
}

/** The others who write now. */
function Typing({ session }: { session: OpenSession }) {
  const you = session.you.value?.user;
  const names = session.people.value.filter((person) => person.typing && person.user !== you).map((person) => titleText(person.displayName, person.user));
  if (names.length === 0) return null;
  return (
    <p class="typing soft" role="status">
      {names.length > 2 ? "Several people write" : `${names.join(" and ")} ${names.length === 1 ? "writes" : "write"}`}…
    </p>
  );
}
