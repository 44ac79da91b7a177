/** What the views know of the gateway: the seam between them and the wire.
 *
 * All state is in signals.  A method that can fail rejects with an Error whose message is a
 * sentence for the user.
 */

import type { Signal } from "@preact/signals";
import type { ContentBlock, ToolCall } from "../transcript/items.ts";
import type { Transcript } from "../transcript/transcript.ts";
import type { TrafficEntry } from "../wire/traffic.ts";

export type { TrafficEntry };

export type Connection =
  | { state: "connecting" }
  | { state: "open"; since: number }
  /** Coming back by itself. */
  | { state: "waiting"; why: string; retryAt: number; offline: boolean }
  /** Something was missed that cannot be filled; `reload()` loads it again. */
  | { state: "lost"; why: string; missed: boolean }
  | { state: "refused"; why: string; canLogIn: boolean };

export interface AuthMethod {
  type: "agent" | "terminal" | (string & {});
  methodId: string;
  name: string;
  description: string | null;
}

export interface AgentInfo {
  name: string;
  title: string;
  path: string;
  /** As the agent said it; null until it was asked. */
  capabilities: unknown;
  authMethods: AuthMethod[];
}

export interface SessionSummary {
  sessionId: string;
  agent: string;
  cwd: string;
  title: string;
  updatedAt: string | null;
  /** Null: the user's own. */
  owner: string | null;
}

export interface Attachment {
  id: string;
  name: string;
  mimeType: string;
  size: number;
  block: ContentBlock;
  /** A `data:` or `blob:` address of a picture. */
  preview: string | null;
}

export interface QueuedPrompt {
  id: string;
  blocks: ContentBlock[];
  text: string;
}

export type PersonRole = "viewer" | "editor" | "admin";

export interface Person {
  user: string;
  displayName: string;
  role: PersonRole;
  here: boolean;
  typing: boolean;
  focus: boolean;
}

export type PresenceEvent = "typing" | "idle" | "focus" | "blur";

interface QuestionOfAgent {
  id: string;
  sessionId: string;
  /** Who answered it elsewhere.  Such a question leaves the list with the next one. */
  settledBy: string | null;
}

export interface PermissionQuestion extends QuestionOfAgent {
  kind: "permission";
  title: string;
  toolCall: ToolCall | null;
  options: { optionId: string; name: string; kind: string }[];
  /** The agent's. */
  reason: string | null;
  /** The params of the request. */
  raw: unknown;
  answer(optionId: string): void;
  cancel(): void;
}

export interface FormQuestion extends QuestionOfAgent {
  kind: "form";
  message: string;
  mode: "form" | "url";
  schema: unknown;
  url: string | null;
  accept(values: Record<string, unknown>): void;
  decline(): void;
  cancel(): void;
}

export type Question = PermissionQuestion | FormQuestion;

export interface Draft {
  text: string;
  attachments: Attachment[];
}

export interface OpenSession {
  readonly summary: Signal<SessionSummary>;
  readonly transcript: Transcript;
  /** Whether its history is still being read; the transcript shows it when it is whole. */
  readonly loading: Signal<boolean>;
  readonly running: Signal<{ by: string | null; since: number } | null>;
  readonly queue: Signal<readonly QueuedPrompt[]>;
  readonly questions: Signal<readonly Question[]>;
  readonly people: Signal<readonly Person[]>;
  readonly you: Signal<Person | null>;
  /** Kept by the browser, by agent and session.  The composer sets it; a prompt does not clear it. */
  readonly draft: Signal<Draft>;
  /** The last thing that failed, as a sentence. */
  readonly problem: Signal<string | null>;

  prompt(blocks: ContentBlock[]): Promise<void>;
  enqueue(blocks: ContentBlock[]): void;
  unqueue(id: string): QueuedPrompt | null;
  stop(): void;
  setMode(id: string): Promise<void>;
  setOption(id: string, value: unknown): Promise<void>;
  rename(title: string): Promise<void>;
  fork(): Promise<OpenSession>;
  /** Leave the view; the session goes on and can be opened again. */
  close(): Promise<void>;
  delete(): Promise<void>;

  invite(
    role: PersonRole,
    seconds?: number,
  ): Promise<{ code: string; expiresAt: string; link: string }>;
  setRole(user: string, role: PersonRole): Promise<void>;
  remove(user: string): Promise<void>;
  tell(event: PresenceEvent): void;

  search(query: string): Promise<{ path: string; kind: "file" | "folder" }[]>;
  read(path: string): Promise<{ text: string; hash: string } | { problem: string }>;
  /** A text of null deletes the file; a hash of null says that there is no such file. */
  write(path: string, text: string | null, expectedHash: string | null): Promise<void>;
}

export interface AccordClient {
  readonly connection: Signal<Connection>;
  readonly agents: Signal<readonly AgentInfo[]>;
  readonly agent: Signal<AgentInfo | null>;
  /** Where new sessions begin unless the user says otherwise; null where the gateway names none. */
  readonly folder: Signal<string | null>;
  readonly sessions: Signal<readonly SessionSummary[]>;
  readonly open: Signal<readonly OpenSession[]>;
  readonly active: Signal<OpenSession | null>;
  /** What failed outside of a session, such as an invitation, as a sentence. */
  readonly problem: Signal<string | null>;
  readonly traffic: { entries: Signal<readonly TrafficEntry[]>; clear(): void };

  chooseAgent(name: string): Promise<void>;
  /** In `folder` where `cwd` is empty. */
  newSession(cwd: string): Promise<OpenSession>;
  openSession(id: string): Promise<OpenSession>;
  join(code: string, sessionId: string): Promise<OpenSession>;
  refreshSessions(more?: boolean): Promise<void>;
  /** By a method of the agent, or into the gateway: `logIn("token", {token})`. */
  logIn(method: string, values?: Record<string, string>): Promise<void>;
  logOut(): Promise<void>;
  reload(): void;
}
