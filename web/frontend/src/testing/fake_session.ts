/** An open session without a server: it plays updates, and notes what it was told. */

import { signal } from "@preact/signals";
import { joinedText, type ContentBlock } from "../transcript/blocks.ts";
import { Transcript } from "../transcript/transcript.ts";
import type {
  Draft,
  FormQuestion,
  OpenSession,
  PermissionQuestion,
  Person,
  PersonRole,
  PresenceEvent,
  Question,
  QueuedPrompt,
  SessionSummary,
} from "../client/types.ts";
import { answerTo } from "./scripts.ts";

const ADA: Person = {
  user: "ada",
  displayName: "Ada",
  role: "admin",
  here: true,
  typing: false,
  focus: true,
};

let ids = 0;
const nextId = (): string => `fake${(ids += 1)}`;

export class FakeSession implements OpenSession {
  readonly summary;
  readonly transcript = new Transcript();
  readonly loading = signal(false);
  readonly running = signal<{ by: string | null; since: number } | null>(null);
  readonly queue = signal<readonly QueuedPrompt[]>([]);
  readonly questions = signal<readonly Question[]>([]);
  readonly people = signal<readonly Person[]>([ADA]);
  readonly you = signal<Person | null>(ADA);
  readonly draft = signal<Draft>({ text: "", attachments: [] });
  readonly problem = signal<string | null>(null);
  /** What was called, for tests: the name of the method and its arguments. */
  readonly calls: [string, ...unknown[]][] = [];
  /** Files for `search` and `read`, by path. */
  readonly files = new Map<string, string>([
    ["basket.py", "def total(items):\n    return sum(items)\n"],
    ["tests/test_basket.py", "def test_total():\n    assert total([4, 6]) == 10\n"],
    ["README.md", "# Shop\n"],
  ]);
  /** Between two updates of an answer; null: `prompt` gets none, the test plays it. */
  paceMs: number | null = null;
  private stopped = false;

  constructor(summary: SessionSummary, updates: readonly unknown[] = []) {
    this.summary = signal(summary);
    this.play(updates);
  }

  /** Take updates as if they came from the agent, and draw them at once. */
  play(updates: readonly unknown[]): void {
    for (const update of updates) this.transcript.apply(update);
    this.transcript.frames.flush();
  }

  /** Ask for permission; the answer is noted in `calls` and the question goes. */
  askPermission(params: Partial<Omit<PermissionQuestion, "kind">> = {}): PermissionQuestion {
    const id = params.id ?? nextId();
    const settle = (...call: [string, ...unknown[]]) => this.settle(id, call);
    const question: PermissionQuestion = {
      kind: "permission",
      id,
      sessionId: this.summary.value.sessionId,
      settledBy: null,
      title: "Run pytest?",
      toolCall: null,
      options: [
        { optionId: "once", name: "Allow once", kind: "allow_once" },
        { optionId: "always", name: "Always allow in this session", kind: "allow_always" },
        { optionId: "no", name: "Reject", kind: "reject_once" },
      ],
      reason: "The tests show whether the change is right.",
      raw: {},
      answer: (optionId) => settle("answer", optionId),
      cancel: () => settle("cancelQuestion"),
      ...params,
    };
    this.questions.value = [...this.questions.value, question];
    return question;
  }

  /** Show a form; the answer is noted in `calls` and the question goes. */
  askForm(params: Partial<Omit<FormQuestion, "kind">> = {}): FormQuestion {
    const id = params.id ?? nextId();
    const settle = (...call: [string, ...unknown[]]) => this.settle(id, call);
    const question: FormQuestion = {
      kind: "form",
      id,
      sessionId: this.summary.value.sessionId,
      settledBy: null,
      message: "Which branch shall be released?",
      mode: "form",
      schema: {
        type: "object",
        properties: {
          branch: { type: "string", title: "Branch", default: "main" },
          dryRun: { type: "boolean", title: "Try it only" },
        },
        required: ["branch"],
      },
      url: null,
      accept: (values) => settle("accept", values),
      decline: () => settle("decline"),
      cancel: () => settle("cancelQuestion"),
      ...params,
    };
    this.questions.value = [...this.questions.value, question];
    return question;
  }

