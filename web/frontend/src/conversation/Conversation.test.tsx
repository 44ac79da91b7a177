import { act, cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeClient } from "../testing/fake_client.ts";
import type { FakeSession } from "../testing/fake_session.ts";
import { base64, chunks } from "../testing/scripts.ts";
import { Conversation } from "./Conversation.tsx";
import { PlanPanel } from "./PlanView.tsx";
import { UsageMeter } from "./UsageMeter.tsx";

let session: FakeSession;

beforeEach(async () => {
  session = await new FakeClient().openSession("s2");
});
afterEach(cleanup);

/** Draw what has changed, and run what follows from it. */
const settled = () => act(async () => {});

async function drawn(updates: readonly unknown[]): Promise<Element> {
  session.play(updates);
  const { container } = render(<Conversation session={session} />);
  await settled();
  return container;
}

const call = (rest: object) => ({
  sessionUpdate: "tool_call_update",
  toolCallId: "c",
  title: "Run it",
  kind: "execute",
  status: "completed",
  ...rest,
});

test("every kind of item of the scripted session is shown", async () => {
  const whole = await new FakeClient().openSession("s1");
  const { container } = render(<Conversation session={whole} />);
  const words = [
    "fails. Please fix it",
    "Thought",
    "Plan",
    "pytest tests/test_basket.py",
    "1 failed",
    "Exit code 1",
    "basket.py",
    "Sub-agent",
    "nearly full",
    "summarised",
    "_acme_weather",
    "one too many",
  ];
  for (const word of words) expect(container.textContent).toContain(word);
});

test("an answer grows with its chunks, and its finished paragraphs stay the same elements", async () => {
  const container = await drawn(chunks("a", ["one\n\n", "two\n\n", "thr"]));
  const first = container.querySelector(".message-agent p");
  session.play(chunks("a", ["ee"]));
  await settled();
  expect([...container.querySelectorAll(".message-agent p")].map((p) => p.textContent)).toEqual([
    "one",
    "two",
    "three",
  ]);
  expect(container.querySelector(".message-agent p")).toBe(first);
});

