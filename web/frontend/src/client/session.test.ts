import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RpcError, type Incoming } from "../wire/rpc.ts";
import type { AgentLink } from "./agent_link.ts";
import { Session, type SessionOwner } from "./session.ts";
import type { PermissionQuestion, QueuedPrompt } from "./types.ts";

interface Call {
  method: string;
  params: Record<string, unknown>;
  answer(result: unknown): Promise<void>;
  fail(error: Error): Promise<void>;
}

class FakeLink implements AgentLink {
  readonly calls: Call[] = [];
  readonly notified: [string, object][] = [];
  offered = new Set(["_accord.session/presence"]);

  call<T>(method: string, params: object): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // One round of the queue later, whoever waited for the answer has done its work.
      const settled = () => new Promise<void>((done) => setTimeout(done));
      this.calls.push({
        method,
        params: params as Record<string, unknown>,
        answer: (result) => (resolve(result as T), settled()),
        fail: (error) => (reject(error), settled()),
      });
    });
  }

  notify(method: string, params: object): void {
    this.notified.push([method, params]);
  }

  offers(method: string): boolean {
    return this.offered.has(method);
  }

  get last(): Call {
    return this.calls.at(-1) as Call;
  }
}

const SUMMARY = { sessionId: "s", agent: "a", cwd: "/w", title: "", updatedAt: null, owner: null };
const say = (text: string) => [{ type: "text" as const, text }];

function opened() {
  const link = new FakeLink();
  const left: boolean[] = [];
  const owner: SessionOwner = {
    storage: localStorage,
    pageAddress: "http://localhost:8087/",
    changed: () => {},
    left: (_session, isDeleted) => left.push(isDeleted),
    opened: () => {
      throw new Error("nothing is forked here");
    },
    failed: () => {},
  };
  const session = new Session(SUMMARY, link, owner);
  session.transcript.sessionSetup("NewSessionResponse", { sessionId: "s" });
  const state = (word: string, more: object = {}) =>
    session.update({ sessionUpdate: "state_update", state: word, ...more });
  return { session, link, owner, left, state };
}

function textsOf(session: Session): string[] {
  session.transcript.frames.flush();
  return session.transcript.timeline.value.flatMap((item) =>
    item.kind === "message" ? [item.text] : [],
  );
}

beforeEach(() => localStorage.clear());
afterEach(() => {
  vi.useRealTimers();
});

test("a prompt is shown at once, and is its own echo", async () => {
  const { session, link } = opened();
  const prompt = session.prompt(say("hello"));
  expect(textsOf(session)).toEqual(["hello"]);
  session.update({ sessionUpdate: "user_message", messageId: "m", content: say("hello") });
  await link.last.answer({ messageId: "m" });
  await prompt;
  expect(textsOf(session)).toEqual(["hello"]);
});

test("a session without a title is named after its first prompt, until the agent names it", async () => {
  const { session, link } = opened();
  const prompt = session.prompt(say("Fix the bug\nin total()"));
  await link.last.answer({ messageId: "m" });
  await prompt;
  expect(session.summary.value.title).toBe("Fix the bug");
  session.update({ sessionUpdate: "session_info_update", title: "The bug" });
  expect(session.summary.value.title).toBe("The bug");
});

test("a prompt that is refused is taken back, and the problem is said", async () => {
  const { session, link } = opened();
  const prompt = session.prompt(say("hello")).catch((error: Error) => error.message);
  const data = { role: "viewer", needed: "editor" };
  await link.last.fail(new RpcError("session/prompt", -32052, "role", data));
  expect(await prompt).toBe(
    "Your role here is viewer; this needs an editor. Ask an admin of the session.",
  );
  expect(session.problem.value).toBe(await prompt);
  expect(textsOf(session)).toEqual([]);
});

test("queued prompts go one by one, each when the session is idle", async () => {
  const { session, link, state } = opened();
  state("running");
  session.enqueue(say("first"));
  session.enqueue(say("second"));
  expect(link.calls).toHaveLength(0);
  state("idle", { stopReason: "end_turn" });
  expect(link.last.params["prompt"]).toEqual(say("first"));
  await link.last.answer({ messageId: "m1" });
  state("running");
  expect(link.calls).toHaveLength(1);
  state("idle", { stopReason: "end_turn" });
  expect(link.last.params["prompt"]).toEqual(say("second"));
  expect(session.queue.value).toEqual([]);
});

test("after a stop the queue waits until the user goes on", () => {
  const { session, link, state } = opened();
  state("running");
  session.enqueue(say("next"));
  session.stop();
  state("idle", { stopReason: "cancelled" });
  expect(link.notified).toEqual([["session/cancel", { sessionId: "s" }]]);
  expect(link.calls).toHaveLength(0);
  expect(session.queue.value.map((one: QueuedPrompt) => one.text)).toEqual(["next"]);
  session.enqueue(say("go on"));
  expect(link.last.params["prompt"]).toEqual(say("next"));
});

