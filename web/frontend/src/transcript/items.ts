/** What a transcript shows, item by item: what Python's `accord/transcript/items` has.
 *
 * Items are live and change in place; only the fold changes them.  A view reads `revision.value`
 * and then the fields: the signal changes at most once per animation frame.
 */

import { signal, type Signal } from "@preact/signals";
import type { ContentBlock, Json, Meta, ToolContent, UnknownVariant } from "./blocks.ts";
import { diffsOf, type FileDiff } from "./diffs.ts";
import type { SessionState } from "./session_facts.ts";
import type { Content } from "./content.ts";
import type { TerminalOutput } from "./terminal_output.ts";

export type * from "./blocks.ts";
export type { FileDiff } from "./diffs.ts";
export type * from "./session_facts.ts";

/** What all items have.  `key` stays the same for as long as the transcript lives. */
abstract class Shown {
  readonly revision: Signal<number> = signal(0);

  constructor(readonly key: string) {}
}

// Who wrote a message, and that the gateway did.
const GATEWAY_KEYS = ["accord.author", "accord.remark"];

export type Role = "user" | "agent" | "thought";

export class Message extends Shown {
  readonly kind = "message";
  /** Sent from this page, echoed by the agent or not. */
  isOwn = false;
  /** What a gateway says of a message with its chunks; other metadata of chunks is theirs. */
  private noted: Meta = {};

  constructor(
    key: string,
    readonly role: Role,
    public messageId: string | null,
    readonly content: Content,
  ) {
    super(key);
  }

  /** In order; text that came in chunks is one block. */
  get blocks(): readonly ContentBlock[] {
    return this.content.blocks;
  }

  get text(): string {
    return this.content.text;
  }

  get meta(): Meta {
    return { ...this.noted, ...this.content.meta };
  }

  noteChunk(meta: Meta | null | undefined): void {
    for (const key of GATEWAY_KEYS) {
      if (meta && Object.hasOwn(meta, key)) this.noted = { ...this.noted, [key]: meta[key] };
    }
  }
}

export interface Location {
  path: string;
  /** Counts from one. */
  line: number | null;
}

export const TOOL_KINDS: ReadonlySet<string> = new Set(
  "read edit delete move search execute think fetch switch_mode other".split(" "),
);
export const FINAL_STATUSES: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);
export const STATUSES: ReadonlySet<string> = new Set([
  ...["pending", "in_progress", "paused"],
  ...FINAL_STATUSES,
]);
// A word that some agents have for a call that the user did not allow.
const DENIED = "denied";

export class ToolCall extends Shown {
  readonly kind = "toolCall";
  title = "";
  name: string | null = null;
  /** One of the protocol's; an unknown one counts as "other". */
  toolKind = "other";
  reportedKind = "other";
  /** pending, in_progress, paused, completed, failed or cancelled. */
  status = "pending";
  reportedStatus = "pending";
  content: readonly ToolContent[] = [];
  locations: readonly Location[] = [];
  rawInput: Json = null;
  rawOutput: Json = null;
  /** Whether the user may end this one call. */
  cancellable = false;
  /** Its turn was cancelled before it had ended, or it says so. */
  cancelled = false;
  meta: Meta = {};
  /** Milliseconds since 1970 by the clock of this page; not for what came with a history. */
  startedAt: number | undefined = undefined;
  endedAt: number | undefined = undefined;

  private knownDiffs: readonly FileDiff[] | null = null;

  constructor(
    key: string,
    readonly toolCallId: string,
  ) {
    super(key);
  }

  /** The file changes among `content`, of both forms. */
  get diffs(): readonly FileDiff[] {
    return (this.knownDiffs ??= diffsOf(this.content));
  }

  replaceContent(content: ToolContent[]): void {
    this.content = content;
    this.knownDiffs = null;
  }

  appendContent(item: ToolContent): void {
    (this.content as ToolContent[]).push(item);
    this.knownDiffs = null;
  }

  /** Whether nothing but content may follow. */
  get isFinal(): boolean {
    return FINAL_STATUSES.has(this.status);
  }

  get isOver(): boolean {
    return this.isFinal || this.cancelled;
  }

  /** Take a kind; one that is not known counts as other. */
  reportKind(kind: string): void {
    this.reportedKind = kind;
    this.toolKind = TOOL_KINDS.has(kind) ? kind : "other";
  }