test("a complete paragraph is said to a screen reader, once", async () => {
  const container = await drawn(chunks("a", ["old answer"]));
  const spoken = container.querySelector("[aria-live=polite].hidden-text")!;
  expect(spoken.textContent).toBe("");
  session.play([
    { sessionUpdate: "state_update", state: "running" },
    ...chunks("b", ["The **first**.\n\nThe sec"]),
  ]);
  await settled();
  expect(spoken.textContent).toBe("The  first .");
  session.play([
    ...chunks("b", ["ond."]),
    { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" },
  ]);
  await settled();
  expect(spoken.textContent!.trim()).toBe("The second.");
});

test("a thought is folded to its first words, and stays unfolded while it grows", async () => {
  const thought = (text: string) => ({
    sessionUpdate: "agent_thought_chunk",
    messageId: "t",
    content: { type: "text", text },
  });
  const container = await drawn([thought("Let me **see**")]);
  const details = container.querySelector("details")!;
  expect(details.open).toBe(false);
  expect(container.querySelector(".folded-preview")!.textContent).toBe("Let me see");
  details.open = true;
  fireEvent(details, new Event("toggle"));
  await settled();
  session.play([thought(" what it is.")]);
  await settled();
  expect(container.querySelector("details")!.open).toBe(true);
  expect(container.querySelector(".thought-text")!.textContent).toContain("what it is.");
});

test("a person who wrote a prompt is named, and one's own prompts are not", async () => {
  const prompt = (user: string, displayName: string) => ({
    sessionUpdate: "user_message",
    messageId: user,
    content: [{ type: "text", text: "hi" }],
    _meta: { "accord.author": { user, displayName } },
  });
  const container = await drawn([prompt("ada", "Ada"), prompt("grace", "Grace")]);
  expect([...container.querySelectorAll(".author")].map((author) => author.textContent)).toEqual([
    "You",
    "Grace",
  ]);
});

test("a terminal is shown in the tool call that names it, wherever it came in the timeline", async () => {
  const output = (text: string) => ({
    sessionUpdate: "terminal_output_chunk",
    terminalId: "t",
    data: base64(text),
  });
  const container = await drawn([
    output("early\n"),
    call({ status: "in_progress", content: [{ type: "terminal", terminalId: "t" }] }),
  ]);
  expect(container.querySelectorAll(".terminal")).toHaveLength(1);
  expect(container.querySelector(".tool-call .terminal")!.textContent).toContain("early");
  session.play([output("late\n")]);
  await settled();
  expect(container.querySelector(".terminal")!.textContent).toContain("late");
});

test("a terminal that no tool call names stands alone", async () => {
  const container = await drawn([
    {
      sessionUpdate: "terminal_update",
      terminalId: "t",
      command: "make",
      exitStatus: { exitCode: 0 },
    },
  ]);
  expect(container.querySelector(".terminal")!.textContent).toContain("Exit code 0, no output");
});

test.each([
  ["pending", "waiting"],
  ["in_progress", "running"],
  ["completed", "done"],
  ["failed", "failed"],
  ["cancelled", "cancelled"],
])("the status %s of a tool call is said as %s", async (status, word) => {
  const container = await drawn([call({ status })]);
  expect(container.querySelector(".tool-call .status")!.textContent).toBe(word);
});

test("a tool call unfolds to its input, places and output", async () => {
  const opened: unknown[] = [];
  session.play([
    call({
      kind: "read",
      rawInput: { path: "/a" },
      rawOutput: "fine",
      locations: [{ path: "/w/a.py", line: 3 }],
      content: [{ type: "content", content: { type: "text", text: "x = 1" } }],
    }),
  ]);
  const { container } = render(
    <Conversation session={session} onShowFile={(...place) => opened.push(place)} />,
  );
  const details = container.querySelector<HTMLDetailsElement>(".tool-call")!;
  details.open = true;
  fireEvent(details, new Event("toggle"));
  await settled();
  for (const words of ["x = 1", "Input", "Output"]) expect(details.textContent).toContain(words);
  fireEvent.click(screen.getByText("/w/a.py:3"));
  expect(opened).toEqual([["/w/a.py", 3]]);
});

test("of 20,000 items only the visible ones exist, and the last one is among them", async () => {
  const updates = Array.from(
    { length: 20_000 },
    (_, index) => chunks(`m${index}`, [`Message ${index}`])[0],
  );
  const container = await drawn(updates);
  const rows = container.querySelectorAll("article");
  expect(rows.length).toBeLessThan(120);
  expect(rows[rows.length - 1]!.textContent).toContain("Message 19999");
  expect(rows[rows.length - 1]!.getAttribute("aria-setsize")).toBe("20000");
});

test("the end of the turn says why the agent stopped, if not because it was done", async () => {
  const state = (stopReason: string) => ({
    sessionUpdate: "state_update",
    state: "idle",
    stopReason,
  });
  const container = await drawn([
    { sessionUpdate: "state_update", state: "running" },
    state("max_tokens"),
  ]);
  expect(container.querySelector(".turn-state")!.textContent).toContain("limit of tokens");
  session.running.value = { by: null, since: Date.now() };
  await settled();
  expect(container.querySelector(".turn-state")!.textContent).toContain("Working");
  session.askPermission();
  await settled();
  expect(container.querySelector(".turn-state")!.textContent).toContain("Waiting for your answer");
});

const EVIL =
  "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>\u202e javascript:window.hacked=1";

test("hostile words in every field stay words", async () => {
  const content = [{ type: "text", text: EVIL }];
  const container = await drawn([
    {
      sessionUpdate: "user_message",
      messageId: EVIL,
      content,
      _meta: { "accord.author": { user: EVIL, displayName: EVIL } },
    },
    {
      sessionUpdate: "agent_message",
      messageId: EVIL,
      content: [
        ...content,
        { type: EVIL },
        {
          type: "resource_link",
          name: EVIL,
          uri: EVIL,
          title: EVIL,
          description: EVIL,
          mimeType: EVIL,
        },
      ],
    },
    { sessionUpdate: "agent_thought", messageId: EVIL, content },
    call({
      toolCallId: EVIL,
      title: EVIL,
      kind: EVIL,
      status: "failed",
      rawInput: { [EVIL]: EVIL },
      rawOutput: EVIL,
      locations: [{ path: EVIL }],
      content: [
        { type: "content", content: content[0] },
        { type: EVIL },
        { type: "terminal", terminalId: EVIL },
        { type: "diff", path: EVIL, oldText: EVIL, newText: `${EVIL}\n` },
      ],
    }),
    { sessionUpdate: "terminal_update", terminalId: EVIL, command: EVIL, cwd: EVIL },
    { sessionUpdate: "terminal_update", terminalId: "alone", command: EVIL, cwd: EVIL },
    {
      sessionUpdate: "plan_update",
      plan: {
        type: "items",
        planId: EVIL,
        entries: [{ content: EVIL, priority: EVIL, status: EVIL }],
      },
    },
    { sessionUpdate: "plan_update", plan: { type: "markdown", planId: "m", content: EVIL } },
    { sessionUpdate: "plan_update", plan: { type: "file", planId: "f", uri: EVIL } },
    { sessionUpdate: "notice", severity: EVIL, title: EVIL, description: EVIL },
    { sessionUpdate: "compaction_update", compactionId: EVIL, status: EVIL, error: EVIL },
    { sessionUpdate: "subagent_update", sessionId: EVIL, title: EVIL, description: EVIL },
    { sessionUpdate: EVIL, value: EVIL },
    { sessionUpdate: "state_update", state: "idle", stopReason: EVIL },
  ]);
  expect(container.querySelector("script, img, iframe, a[href^=javascript]")).toBeNull();
  for (const element of container.querySelectorAll("*")) {
    for (const { name } of element.attributes) expect(name).not.toMatch(/^on/);
  }
  expect((window as { hacked?: number }).hacked).toBeUndefined();
  for (const place of container.querySelectorAll(".tool-title, .path, .terminal-command"))
    expect(place.textContent).not.toContain("\u202e");
});

test("words are found in rows that are not drawn, from the last one to the first", async () => {
  const updates = Array.from(
    { length: 400 },
    (_, index) =>
      chunks(`m${index}`, [index % 100 === 7 ? `A Needle ${index}` : `Message ${index}`])[0],
  );
  await drawn(updates);
  fireEvent.keyDown(document.body, { key: "f", ctrlKey: true });
  const field = await screen.findByLabelText("Words to find");
  await settled();
  expect(document.activeElement).toBe(field);
  fireEvent.input(field, { target: { value: "needle" } });
  await settled();
  const status = () => field.parentElement!.querySelector("[role=status]")!.textContent;
  expect(status()).toBe("4 of 4");
  fireEvent.keyDown(field, { key: "Enter" });
  await settled();
  expect(status()).toBe("3 of 4");
  fireEvent.input(field, { target: { value: "no such words" } });
  await settled();
  expect(status()).toBe("nothing found");
  fireEvent.keyDown(field, { key: "Escape" });
  await settled();
  expect(screen.queryByLabelText("Words to find")).toBeNull();
});

test("the panel of the plan shows what is done now, and goes when all is done", async () => {
  const plan = (...states: string[]) => ({
    sessionUpdate: "plan_update",
    plan: {
      type: "items",
      planId: "p",
      entries: states.map((status, index) => ({
        content: `Step ${index}`,
        priority: "low",
        status,
      })),
    },
  });
  session.play([plan("completed", "in_progress", "pending")]);
  const { container } = render(<PlanPanel transcript={session.transcript} />);
  expect(container.querySelector("summary")!.textContent).toBe("Step 11 of 3");
  session.play([plan("completed", "completed", "completed")]);
  await settled();
  expect(container.textContent).toBe("");
});

test("the meter shows how full the context is, and the cost in any unit", async () => {
  session.play([
    {
      sessionUpdate: "usage_update",
      used: 180_000,
      size: 200_000,
      cost: { amount: 3, currency: "credits" },
    },
  ]);
  const { container } = render(<UsageMeter transcript={session.transcript} />);
  expect(container.textContent).toBe("90%3.00 credits");
  expect(container.querySelector(".usage-full")).not.toBeNull();
  session.play([
    {
      sessionUpdate: "usage_update",
      used: 10,
      size: 100,
      cost: { amount: 0.0123, currency: "USD" },
    },
  ]);
  await settled();
  expect(container.textContent).toBe("10%$0.0123");
});
