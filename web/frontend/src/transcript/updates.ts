/** The updates of version 2 as `wire/reader.ts` reads them. */

import type { ContentBlock, Json, Meta, ToolContent, UnknownVariant } from "./blocks.ts";
import type { ReceivedOption } from "./config_options.ts";
import type { PlanEntry } from "./items.ts";
import type { Snapshot } from "./session_state.ts";

// Left out keeps, null clears, a value replaces.
type Patch<T> = T | null | undefined;

interface WithMeta {
  _meta?: Meta | null;
}

export interface Chunk extends WithMeta {
  messageId: string;
  content: ContentBlock;
}

export interface WholeMessage extends WithMeta {
  messageId: string;
  content?: Patch<ContentBlock[]>;
}

export interface ToolCallPatch extends WithMeta {
  toolCallId: string;
  name?: Patch<string>;
  title?: Patch<string>;
  kind?: Patch<string>;
  status?: Patch<string>;
  content?: Patch<ToolContent[]>;
  locations?: Patch<{ path: string; line?: Patch<number> }[]>;
  rawInput?: Json;
  rawOutput?: Json;
  capabilities?: Patch<Cancellable>;
}

interface Cancellable {
  cancel?: Patch<object>;
}

export interface TerminalPatch extends WithMeta {
  terminalId: string;
  command?: Patch<string>;
  cwd?: Patch<string>;
  output?: Patch<{ data: string }>;
  exitStatus?: Patch<{ exitCode?: Patch<number>; signal?: Patch<string> }>;
  size?: Patch<{ cols: number; rows: number }>;
  capabilities?: Patch<Cancellable>;
}

export type ReceivedPlan =
  | { type: "items"; planId: string; entries: PlanEntry[] }
  | { type: "file"; planId: string; uri: string }
  | { type: "markdown"; planId: string; content: string }
  | UnknownVariant;

export type ReceivedCommand =
  | {
      type: "command";
      name: string;
      description: string;
      input?: Patch<{ type: "text"; hint: string } | UnknownVariant>;
    }
  | UnknownVariant;

export interface SubagentPatch extends WithMeta {
  sessionId: string;
  title?: Patch<string>;
  description?: Patch<string>;
  capabilities?: Patch<Cancellable>;
  state?: Patch<Snapshot>;
  cwd?: Patch<string>;
  additionalDirectories?: Patch<string[]>;
}

export interface SessionMessagePatch extends WithMeta {
  messageId: string;
  senderSessionId?: Patch<string>;
  recipientSessionId?: Patch<string>;
  senderMessageId?: Patch<string>;
  recipientMessageId?: Patch<string>;
  content?: Patch<ContentBlock[]>;
}

interface CompactionPatch extends WithMeta {
  compactionId: string;
  status: string;
  summary?: Patch<ContentBlock[]>;
  error?: Patch<string>;
}

/** Each update by its tag. */
export interface Updates {
  user_message_chunk: Chunk;
  user_message: WholeMessage;
  agent_message_chunk: Chunk;
  agent_message: WholeMessage;
  agent_thought_chunk: Chunk;
  agent_thought: WholeMessage;
  state_update: Snapshot;
  tool_call_update: ToolCallPatch;
  tool_call_content_chunk: { toolCallId: string; content: ToolContent };
  terminal_update: TerminalPatch;
  terminal_output_chunk: { terminalId: string; data: string };
  plan_update: { plan: ReceivedPlan };
  plan_removed: { planId: string };
  available_commands_update: { availableCommands: ReceivedCommand[] };
  config_option_update: { configOptions: ReceivedOption[] };
  session_info_update: { title?: Patch<string>; updatedAt?: Patch<string> } & WithMeta;
  usage_update: { used: number; size: number; cost?: Patch<{ amount: number; currency: string }> };
  notice: { severity: string; title: string; description?: Patch<string> };
  compaction_update: CompactionPatch;
  compaction_summary_chunk: { compactionId: string; content: ContentBlock };
  subagent_update: SubagentPatch;
  session_message: SessionMessagePatch;
  session_message_chunk: { messageId: string; content: ContentBlock };
}

export type SessionUpdate =
  | { [Tag in keyof Updates]: { sessionUpdate: Tag } & Updates[Tag] }[keyof Updates]
  | (UnknownVariant & { sessionUpdate?: undefined });
