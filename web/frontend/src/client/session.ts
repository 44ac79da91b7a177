/** One session that is open on the page.
 *
 * What always holds
 *   - A prompt is shown the moment it is sent, and taken back when the agent refuses it.
 *   - Of the queue, one prompt at a time is sent, when the session is known to be idle; after a
 *     stop it waits until the user sends something.
 */

import { effect, signal, type Signal } from "@preact/signals";
import { joinedText } from "../transcript/blocks.ts";
import type { ContentBlock } from "../transcript/items.ts";
import { FrameBatch } from "../transcript/frame.ts";
import { Transcript } from "../transcript/transcript.ts";
import { CANCELLED, RpcError, type Incoming } from "../wire/rpc.ts";
import type { AgentLink } from "./agent_link.ts";
import { DraftStore } from "./draft_store.ts";
import { NOT_FOUND, sentenceOf } from "./sentences.ts";
import { SessionFiles, type FoundFile, type ReadFile } from "./session_files.ts";
import { SessionPeople } from "./session_people.ts";
import { SessionQuestions } from "./session_questions.ts";
import type {
  Draft,
  OpenSession,
  PersonRole,
  PresenceEvent,
  QueuedPrompt,
  SessionSummary,
} from "./types.ts";

export interface SessionOwner {
  storage: Storage | null;
  /** The address of the page. */
  pageAddress: string;
  changed(session: Session): void;
  left(session: Session, isDeleted: boolean): void;
  opened(sessionId: string, cwd: string, answer: unknown): OpenSession;
  failed(error: unknown): void;
}

const KEEP_MS = 300;
const TITLE_CHARS_MAX = 80;

export class Session implements OpenSession {
  readonly summary: Signal<SessionSummary>;
  readonly transcript: Transcript;
  readonly loading = signal(false);
  readonly running = signal<{ by: string | null; since: number } | null>(null);
  readonly queue = signal<readonly QueuedPrompt[]>([]);
  readonly draft: Signal<Draft>;
  readonly problem = signal<string | null>(null);
  private readonly asked: SessionQuestions;
  private readonly who = new SessionPeople();
  private readonly files: SessionFiles;
  private readonly store: DraftStore;
  private stopKeeping = () => {};
  private keepTimer: ReturnType<typeof setTimeout> | undefined;
  private unanswered = 0;
  private isHeld = false;
  private told: PresenceEvent | null = null;
  private nextQueued = 1;

  constructor(
    summary: SessionSummary,
    private readonly link: AgentLink,
    private readonly owner: SessionOwner,
  ) {
    this.summary = signal(summary);
    this.transcript = new Transcript(new FrameBatch(), () =>
      this.loading.value ? undefined : Date.now(),
    );
    this.asked = new SessionQuestions(summary.sessionId, this.transcript);
    this.files = new SessionFiles(link, summary.sessionId);
    this.store = new DraftStore(
      `accord.draft.${summary.agent}.${summary.sessionId}`,
      owner.storage,
    );
    const kept = this.store.read();
    this.draft = signal({ text: kept.text, attachments: kept.attachments });
    this.queue.value = kept.queue;
    // What was queued before a reload is not sent without the user.
    this.isHeld = kept.queue.length > 0;
    this.nextQueued += kept.queue.length;
    this.keepTyped();
  }

  /** Keep what is typed from now on. */
  keepTyped(): void {
    this.stopKeeping();
    this.stopKeeping = effect(() => {
      void this.draft.value;
      void this.queue.value;
      this.keepTimer ??= setTimeout(() => this.keep(), KEEP_MS);
    });
  }

  get id(): string {
    return this.summary.value.sessionId;
  }

  get questions() {
    return this.asked.questions;
  }

  get people() {
    return this.who.people;
  }

  get you() {
    return this.who.you;
  }

  /** Keep the draft now: the page may go. */
  keep(): void {
    clearTimeout(this.keepTimer);
    this.keepTimer = undefined;
    this.store.write(this.draft.value, this.queue.value);
  }

  // What the connection brings

  /** Read the whole history, as after a gap. */
  async load(): Promise<void> {
    this.loading.value = true;
    this.asked.clear();
    this.transcript.readHistory();
    const { sessionId, cwd } = this.summary.value;
    const replayFrom = { type: "start" };
    try {
      const params = { sessionId, cwd, mcpServers: [], replayFrom };
      const answer = await this.link.call("session/resume", params);
      this.transcript.sessionSetup("ResumeSessionResponse", answer);
      this.told = null;
    } catch (error) {
      this.problem.value = sentenceOf(error);
      throw error;
    } finally {
      this.loading.value = false;
      this.transcript.historyRead();
      this.nameAfter(this.transcript.firstPrompt);
      this.stateChanged();
    }
    void this.readMembers();
  }

