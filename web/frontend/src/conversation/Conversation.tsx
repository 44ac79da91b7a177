/* Everything that was said and done in a session, live.

   Only visible rows exist. Each item draws itself again when its own revision changes, so a chunk
   of an answer costs the drawing of one paragraph. */

import { memo } from "preact/compat";
import { useMemo, useRef, useState } from "preact/hooks";
import "../content/content.css";
import "./conversation.css";
import type { OpenSession } from "../client/types.ts";
import { durationText, titleText } from "../content/visible_text.ts";
import type { Item } from "../transcript/items.ts";
import { AnswerSpoken } from "./AnswerSpoken.tsx";
import { FindBar } from "./FindBar.tsx";
import { MessageView, SessionMessageView } from "./MessageView.tsx";
import { PlanPanel, PlanView } from "./PlanView.tsx";
import { CompactionView, NoticeView, SubagentView, UnknownView } from "./SmallItems.tsx";
import { TerminalView } from "./TerminalView.tsx";
import { ToolCallCard } from "./ToolCallCard.tsx";
import { TerminalIndex, useNow, ViewContext, type ViewState } from "./view_state.ts";
import { VirtualList, type ListControl } from "./list/VirtualList.tsx";

interface Props {
  session: OpenSession;
  /** Open a file of the session at a line. */
  onShowFile?: (path: string, line: number | null) => void;
  /** Open the review of all changes at a file. */
  onReview?: (path: string) => void;
}

export function Conversation({ session, onShowFile, onReview }: Props) {
  const timeline = session.transcript.timeline.value;
  const kept = useMemo(
    () => ({ session, terminals: new TerminalIndex(), folds: new Map<string, boolean>() }),
    [session],
  );
  const shared = useMemo<ViewState>(
    () => ({ ...kept, showFile: onShowFile, review: onReview }),
    [kept, onShowFile, onReview],
  );
  shared.terminals.take(timeline);
  const list = useRef<ListControl>(null);
  const section = useRef<HTMLElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  return (
    <ViewContext.Provider value={shared}>
      <section class="conversation" ref={section}>
        <FindBar
          transcript={session.transcript}
          section={section}
          onShow={(key) => list.current?.toRow(key)}
        />
        <PlanPanel transcript={session.transcript} />
        {timeline.length === 0 ? <Empty session={session} /> : null}
        <VirtualList
          key={session.summary.value.sessionId}
          rows={timeline}
          estimate={estimate}
          draw={draw}
          label={`Conversation: ${titleText(session.summary.value.title, "new session")}`}
          onEnd={setAtEnd}
          control={list}
        >
          <TurnState session={session} />
        </VirtualList>
        {isAtEnd ? null : (
          <button type="button" class="to-end" onClick={() => list.current?.toEnd()}>
            <span aria-hidden="true">↓ </span>To the end
          </button>
        )}
        <AnswerSpoken transcript={session.transcript} />
      </section>
    </ViewContext.Provider>
  );
}

const draw = (item: Item) => <ItemView item={item} />;

const ItemView = memo(function ItemView({ item }: { item: Item }) {
  switch (item.kind) {
    case "message":
      return <MessageView message={item} />;
    case "toolCall":
      return <ToolCallCard call={item} />;
    case "plan":
      return <PlanView plan={item} />;
    case "terminal":
      return <TerminalView terminal={item} />;
    case "subagent":
      return <SubagentView subagent={item} />;
    case "notice":
      return <NoticeView notice={item} />;
    case "compaction":
      return <CompactionView compaction={item} />;
    case "sessionMessage":
      return <SessionMessageView message={item} />;
    case "unknown":
      return <UnknownView item={item} />;
  }
});

// Before it was drawn: close enough that the scroll bar does not jump much.
const LINE_PIXELS = 23;
const CHARS_PER_LINE = 90;

function estimate(item: Item): number {
  if (item.kind === "message" && item.role !== "thought") {
    return 44 + LINE_PIXELS * Math.ceil(Math.min(item.text.length, 200_000) / CHARS_PER_LINE);
  }
  if (item.kind === "plan") return 60 + 30 * item.entries.length;
  return item.kind === "terminal" ? 0 : 48;
}

function Empty({ session }: { session: OpenSession }) {
  const folder = titleText(session.summary.value.cwd);
  return (
    <div class="empty">
      <h2>What would you like to do?</h2>
      {folder ? (
        <p class="soft">
          The agent works in{" "}
          <span class="mono path" dir="ltr">
            {folder}
          </span>
        </p>
      ) : null}
    </div>
  );
}

const STOP_WORDS: Record<string, string> = {
  cancelled: "Stopped.",
  refusal: "The agent refused to go on.",
  max_tokens: "The agent stopped: its limit of tokens was reached.",
  max_turn_requests: "The agent stopped: its limit of requests was reached.",
};

/** The last line: that the agent works, or why it stopped if not because it was done. */
function TurnState({ session }: { session: OpenSession }) {
  const running = session.running.value;
  const state = session.transcript.state.value;
  const now = useNow(running !== null);
  const waits = session.questions.value.length > 0;
  if (running !== null) {
    const seconds = now - running.since;
    return (
      <div class="turn-state" role="status">
        <span class="dots" aria-hidden="true" />
        <span>{waits ? "Waiting for your answer" : "Working"}</span>
        {/* Not for a screen reader: it would say every second. */}
        {seconds >= 3_000 ? (
          <span class="soft" aria-hidden="true">
            {durationText(seconds)}
          </span>
        ) : null}
      </div>
    );
  }
  const { stopReason, error } = state;
  if (stopReason === null || stopReason === "end_turn")
    return <div class="turn-state" role="status" />;
  const message = (error as { message?: unknown } | null)?.message;
  const words = Object.hasOwn(STOP_WORDS, stopReason)
    ? STOP_WORDS[stopReason]
    : `The agent stopped: ${titleText(stopReason)}.`;
  return (
    <div
      class={stopReason === "cancelled" ? "turn-state soft" : "turn-state problem"}
      role="status"
    >
      {words} {message ? <span dir="auto">{titleText(message)}</span> : null}
    </div>
  );
}
