// @vitest-environment node
import { effect } from "@preact/signals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { OpenSession, PermissionQuestion } from "../src/client/types.ts";
import { BrowserOf, GatewayProcess, HAS_PYTHON, TOKENS } from "./gateway_process.ts";

const gateway = new GatewayProcess("fixer_agent.py:agent");
const browsers: BrowserOf[] = [];

beforeAll(async () => {
  if (HAS_PYTHON) await gateway.start();
});
beforeEach(() => gateway.write("greeting.py", 'print("Hello")\n'));
afterEach(() => {
  for (const { client } of browsers.splice(0)) client.close();
});
afterAll(() => gateway.end());

/** Wait until it is so; signals say when to look again. */
async function until<T>(look: () => T | null | undefined | false): Promise<T> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      const found = look();
      if (found)
        queueMicrotask(() => {
          stop();
          resolve(found);
        });
    });
  });
}

async function page(token = TOKENS.ada): Promise<BrowserOf> {
  const browser = new BrowserOf(gateway);
  browsers.push(browser);
  await browser.client.start(token);
  await until(() => browser.client.connection.value.state === "open");
  return browser;
}

const permission = (session: OpenSession) =>
  until(() => session.questions.value[0] as PermissionQuestion | undefined);
const optionOf = (question: PermissionQuestion, kind: string) =>
  question.options.find((option) => option.kind === kind)?.optionId ?? "";
/** Answer everything that is asked from now on. */
const answerAll = (session: OpenSession, kind: string) =>
  effect(() => {
    const question = session.questions.value[0] as PermissionQuestion | undefined;
    if (question !== undefined) queueMicrotask(() => question.answer(optionOf(question, kind)));
  });
const idle = (session: OpenSession, completions: number) =>
  until(() => session.transcript.state.value.completions === completions);
const lastText = (session: OpenSession) =>
  session.transcript.timeline.value.findLast((item) => item.kind === "message")?.text;

test.runIf(HAS_PYTHON)(
  "whoever is not logged in is asked to, and a wrong token is refused",
  async () => {
    const browser = new BrowserOf(gateway);
    browsers.push(browser);
    await browser.client.start();
    expect(browser.client.connection.value).toMatchObject({ state: "refused", canLogIn: true });
    await expect(browser.client.logIn("token", { token: "wrong" })).rejects.toThrow("refused");
    await browser.client.logIn("token", { token: TOKENS.ada });
    await until(() => browser.client.connection.value.state === "open");
  },
);

test.runIf(HAS_PYTHON)(
  "a prompt, its permission and its changes are shown, also to who opens it later",
  async () => {
    const { client } = await page();
    const session = await client.newSession(gateway.folder);
    await session.prompt([{ type: "text", text: "Change the greeting" }]);
    const question = await permission(session);
    expect(question.toolCall?.diffs[0]).toMatchObject({
      path: join(gateway.folder, "greeting.py"),
    });
    expect(session.running.value).not.toBeNull();
    answerAll(session, "allow_once");
    await idle(session, 1);
    expect(lastText(session)).toContain("changed=True exit=0 output=Goodbye");
    expect(session.transcript.plan?.entries.map((entry) => entry.status)).toEqual(
      Array(3).fill("completed"),
    );
    expect(session.running.value).toBeNull();
    expect(session.you.value?.role).toBe("admin");
    expect(readFileSync(join(gateway.folder, "greeting.py"), "utf8")).toContain("Goodbye");

    const other = await page();
    await until(() =>
      other.client.sessions.value.some((one) => one.sessionId === session.summary.value.sessionId),
    );
    const again = await other.client.openSession(session.summary.value.sessionId);
    const shown = (one: OpenSession) =>
      one.transcript.timeline.value.map((item) => [item.kind, "text" in item ? item.text : null]);
    expect(shown(again)).toEqual(shown(session));
  },
);

test.runIf(HAS_PYTHON)("cut in mid-turn, it comes back and nothing is missing", async () => {
  const browser = await page();
  const session = await browser.client.newSession(gateway.folder);
  const prompt = session.prompt([{ type: "text", text: "Change the greeting" }]);
  browser.cut();
  await prompt;
  const question = await permission(session);
  browser.cut();
  await until(() => browser.client.connection.value.state === "waiting");
  question.answer(optionOf(question, "reject_once"));
  answerAll(session, "reject_once");
  await until(() => browser.client.connection.value.state === "open");
  await idle(session, 1);
  expect(lastText(session)).toContain("changed=False");
  expect(browser.sockets.length).toBeGreaterThanOrEqual(3);
  const prompts = session.transcript.timeline.value.filter(
    (item) => item.kind === "message" && item.role === "user",
  );
  expect(prompts).toHaveLength(1);
});

test.runIf(HAS_PYTHON)("after a restart of the gateway, a login brings all back", async () => {
  const { client } = await page();
  const session = await client.newSession(gateway.folder);
  await session.prompt([{ type: "text", text: "Change the greeting" }]);
  await permission(session);
  answerAll(session, "reject_once");
  await idle(session, 1);
  const before = lastText(session);
  await gateway.kill();
  await until(() => client.connection.value.state === "waiting");
  await gateway.start();
  await until(() => client.connection.value.state === "refused");
  await client.logIn("token", { token: TOKENS.ada });
  await until(() => client.connection.value.state === "open" && !session.loading.value);
  expect(lastText(session)).toBe(before);
  const next = await client.newSession(gateway.folder);
  answerAll(next, "reject_once");
  await next.prompt([{ type: "text", text: "Change the greeting" }]);
  await idle(next, 1);
});

test.runIf(HAS_PYTHON)(
  "who is invited sees the session and who else is there, and may do what the role says",
  async () => {
    const [ada, adaElsewhere, bob] = [await page(), await page(), await page(TOKENS.bob)];
    const session = await ada.client.newSession(gateway.folder);
    const { sessionId } = session.summary.value;
    const { code, link } = await session.invite("viewer");
    expect(link).toContain(`#join=${code}&session=${sessionId}`);
    const watched = await bob.client.join(code, sessionId);
    expect(watched.you.value?.role ?? (await until(() => watched.you.value?.role))).toBe("viewer");
    await until(() => session.people.value.some((one) => one.user === "bob" && one.here));
    await expect(watched.prompt([{ type: "text", text: "x" }])).rejects.toThrow("Your role here");
    watched.tell("typing");
    await until(() => session.people.value.some((one) => one.user === "bob" && one.typing));

    await adaElsewhere.client.refreshSessions();
    const second = await adaElsewhere.client.openSession(sessionId);
    await session.prompt([{ type: "text", text: "Change the greeting" }]);
    await permission(second);
    (await permission(session)).cancel();
    await until(() => second.questions.value[0]?.settledBy);
    answerAll(second, "reject_once");
    await idle(watched, 1);
    const prompt = watched.transcript.timeline.value[0];
    expect(prompt?.kind === "message" && prompt.meta["accord.author"]).toMatchObject({
      user: "ada",
    });
    await session.remove("bob");
    await until(() => watched.problem.value);
    await session.delete();
    await until(() => ada.client.open.value.length === 0);
  },
);