  async readMembers(): Promise<void> {
    if (!this.link.offers("_accord.session/members")) return;
    try {
      this.who.take(await this.link.call("_accord.session/members", { sessionId: this.id }));
    } catch {
      // It is shown without them.
    }
  }

  update(update: unknown): void {
    this.transcript.apply(update);
    const tag = (update as { sessionUpdate?: unknown } | null)?.sessionUpdate;
    if (tag === "state_update") this.stateChanged();
    if (tag === "session_info_update") this.infoChanged(update as Record<string, unknown>);
  }

  ask(request: Incoming): void {
    this.asked.ask(request);
  }

  /** Take a notification of the gateway about this session. */
  notified(method: string, params: unknown): void {
    if (method === "_accord.session/members") this.who.take(params);
    if (method === "_accord.session/presence") this.who.presence(params);
    if (method === "_accord.session/settled") this.asked.settled(this.nameIn(params));
    if (method === "_accord.session/closed") this.ended((params as { reason?: unknown }).reason);
  }

  /** Who did what a notification tells; null where nobody did. */
  private nameIn(params: unknown): string | null {
    const { by } = params as { by?: unknown };
    if (typeof by !== "string" || by === "") return null;
    return this.people.value.find((person) => person.user === by)?.displayName ?? by;
  }

  /** An agent that gives its sessions no title leaves a list of blanks; this is better. */
  private nameAfter(prompt: string): void {
    const line = prompt.trim().split("\n", 1)[0] ?? "";
    if (this.summary.value.title !== "" || line === "") return;
    const title = line.length > TITLE_CHARS_MAX ? `${line.slice(0, TITLE_CHARS_MAX - 1)}…` : line;
    this.summary.value = { ...this.summary.value, title };
    this.owner.changed(this);
  }

  private ended(reason: unknown): void {
    const why: Record<string, string> = {
      closed: "The session was closed. Open it again to go on.",
      deleted: "The session was deleted.",
      removed: "You were removed from this session.",
      failed: "The session failed. Open it again to go on.",
    };
    this.problem.value = why[String(reason)] ?? "The session has ended.";
    this.running.value = null;
    this.asked.clear();
  }

  private infoChanged(update: Record<string, unknown>): void {
    const { title, updatedAt } = update;
    const before = this.summary.value;
    this.summary.value = {
      ...before,
      title: title === undefined ? before.title : typeof title === "string" ? title : "",
      updatedAt: typeof updatedAt === "string" ? updatedAt : before.updatedAt,
    };
    this.owner.changed(this);
  }

  private stateChanged(): void {
    const state = this.transcript.stateNow;
    const isIdle = state.confirmed === "idle" || state.reported === null;
    if (!isIdle) {
      this.running.value ??= { by: this.authorOfLast(), since: Date.now() };
      return;
    }
    if (state.stopReason === "cancelled") {
      for (const call of this.transcript.turnCancelled()) call.endCancelled();
    }
    this.running.value = null;
    this.sendQueued();
  }

  private authorOfLast(): string | null {
    return this.transcript.authorOfLastPrompt ?? this.you.value?.displayName ?? null;
  }

  // What the user does

  async prompt(blocks: ContentBlock[]): Promise<void> {
    this.isHeld = false;
    this.problem.value = null;
    if (this.running.value === null) this.transcript.turnStarted();
    const message = this.transcript.promptSent(blocks);
    this.unanswered += 1;
    try {
      const params = { sessionId: this.id, prompt: blocks };
      const answer = await this.link.call<{ messageId?: unknown }>("session/prompt", params);
      this.nameAfter(message.text);
      if (typeof answer?.messageId === "string") {
        this.transcript.promptInserted(message, answer.messageId);
      }
    } catch (error) {
      this.transcript.promptRejected(message);
      const isWithdrawn = error instanceof RpcError && error.code === CANCELLED;
      if (!isWithdrawn) this.report(error);
      throw new Error(isWithdrawn ? "The prompt was taken back." : sentenceOf(error));
    } finally {
      this.unanswered -= 1;
    }
  }

  enqueue(blocks: ContentBlock[]): void {
    const id = `queued${this.nextQueued}`;
    this.nextQueued += 1;
    this.queue.value = [...this.queue.value, { id, blocks, text: joinedText(blocks) }];
    this.isHeld = false;
    this.sendQueued();
  }

