/* One thing that the agent does: what, how it went, for how long, where, and what came of it. */

import { memo } from "preact/compat";
import { useEffect } from "preact/hooks";
import { Code } from "../content/Code.tsx";
import { ContentBlockView, Unknown } from "../content/ContentBlockView.tsx";
import { languageOfPath } from "../content/highlight.ts";
import { durationText, prettyJson, titleText } from "../content/visible_text.ts";
import { DiffSummary } from "../review/DiffSummary.tsx";
import type { Location, ToolCall, ToolContent } from "../transcript/items.ts";
import { Icon, Status } from "../content/icons.tsx";
import { TerminalPane } from "./TerminalView.tsx";
import { useFold, useNow, useView } from "./view_state.ts";

const KIND_WORDS: Record<string, string> = {
  read: "Read",
  edit: "Edit",
  delete: "Delete",
  move: "Move",
  search: "Search",
  execute: "Run",
  think: "Think",
  fetch: "Fetch",
  switch_mode: "Switch mode",
  other: "Tool",
};
// A longer list of places is cut.
const LOCATIONS_MAX = 6;

export const ToolCallCard = memo(function ToolCallCard({ call }: { call: ToolCall }) {
  void call.revision.value;
  const view = useView();
  const runs = !call.isOver && (call.status === "in_progress" || call.status === "pending");
  const [open, onToggle] = useFold(call.key, isOpenAtFirst(call));
  useEffect(() => view.terminals.anchor(call));
  const kind = Object.hasOwn(KIND_WORDS, call.toolKind) ? call.toolKind : "other";
  const status =
    call.cancelled && call.status !== "completed" && call.status !== "failed"
      ? "cancelled"
      : call.status;
  return (
    <details class={`item tool-call tool-${status}`} open={open} onToggle={onToggle}>
      <summary>
        <Icon name={kind} />
        <span class="hidden-text">{KIND_WORDS[kind]}: </span>
        <span class="tool-title" dir="auto">
          <Words text={titleText(call.title || call.name, KIND_WORDS[kind])} />
        </span>
        {open ? null : <DiffCounts call={call} />}
        <Duration call={call} runs={runs} />
        <Status status={status} />
      </summary>
      {open ? <Body call={call} /> : null}
    </details>
  );
});

/** A title; what stands in backquotes is code. */
function Words({ text }: { text: string }) {
  const parts = text.split("`");
  // An even number of parts: one backquote has no partner.
  if (parts.length % 2 === 0) return <>{text}</>;
  return (
    <>{parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
  );
}

function isOpenAtFirst(call: ToolCall): boolean {
  if (call.diffs.length > 0 || call.status === "failed") return true;
  return !call.isOver && call.content.some((content) => content.type === "terminal");
}

function DiffCounts({ call }: { call: ToolCall }) {
  return call.diffs.length === 0 ? null : (
    <span class="soft small">
      {call.diffs.length === 1 ? "1 file" : `${call.diffs.length} files`}
    </span>
  );
}

function Duration({ call, runs }: { call: ToolCall; runs: boolean }) {
  const now = useNow(runs && call.startedAt !== undefined);
  if (call.startedAt === undefined) return null;
  const milliseconds = (call.endedAt ?? now) - call.startedAt;
  // What takes no time needs no number.
  return milliseconds < 500 ? null : (
    <span class="duration soft small">{durationText(milliseconds)}</span>
  );
}

function Body({ call }: { call: ToolCall }) {
  const hasContent = call.content.length > 0;
  const { session } = useView();
  const changed = new Set(call.diffs.map((diff) => diff.path));
  return (
    <div class="tool-body">
      <Locations locations={call.locations.filter(({ path }) => !changed.has(path))} />
      {call.content.map((content, index) => (
        <ToolContentView key={index} call={call} content={content} />
      ))}
      {call.diffs.map((diff, index) => (
        <DiffSummary key={index} diff={diff} folder={session.summary.value.cwd} />
      ))}
      {isGiven(call.rawInput) ? (
        <Raw
          name="Input"
          value={call.rawInput}
          foldKey={`${call.key} input`}
          unfolded={!hasContent}
        />
      ) : null}
      {isGiven(call.rawOutput) ? (
        <Raw
          name="Output"
          value={call.rawOutput}
          foldKey={`${call.key} output`}
          unfolded={!hasContent}
        />
      ) : null}
    </div>
  );
}

function isGiven(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

function ToolContentView({ call, content }: { call: ToolCall; content: ToolContent }) {
  const { terminals } = useView();
  switch (content.type) {
    case "content": {
      const { content: block } = content;
      const path = call.toolKind === "read" ? call.locations[0]?.path : undefined;
      // The content of a file is code, whatever it looks like.
      if (block?.type === "text" && path !== undefined && !block.text.startsWith("```")) {
        return <Code code={block.text} info={languageOfPath(path) ?? undefined} />;
      }
      return block ? (
        <div class="tool-content" tabIndex={0} role="group" aria-label="Result">
          <ContentBlockView block={block} />
        </div>
      ) : null;
    }
    case "terminal": {
      const terminal = terminals.find(content.terminalId);
      return terminal ? (
        <TerminalPane terminal={terminal} />
      ) : (
        <p class="soft small">A terminal that has not reported anything.</p>
      );
    }
    case "diff":
      return null;
    default:
      return <Unknown name={`part "${titleText(content.tag)}"`} value={content.received} />;
  }
}

function Locations({ locations }: { locations: readonly Location[] }) {
  const { showFile, session } = useView();
  if (locations.length === 0) return null;
  const folder = session.summary.value.cwd;
  return (
    <ul class="locations" aria-label="Places">
      {locations.slice(0, LOCATIONS_MAX).map(({ path, line }, index) => {
        const name = `${titleText(shortPath(path, folder))}${line === null ? "" : `:${line}`}`;
        return (
          <li key={index}>
            {showFile === undefined ? (
              <span class="mono path" dir="ltr">
                {name}
              </span>
            ) : (
              <button
                type="button"
                class="quiet small mono path"
                dir="ltr"
                title={titleText(path)}
                onClick={() => showFile(path, line)}
              >
                {name}
              </button>
            )}
          </li>
        );
      })}
      {locations.length > LOCATIONS_MAX ? (
        <li class="soft small">and {locations.length - LOCATIONS_MAX} more</li>
      ) : null}
    </ul>
  );
}

/** A path as seen from the session's folder. */
export function shortPath(path: string, folder: string): string {
  const root = folder.endsWith("/") ? folder : `${folder}/`;
  return folder !== "" && path.startsWith(root) ? path.slice(root.length) : path;
}

function Raw({
  name,
  value,
  foldKey,
  unfolded,
}: {
  name: string;
  value: unknown;
  foldKey: string;
  unfolded: boolean;
}) {
  const [open, onToggle] = useFold(foldKey, unfolded);
  return (
    <details class="raw" open={open} onToggle={onToggle}>
      <summary class="soft small">{name}</summary>
      {open ? (
        <Code code={prettyJson(value)} info={typeof value === "string" ? undefined : "json"} />
      ) : null}
    </details>
  );
}
