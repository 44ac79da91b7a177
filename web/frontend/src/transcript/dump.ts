/** A transcript as plain values, equal to what Python's `Transcript.dump()` gives. */

import type { UnknownVariant } from "./blocks.ts";
import { base64Of } from "../wire/base64.ts";
import type { Item, Message, Plan, SessionMessage, TerminalItem, ToolCall } from "./items.ts";
import type { View } from "./view.ts";

export function dumpView(view: View): Record<string, unknown> {
  const of = <K extends Item["kind"]>(kind: K) =>
    view.timeline.filter((item): item is Extract<Item, { kind: K }> => item.kind === kind);
  const messages = of("message");
  return {
    timeline: view.timeline.map(dumpItem),
    messages: messages.filter((message) => message.role !== "thought").map(dumpItem),
    thoughts: messages.filter((message) => message.role === "thought").map(dumpItem),
    toolCalls: of("toolCall").map(dumpItem),
    plans: [...view.plans.values()].map(dumpItem),
    terminals: of("terminal").map(dumpItem),
    notices: of("notice").map(dumpItem),
    compactions: of("compaction").map(dumpItem),
    subagents: of("subagent").map(dumpItem),
    sessionMessages: of("sessionMessage").map(dumpItem),
    unknown: of("unknown").map((item) => item.received),
    commands: view.commands,
    configOptions: view.options.items,
    modes: view.options.modes,
    usage: view.usage,
    info: view.info,
    state: asReceived(view.state.shown),
  };
}

function dumpItem(item: Item): unknown {
  switch (item.kind) {
    case "message":
      return dumpMessage(item);
    case "toolCall":
      return dumpToolCall(item);
    case "plan":
      return dumpPlan(item);
    case "terminal":
      return dumpTerminal(item);
    case "notice": {
      const { severity, title, description } = item;
      return { type: "notice", severity, title, description };
    }
    case "compaction": {
      const { compactionId, status, error, text, meta } = item;
      const summary = asReceived(item.blocks);
      return { type: "compaction", compactionId, status, error, summary, text, meta };
    }
    case "subagent": {
      const { sessionId, title, description, cancellable, cwd, additionalDirectories, meta } = item;
      const state = asReceived(item.state);
      const known = { sessionId, title, description, cancellable, state, cwd, meta };
      return { type: "subagent", ...known, additionalDirectories };
    }
    case "sessionMessage":
      return dumpSessionMessage(item);
    case "unknown":
      return { type: "unknown", tag: item.tag, received: item.received };
  }
}

function dumpMessage(message: Message): unknown {
  const { role, messageId, text, content } = message;
  const blocks = asReceived(message.blocks);
  return { type: "message", role, messageId, text, blocks, meta: content.meta };
}

function dumpSessionMessage(message: SessionMessage): unknown {
  const { messageId, senderSessionId, recipientSessionId } = message;
  const { senderMessageId, recipientMessageId, text, meta } = message;
  const sessions = { senderSessionId, recipientSessionId, senderMessageId, recipientMessageId };
  return { type: "session_message", messageId, ...sessions, text, meta };
}

function dumpToolCall(call: ToolCall): unknown {
  const { toolCallId, title, name, toolKind: kind, status, cancelled, cancellable } = call;
  const { diffs, locations, rawInput, rawOutput, meta } = call;
  const content = asReceived(call.content);
  const head = { toolCallId, title, name, kind, status, cancelled, cancellable };
  return { type: "tool_call", ...head, content, diffs, locations, rawInput, rawOutput, meta };
}

function dumpPlan(plan: Plan): unknown {
  const { planId, form, removed, entries, markdown, uri, received } = plan;
  return { type: "plan", planId, form, removed, entries, markdown, uri, received };
}

function dumpTerminal(terminal: TerminalItem): unknown {
  const { terminalId, command, cwd, size, exitStatus, cancellable, truncated, text, meta } =
    terminal;
  const data = base64Of(terminal.output.data);
  const facts = { terminalId, command, cwd, size, exitStatus, cancellable, truncated };
  return { type: "terminal", ...facts, data, text, meta };
}

/** With unknown variants as they came. */
function asReceived(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asReceived);
  if (typeof value !== "object" || value === null) return value;
  const variant = value as Partial<UnknownVariant>;
  if (variant.type === "unknown" && "received" in value) return variant.received;
  // Metadata is the peer's, and may look like anything.
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([key, member]) => [key, key === "_meta" ? member : asReceived(member)]),
  );
}