  private settle(id: string, call: [string, ...unknown[]]): void {
    this.calls.push(call);
    this.questions.value = this.questions.value.filter((question) => question.id !== id);
  }

  async prompt(blocks: ContentBlock[]): Promise<void> {
    this.calls.push(["prompt", blocks]);
    this.play([{ sessionUpdate: "user_message", messageId: nextId(), content: blocks }]);
    if (this.paceMs === null) return;
    this.running.value = { by: "ada", since: Date.now() };
    this.stopped = false;
    for (const update of answerTo(joinedText(blocks), nextId())) {
      if (this.stopped) break;
      this.transcript.apply(update);
      await new Promise((resolve) => setTimeout(resolve, this.paceMs ?? 0));
    }
    this.running.value = null;
    const [next, ...rest] = this.queue.value;
    this.queue.value = rest;
    if (next !== undefined) await this.prompt(next.blocks);
  }

  enqueue(blocks: ContentBlock[]): void {
    this.calls.push(["enqueue", blocks]);
    this.queue.value = [...this.queue.value, { id: nextId(), blocks, text: joinedText(blocks) }];
  }

  unqueue(id: string): QueuedPrompt | null {
    this.calls.push(["unqueue", id]);
    const found = this.queue.value.find((prompt) => prompt.id === id) ?? null;
    this.queue.value = this.queue.value.filter((prompt) => prompt !== found);
    return found;
  }

  stop(): void {
    this.calls.push(["stop"]);
    this.stopped = true;
    this.running.value = null;
  }

  async setMode(id: string): Promise<void> {
    this.calls.push(["setMode", id]);
    this.transcript.modeSelected(id);
    this.transcript.frames.flush();
  }

  async setOption(id: string, value: unknown): Promise<void> {
    this.calls.push(["setOption", id, value]);
    this.transcript.optionSelected(id, value);
    this.transcript.frames.flush();
  }

  async rename(title: string): Promise<void> {
    this.calls.push(["rename", title]);
    this.summary.value = { ...this.summary.value, title };
  }

  async fork(): Promise<OpenSession> {
    this.calls.push(["fork"]);
    return new FakeSession({ ...this.summary.value, sessionId: nextId() });
  }

  async close(): Promise<void> {
    this.calls.push(["close"]);
  }

  async delete(): Promise<void> {
    this.calls.push(["delete"]);
  }

  async invite(role: PersonRole, seconds = 86_400) {
    this.calls.push(["invite", role, seconds]);
    const expiresAt = new Date(Date.now() + seconds * 1000).toISOString();
    return { code: "k3y", expiresAt, link: "http://localhost:8080/#join=k3y" };
  }

  async setRole(user: string, role: PersonRole): Promise<void> {
    this.calls.push(["setRole", user, role]);
    this.people.value = this.people.value.map((one) =>
      one.user === user ? { ...one, role } : one,
    );
  }

  async remove(user: string): Promise<void> {
    this.calls.push(["remove", user]);
    this.people.value = this.people.value.filter((person) => person.user !== user);
  }

  tell(event: PresenceEvent): void {
    this.calls.push(["tell", event]);
  }

  async search(query: string): Promise<{ path: string; kind: "file" | "folder" }[]> {
    const found = [...this.files.keys()].filter((path) => path.includes(query));
    return found.map((path) => ({ path, kind: "file" }));
  }

  async read(path: string): Promise<{ text: string; hash: string } | { problem: string }> {
    const text = this.files.get(path);
    return text === undefined
      ? { problem: `There is no file ${path}.` }
      : { text, hash: hashOf(text) };
  }

  async write(path: string, text: string | null, expectedHash: string | null): Promise<void> {
    this.calls.push(["write", path, text, expectedHash]);
    const there = this.files.get(path);
    if ((there === undefined ? null : hashOf(there)) !== expectedHash) {
      throw new Error(`${path} has changed meanwhile. Look at it again before you undo this.`);
    }
    if (text === null) this.files.delete(path);
    else this.files.set(path, text);
  }
}

/** Not a real hash: enough to notice a change. */
function hashOf(text: string): string {
  let hash = 7;
  for (const character of text) hash = (hash * 31 + character.charCodeAt(0)) | 0;
  return `fake:${hash}`;
}
