/** Folds updates of version 2 into a view: messages, tool calls and terminals.
 *
 * Everything with an id is an upsert: the first sight creates, later ones patch.  Left out keeps,
 * null clears, a value replaces, and chunks append.
 */

import { bytesOf } from "../wire/base64.ts";
import type { Role, ToolCall } from "./items.ts";
import { patchMeta } from "./meta.ts";
import type { Chunk, TerminalPatch, ToolCallPatch, Updates, WholeMessage } from "./updates.ts";
import type { View } from "./view.ts";

/** Milliseconds since 1970; undefined while a history is read. */
export type Clock = () => number | undefined;

type ConversationTag =
  | "user_message_chunk"
  | "user_message"
  | "agent_message_chunk"
  | "agent_message"
  | "agent_thought_chunk"
  | "agent_thought"
  | "tool_call_update"
  | "tool_call_content_chunk"
  | "terminal_update"
  | "terminal_output_chunk";

export const CONVERSATION_FOLDS: {
  [Tag in ConversationTag]: (view: View, update: Updates[Tag], clock: Clock) => void;
} = {
  user_message_chunk: (view, update) =>
    view.userChunk(update.messageId, update.content).noteChunk(update._meta),
  user_message: userMessage,
  agent_message_chunk: (view, update) => chunk(view, "agent", update),
  agent_message: (view, update) => wholeMessage(view, "agent", update),
  agent_thought_chunk: (view, update) => chunk(view, "thought", update),
  agent_thought: (view, update) => wholeMessage(view, "thought", update),
  tool_call_update: toolCall,
  tool_call_content_chunk: (view, update) =>
    view.toolCall(update.toolCallId).appendContent(update.content),
  terminal_update: terminal,
  terminal_output_chunk: (view, update) =>
    view.terminal(update.terminalId).output.append(bytesOf(update.data)),
};

function chunk(view: View, role: Role, { messageId, content, _meta }: Chunk): void {
  // A message that begins with nothing would show as a blank one.
  const isEmpty = content.type === "text" && content.text === "";
  if (isEmpty && !view.messages[role].has(messageId)) return;
  const message = view.message(role, messageId);
  message.content.append(content);
  message.noteChunk(_meta);
  view.touch(message);
}

function wholeMessage(view: View, role: Role, update: WholeMessage): void {
  const message = view.message(role, update.messageId);
  message.content.patch(update.content);
  message.content.patchMeta(update._meta);
  view.touch(message);
}

function userMessage(view: View, update: WholeMessage): void {
  const { messageId, content } = update;
  const message =
    content === undefined
      ? view.message("user", messageId)
      : view.userMessage(messageId, content ?? []);
  message.content.patchMeta(update._meta);
  view.touch(message);
}

export function toolCall(view: View, update: ToolCallPatch, clock: Clock): ToolCall {
  const call = view.toolCall(update.toolCallId);
  const before = call.status;
  if (update.title !== undefined) call.title = update.title ?? "";
  if (update.name !== undefined) call.name = update.name;
  if (update.kind !== undefined) call.reportKind(update.kind || "other");
  if (update.status !== undefined) call.report(update.status || "pending");
  if (update.rawInput !== undefined) call.rawInput = update.rawInput;
  if (update.rawOutput !== undefined) call.rawOutput = update.rawOutput;
  call.meta = patchMeta(call.meta, update._meta);
  if (update.locations !== undefined) {
    const locations = update.locations ?? [];
    call.locations = locations.map(({ path, line }) => ({ path, line: line ?? null }));
  }
  if (update.content !== undefined) call.replaceContent(update.content ?? []);
  if (update.capabilities !== undefined) call.cancellable = canCancel(update.capabilities);
  // A call that waited for permission did nothing yet.
  if (call.startedAt === undefined || before === "pending") call.startedAt = clock();
  if (call.isFinal) call.endedAt ??= clock();
  return call;
}

function terminal(view: View, update: TerminalPatch): void {
  const item = view.terminal(update.terminalId);
  if (update.output !== undefined) item.output.replace(bytesOf(update.output?.data ?? ""));
  if (update.command !== undefined) item.command = update.command;
  if (update.cwd !== undefined) item.cwd = update.cwd;
  if (update.size !== undefined) {
    item.size = update.size && { cols: update.size.cols, rows: update.size.rows };
  }
  if (update.exitStatus !== undefined) {
    const { exitCode = null, signal = null } = update.exitStatus ?? {};
    item.exitStatus = update.exitStatus && { exitCode, signal };
  }
  item.meta = patchMeta(item.meta, update._meta);
  if (update.capabilities !== undefined) item.cancellable = canCancel(update.capabilities);
}

export function canCancel(capabilities: { cancel?: object | null | undefined } | null): boolean {
  return (capabilities?.cancel ?? null) !== null;
}