  /** Take a status, unless a final one was reported before; an unknown one is in progress. */
  report(status: string): void {
    if (this.isFinal && !(this.isCutOff && FINAL_STATUSES.has(status))) return;
    this.reportedStatus = status;
    const known = status === DENIED ? "cancelled" : status;
    this.status = STATUSES.has(known) ? known : "in_progress";
    // What completed all the same was faster than the cancellation.
    if (this.status === "cancelled") this.cancelled = true;
    else if (this.status === "completed") this.cancelled = false;
  }

  /** Cancel the call with its turn; its end may still be reported. */
  endCancelled(): void {
    this.cancelled = true;
    this.status = "cancelled";
  }

  /** Whether the call is cancelled, and the agent has not reported that itself. */
  private get isCutOff(): boolean {
    const isReported = FINAL_STATUSES.has(this.reportedStatus) || this.reportedStatus === DENIED;
    return this.status === "cancelled" && !isReported;
  }
}

export interface PlanEntry {
  content: string;
  priority: "high" | "medium" | "low" | (string & {});
  status: "pending" | "in_progress" | "completed" | "cancelled" | (string & {});
}

export class Plan extends Shown {
  readonly kind = "plan";
  /** `entries` belongs to "items", `markdown` to "markdown", `uri` to "file"; else `received`. */
  form: "items" | "markdown" | "file" | (string & {}) = "items";
  removed = false;
  entries: readonly PlanEntry[] = [];
  markdown: string | null = null;
  uri: string | null = null;
  received: Json = null;

  constructor(
    key: string,
    readonly planId: string,
  ) {
    super(key);
  }
}

export interface ExitStatus {
  exitCode: number | null;
  signal: string | null;
}

export class TerminalItem extends Shown {
  readonly kind = "terminal";
  command: string | null = null;
  cwd: string | null = null;
  size: { cols: number; rows: number } | null = null;
  exitStatus: ExitStatus | null = null;
  cancellable = false;
  meta: Meta = {};

  constructor(
    key: string,
    readonly terminalId: string,
    /** What is kept of the bytes, and what was dropped of them. */
    readonly output: TerminalOutput,
  ) {
    super(key);
  }

  /** The kept bytes as text; half a character at the end waits for the rest until it exits. */
  get text(): string {
    return this.output.text(this.exitStatus !== null);
  }

  get truncated(): boolean {
    return this.output.truncated;
  }
}

export class Subagent extends Shown {
  readonly kind = "subagent";
  title: string | null = null;
  description: string | null = null;
  cancellable = false;
  cwd: string | null = null;
  /** Null: as in the session that shows it. */
  additionalDirectories: string[] | null = null;
  meta: Meta = {};

  constructor(
    key: string,
    readonly sessionId: string,
    public state: SessionState,
  ) {
    super(key);
  }
}

export class Notice extends Shown {
  readonly kind = "notice";

  constructor(
    key: string,
    readonly severity: "info" | "warning" | "error" | (string & {}),
    readonly title: string,
    readonly description: string | null,
  ) {
    super(key);
  }
}

export class Compaction extends Shown {
  readonly kind = "compaction";
  status: "in_progress" | "completed" | "failed" | "cancelled" | (string & {}) = "in_progress";
  error: string | null = null;

  constructor(
    key: string,
    readonly compactionId: string,
    readonly content: Content,
  ) {
    super(key);
  }

  /** The summary. */
  get blocks(): readonly ContentBlock[] {
    return this.content.blocks;
  }

  get text(): string {
    return this.content.text;
  }

  get meta(): Meta {
    return this.content.meta;
  }
}

/** A message between two sessions. */
export class SessionMessage extends Shown {
  readonly kind = "sessionMessage";
  senderSessionId: string | null = null;
  recipientSessionId: string | null = null;
  senderMessageId: string | null = null;
  recipientMessageId: string | null = null;

  constructor(
    key: string,
    readonly messageId: string,
    readonly content: Content,
  ) {
    super(key);
  }

  get blocks(): readonly ContentBlock[] {
    return this.content.blocks;
  }

  get text(): string {
    return this.content.text;
  }

  get meta(): Meta {
    return this.content.meta;
  }
}

/** An update of a kind that this page does not know, kept whole. */
export class UnknownItem extends Shown {
  readonly kind = "unknown";

  constructor(
    key: string,
    readonly variant: UnknownVariant,
  ) {
    super(key);
  }

  get tag(): string {
    return this.variant.tag;
  }

  get received(): Json {
    return this.variant.received;
  }
}

export type Item =
  | Message
  | ToolCall
  | Plan
  | TerminalItem
  | Subagent
  | Notice
  | Compaction
  | SessionMessage
  | UnknownItem;
