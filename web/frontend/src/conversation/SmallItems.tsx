/* What takes a line or two in a conversation: notices, compactions, sub-agents, unknown updates. */

import { prettyJson, titleText } from "../content/visible_text.ts";
import type { Compaction, Notice, Subagent, UnknownItem } from "../transcript/items.ts";
import { Icon, Status } from "../content/icons.tsx";
import { Blocks, Folded } from "./MessageView.tsx";
import { Unknown } from "../content/ContentBlockView.tsx";

export function NoticeView({ notice }: { notice: Notice }) {
  const severity =
    notice.severity === "warning" || notice.severity === "error" ? notice.severity : "info";
  return (
    <div class={`item notice notice-${severity}`} role="note">
      <Icon name={severity === "info" ? "notice" : "warning"} />
      <div>
        <strong dir="auto">
          {severity === "info" ? "" : <span class="hidden-text">{severity}: </span>}
          {titleText(notice.title)}
        </strong>
        {notice.description ? (
          <p class="notice-words" dir="auto">
            {notice.description.slice(0, 20_000)}
          </p>
        ) : null}
      </div>
    </div>
  );
}

const COMPACTION_WORDS: Record<string, string> = {
  in_progress: "Summarising what was said before…",
  completed: "What was said before is summarised",
  failed: "What was said before could not be summarised",
  cancelled: "Summarising was cancelled",
};

export function CompactionView({ compaction }: { compaction: Compaction }) {
  void compaction.revision.value;
  const words = COMPACTION_WORDS[compaction.status] ?? "The context changes";
  if (compaction.blocks.length > 0) {
    return (
      <Folded foldKey={compaction.key} icon="compaction" title={words} preview="">
        <Blocks blocks={compaction.blocks} />
      </Folded>
    );
  }
  return (
    <div class="item state-line">
      <Icon name="compaction" />
      <span>{words}</span>
      {compaction.error ? (
        <span class="problem" dir="auto">
          {" "}
          {titleText(compaction.error)}
        </span>
      ) : null}
    </div>
  );
}

export function SubagentView({ subagent }: { subagent: Subagent }) {
  void subagent.revision.value;
  const { confirmed, stopReason, reported } = subagent.state;
  const status =
    confirmed === "running"
      ? "in_progress"
      : confirmed === "requires_action"
        ? "paused"
        : stopReason === "cancelled"
          ? "cancelled"
          : confirmed === "idle"
            ? "completed"
            : "pending";
  return (
    <div class="item subagent" role="group" aria-label="Sub-agent">
      <Icon name="agent" />
      <div class="subagent-words">
        <div>
          <span class="badge">Sub-agent</span>{" "}
          <strong dir="auto">{titleText(subagent.title, "without a title")}</strong>
        </div>
        {subagent.description ? (
          <p class="soft" dir="auto">
            {titleText(subagent.description)}
          </p>
        ) : null}
        {confirmed === "requires_action" ? <p class="soft small">It waits for an answer.</p> : null}
        {confirmed === null && reported ? <p class="soft small">{titleText(reported)}</p> : null}
      </div>
      <Status status={status} />
    </div>
  );
}

export function UnknownView({ item }: { item: UnknownItem }) {
  void item.revision.value;
  return (
    <div class="item">
      <Unknown
        name={`update "${titleText(item.tag).slice(0, 100)}"`}
        value={prettyJson(item.received)}
      />
    </div>
  );
}