test("a queued prompt that cannot be sent stays in the queue", async () => {
  const { session, link } = opened();
  session.enqueue(say("next"));
  await link.last.fail(new Error("no network"));
  expect(session.queue.value.map((one: QueuedPrompt) => one.text)).toEqual(["next"]);
  expect(link.calls).toHaveLength(1);
});

test("a stop ends the tool calls of the turn", () => {
  const { session, state } = opened();
  state("running");
  session.update({ sessionUpdate: "tool_call_update", toolCallId: "c", status: "in_progress" });
  session.stop();
  state("idle", { stopReason: "cancelled" });
  expect(session.transcript.toolCall("c")?.status).toBe("cancelled");
  expect(session.running.value).toBeNull();
});

test("what was typed and queued is there after a reload, and is not sent by itself", () => {
  vi.useFakeTimers();
  const { session, link, owner, state } = opened();
  state("running");
  const block = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
  const picture = {
    id: "p",
    name: "p.png",
    mimeType: "image/png",
    size: 3,
    block,
    preview: "blob:x",
  };
  session.draft.value = { text: "half a sent", attachments: [picture] };
  session.enqueue(say("queued"));
  vi.advanceTimersByTime(1_000);
  const again = new Session(SUMMARY, link, owner);
  again.update({ sessionUpdate: "state_update", state: "idle" });
  expect(again.draft.value.text).toBe("half a sent");
  expect(again.draft.value.attachments[0]?.preview).toBe("data:image/png;base64,AAAA");
  expect(again.queue.value).toHaveLength(1);
  expect(link.calls).toHaveLength(0);
});

test("a permission is asked with its tool call, answered once, and goes when it is withdrawn", () => {
  const { session } = opened();
  const answers: unknown[] = [];
  const request = (id: number): Incoming => ({
    id,
    method: "session/request_permission",
    params: {
      sessionId: "s",
      title: "May I?",
      description: "Because.",
      subject: { type: "tool_call", toolCall: { toolCallId: "c", title: "Edit", kind: "edit" } },
      options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
    },
    answer: (result) => answers.push(result),
    refuse: (code) => answers.push(code),
    withdrawn: null,
  });
  const second = request(2);
  session.ask(request(1));
  session.ask(second);
  session.ask({ ...request(3), params: { sessionId: "s" } });
  const question = session.questions.value[0] as PermissionQuestion;
  expect([question.title, question.reason, question.toolCall?.title]).toEqual([
    "May I?",
    "Because.",
    "Edit",
  ]);
  question.answer("yes");
  second.withdrawn?.();
  expect(session.questions.value).toEqual([]);
  session.notified("_accord.session/settled", { request: 9, by: "grace", outcome: "answered" });
  expect(session.questions.value.map((one) => one.settledBy)).toEqual(["grace"]);
  session.notified("_accord.session/settled", { request: 8, by: "ada", outcome: "answered" });
  expect(session.questions.value).toHaveLength(1);
  expect(answers).toEqual([-32602, { outcome: { outcome: "selected", optionId: "yes" } }]);
});

test("people come, type and go", () => {
  const { session, link } = opened();
  const ada = { user: "ada", displayName: "Ada", role: "admin", here: true };
  session.notified("_accord.session/members", { sessionId: "s", members: [ada] });
  const tell = (event: string) =>
    session.notified("_accord.session/presence", {
      user: "bob",
      displayName: "Bob",
      role: "viewer",
      event,
    });
  tell("join");
  tell("typing");
  expect(session.people.value.map((one) => [one.user, one.here, one.typing])).toEqual([
    ["ada", true, false],
    ["bob", true, true],
  ]);
  tell("leave");
  expect(session.people.value[1]).toMatchObject({ here: false, typing: false });
  session.tell("typing");
  session.tell("typing");
  expect(link.notified).toHaveLength(1);
});

test("an invitation is a link to this session of this agent", async () => {
  const { session, link } = opened();
  const invited = session.invite("viewer");
  await link.last.answer({ code: "k/y", expiresAt: "2026-11-20T00:00:00Z" });
  expect((await invited).link).toBe("http://localhost:8087/#join=k%2Fy&session=s&agent=a");
});

test("what is not there any more counts as deleted", async () => {
  const { session, link, left } = opened();
  const deleted = session.delete();
  await link.last.fail(new RpcError("session/delete", -32002, "no session", null));
  await deleted;
  expect(left).toEqual([true]);
});
