/* What the agent intends to do, in the timeline and as a panel with its progress. */

import { Unknown } from "../content/ContentBlockView.tsx";
import { Link } from "../content/markdown/Link.tsx";
import { Markdown } from "../content/markdown/Markdown.tsx";
import { shownPath } from "../content/ContentBlockView.tsx";
import { titleText } from "../content/visible_text.ts";
import type { Plan, PlanEntry } from "../transcript/items.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { Icon, Status } from "../content/icons.tsx";

export function PlanView({ plan }: { plan: Plan }) {
  void plan.revision.value;
  if (plan.removed) return null;
  return (
    <div class="item plan" role="group" aria-label="Plan">
      <header class="plan-head">
        <Icon name="plan" />
        <h3>Plan</h3>
        <Progress entries={plan.entries} />
      </header>
      <PlanBody plan={plan} />
    </div>
  );
}

function PlanBody({ plan }: { plan: Plan }) {
  if (plan.form === "items") return <Entries entries={plan.entries} />;
  if (plan.form === "markdown") return <Markdown text={plan.markdown ?? ""} />;
  if (plan.form === "file") {
    const path = titleText(shownPath(plan.uri ?? ""));
    return (
      <p>
        Kept in{" "}
        <Link href={plan.uri ?? ""} label={path}>
          <span class="mono path">{path}</span>
        </Link>
      </p>
    );
  }
  return <Unknown name={`plan "${titleText(plan.form)}"`} value={plan.received} />;
}

function Entries({ entries }: { entries: readonly PlanEntry[] }) {
  return (
    <ol class="plan-entries">
      {entries.map((entry, index) => (
        <li
          key={index}
          class={`plan-${entry.status === "completed" || entry.status === "in_progress" || entry.status === "cancelled" ? entry.status : "pending"}`}
        >
          <Status status={entry.status} />
          <div class="plan-words">
            <Markdown text={String(entry.content ?? "").slice(0, 4_000)} />
          </div>
          {entry.priority === "high" && entry.status !== "completed" ? (
            <span class="priority small">high</span>
          ) : null}
        </li>
      ))}
    </ol>
  );
}

function Progress({ entries }: { entries: readonly PlanEntry[] }) {
  if (entries.length === 0) return null;
  const done = entries.filter((entry) => entry.status === "completed").length;
  return (
    <span class="plan-progress">
      <progress max={entries.length} value={done} aria-label="Progress of the plan" />
      <span class="soft small">
        {done} of {entries.length}
      </span>
    </span>
  );
}

/** The newest plan of a session in one line that unfolds, for a place that is always visible. */
export function PlanPanel({ transcript }: { transcript: Transcript }) {
  const plan = lastPlan(transcript);
  if (plan === null) return null;
  void plan.revision.value;
  const isDone = plan.entries.every(
    (entry) => entry.status === "completed" || entry.status === "cancelled",
  );
  if (plan.removed || plan.form !== "items" || isDone) return null;
  const current =
    plan.entries.find((entry) => entry.status === "in_progress") ??
    plan.entries.find((entry) => entry.status === "pending");
  return (
    <details class="plan-panel">
      <summary>
        <Icon name="plan" />
        <span class="plan-current" dir="auto">
          {titleText(current?.content, "Plan").replace(/[*_`]/g, "")}
        </span>
        <Progress entries={plan.entries} />
      </summary>
      <Entries entries={plan.entries} />
    </details>
  );
}

function lastPlan(transcript: Transcript): Plan | null {
  const timeline = transcript.timeline.value;
  for (let at = timeline.length - 1; at >= 0; at -= 1) {
    const item = timeline[at]!;
    if (item.kind === "plan" && !item.removed) return item;
  }
  return null;
}