  unqueue(id: string): QueuedPrompt | null {
    const found = this.queue.value.find((prompt) => prompt.id === id) ?? null;
    this.queue.value = this.queue.value.filter((prompt) => prompt !== found);
    return found;
  }

  private sendQueued(): void {
    const isBusy = this.running.value !== null || this.unanswered > 0 || this.loading.value;
    const [next, ...rest] = this.queue.value;
    if (isBusy || this.isHeld || next === undefined) return;
    this.queue.value = rest;
    this.prompt(next.blocks).catch(() => {
      // What could not be sent stays, and the next attempt is the user's.
      this.isHeld = true;
      this.queue.value = [next, ...this.queue.value];
    });
  }

  stop(): void {
    this.isHeld = this.queue.value.length > 0;
    this.link.notify("session/cancel", { sessionId: this.id });
    this.transcript.turnCancelled();
  }

  async setMode(id: string): Promise<void> {
    const options = this.transcript.configOptionsNow;
    const option = options.find((one) => one.category === "mode" && one.choices.length > 0);
    if (option === undefined) throw new Error("This agent has no modes.");
    await this.setOption(option.optionId, id);
  }

  async setOption(id: string, value: unknown): Promise<void> {
    const type = typeof value === "boolean" ? "boolean" : "id";
    const params = { sessionId: this.id, configId: id, type, value };
    const answer = await this.try(this.link.call("session/set_config_option", params));
    this.transcript.optionSelected(id, value);
    this.transcript.sessionSetup("SetSessionConfigOptionResponse", answer);
  }

  async rename(title: string): Promise<void> {
    const isOfGateway = this.link.offers("_accord.session/rename");
    const method = isOfGateway ? "_accord.session/rename" : "session/set_title";
    const call = this.link.call<{ title?: unknown }>(method, { sessionId: this.id, title });
    const answer = await this.try(call);
    const stored = typeof answer?.title === "string" ? answer.title : title;
    this.summary.value = { ...this.summary.value, title: stored };
    this.owner.changed(this);
  }

  async fork(): Promise<OpenSession> {
    const { cwd } = this.summary.value;
    const params = { sessionId: this.id, cwd, mcpServers: [] };
    const answer = await this.try(this.link.call<{ sessionId: string }>("session/fork", params));
    return this.owner.opened(answer.sessionId, cwd, answer);
  }

  async close(): Promise<void> {
    this.leave(false);
  }

  async delete(): Promise<void> {
    await this.link.call("session/delete", { sessionId: this.id }).catch((error: unknown) => {
      if (!(error instanceof RpcError && error.code === NOT_FOUND)) throw this.report(error);
    });
    this.leave(true);
  }

  private leave(isDeleted: boolean): void {
    if (isDeleted) {
      this.draft.value = { text: "", attachments: [] };
      this.queue.value = [];
    }
    this.keep();
    this.stopKeeping();
    this.owner.left(this, isDeleted);
  }

  // Together

  async invite(role: PersonRole, seconds?: number) {
    const params = { sessionId: this.id, role, ...(seconds === undefined ? {} : { seconds }) };
    const call = this.link.call<{ code: string; expiresAt: string }>(
      "_accord.session/invite",
      params,
    );
    const { code, expiresAt } = await this.try(call);
    const { agent } = this.summary.value;
    const fragment = new URLSearchParams({ join: code, session: this.id, agent });
    return { code, expiresAt, link: `${this.owner.pageAddress}#${fragment}` };
  }

  async setRole(user: string, role: PersonRole): Promise<void> {
    const params = { sessionId: this.id, user, role };
    this.who.take(await this.try(this.link.call("_accord.session/set_role", params)));
  }

  async remove(user: string): Promise<void> {
    const params = { sessionId: this.id, user };
    this.who.take(await this.try(this.link.call("_accord.session/remove", params)));
  }

  tell(event: PresenceEvent): void {
    if (event === this.told || !this.link.offers("_accord.session/presence")) return;
    this.told = event;
    this.link.notify("_accord.session/presence", { sessionId: this.id, event });
  }

  // Files of the session

  search(query: string): Promise<FoundFile[]> {
    return this.files.search(query);
  }

  read(path: string): Promise<ReadFile> {
    return this.files.read(path);
  }

  write(path: string, text: string | null, expectedHash: string | null): Promise<void> {
    return this.files.write(path, text, expectedHash);
  }

  private async try<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw this.report(error);
    }
  }

  private report(error: unknown): Error {
    this.problem.value = sentenceOf(error);
    this.owner.failed(error);
    return new Error(this.problem.value);
  }
}
