import { cleanup, fireEvent, render, screen, within } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ToolCall } from "../transcript/items.ts";
import type { FakeSession } from "../testing/fake_session.ts";
import { FakeClient } from "../testing/fake_client.ts";
import { Grants } from "./grants.ts";
import { QUIET_MS } from "./key_guard.ts";
import { QuestionQueue } from "./QuestionQueue.tsx";

let session: FakeSession;
let grants: Grants;
const onLeave = vi.fn();

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout", "Date"] });
  localStorage.clear();
  onLeave.mockClear();
  session = await new FakeClient().openSession("s2");
  grants = new Grants();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const show = () =>
  render(
    <>
      <QuestionQueue session={session} agent="Accord" grants={grants} onLeave={onLeave} />
      <textarea aria-label="Prompt" />
    </>,
  );
const panel = () => document.querySelector<HTMLElement>(".questions > section")!;
const wait = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);
const answers = () => session.calls.filter(([name]) => name === "answer").map(([, optionId]) => optionId);

describe("a permission request", () => {
  it("is answered by its key when the panel has the focus", async () => {
    session.askPermission();
    show();
    await wait(QUIET_MS);
    panel().focus();
    fireEvent.keyDown(panel(), { key: "3" });
    expect(answers()).toEqual(["no"]);
  });

  it("is not answered by a key elsewhere", async () => {
    session.askPermission();
    show();
    await wait(QUIET_MS);
    for (const key of ["1", "Enter", " ", "y"]) fireEvent.keyDown(screen.getByLabelText("Prompt"), { key });
    for (const key of ["1", "Enter"]) fireEvent.keyDown(document.body, { key });
    expect(answers()).toEqual([]);
  });

  it("is not answered in its first moment, neither by a key nor by a click", async () => {
    session.askPermission();
    show();
    panel().focus();
    await wait(QUIET_MS - 1);
    fireEvent.keyDown(panel(), { key: "1" });
    fireEvent.click(screen.getByRole("button", { name: /Allow once/ }));
    fireEvent.click(screen.getByRole("button", { name: /Dismiss/ }));
    expect(session.calls).toEqual([]);
    await wait(1);
    fireEvent.click(screen.getByRole("button", { name: /Allow once/ }));
    expect(answers()).toEqual(["once"]);
  });

  it("waits again when a hidden tab is shown", async () => {
    session.askPermission();
    show();
    await wait(QUIET_MS);
    document.dispatchEvent(new Event("visibilitychange"));
    fireEvent.click(screen.getByRole("button", { name: /Allow once/ }));
    expect(answers()).toEqual([]);
  });

  it("waits again when the agent changes what it would do, and shows that", async () => {
    const toolCall = Object.assign(new ToolCall("k", "t"), { rawInput: { command: "ls" } });
    session.askPermission({ toolCall });
    show();
    await wait(QUIET_MS);
    toolCall.rawInput = { command: "rm -rf /" };
    toolCall.revision.value += 1;
    await wait(0);
    expect(panel().textContent).toContain("rm -rf /");
    fireEvent.click(screen.getByRole("button", { name: /Allow once/ }));
    expect(answers()).toEqual([]);
    await wait(QUIET_MS);
    fireEvent.click(screen.getByRole("button", { name: /Allow once/ }));
    expect(answers()).toEqual(["once"]);
  });

  it("never takes the focus from the prompt", async () => {
    show();
    screen.getByLabelText("Prompt").focus();
    session.askPermission();
    await wait(QUIET_MS);
    expect(document.activeElement).toBe(screen.getByLabelText("Prompt"));
  });

  it("goes back to the prompt with Esc, unanswered", async () => {
    session.askPermission();
    show();
    await wait(QUIET_MS);
    panel().focus();
    fireEvent.keyDown(panel(), { key: "Escape" });
    expect(onLeave).toHaveBeenCalledOnce();
    expect(session.calls).toEqual([]);
  });

  it("says why before what, and what before the answers", () => {
    session.askPermission({ reason: "To be sure", raw: { subject: { type: "command", command: "make test", cwd: "/w" } } });
    show();
    const text = panel().textContent!;
    const places = ["To be sure", "make test", "/w", "Allow once"].map((part) => text.indexOf(part));
    expect(places).toEqual([...places].sort((one, other) => one - other));
    expect(places[0]).toBeGreaterThan(0);
  });
});

describe("several requests", () => {
  it("come one after the other, and one key answers one of them", async () => {
    session.askPermission({ id: "a", title: "First" });
    session.askPermission({ id: "b", title: "Second" });
    show();
    expect(screen.getByText("1 of 2 questions")).toBeTruthy();
    await wait(QUIET_MS);
    panel().focus();
    fireEvent.keyDown(panel(), { key: "1" });
    await wait(0);
    expect(within(panel()).getByText("Second")).toBeTruthy();
    expect(document.activeElement).toBe(panel());
    fireEvent.keyDown(panel(), { key: "1" });
    expect(answers()).toEqual(["once"]);
    await wait(QUIET_MS);
    fireEvent.keyDown(panel(), { key: "1" });
    await wait(0);
    expect(answers()).toEqual(["once", "once"]);
    expect(onLeave).toHaveBeenCalledOnce();
  });

  it("leave out what somebody else has answered", async () => {
    session.askPermission({ title: "Theirs", settledBy: "Grace" });
    session.askPermission({ title: "Mine" });
    show();
    expect(screen.getByText("Grace answered: Theirs")).toBeTruthy();
    expect(within(panel()).getByText("Mine")).toBeTruthy();
  });
});

it("a lasting answer is listed, also after a reload", async () => {
  session.askPermission();
  show();
  await wait(QUIET_MS);
  fireEvent.click(screen.getByRole("button", { name: /Always allow/ }));
  expect(new Grants().list.value).toMatchObject([{ answer: "Always allow in this session", title: "Run pytest?", agent: "Accord", allows: true }]);
  grants.remove(grants.list.value[0]!.id);
  expect(new Grants().list.value).toEqual([]);
});

it("an answer that does not last is not listed", async () => {
  session.askPermission();
  show();
  await wait(QUIET_MS);
  fireEvent.click(screen.getByRole("button", { name: /Allow once/ }));
  expect(grants.list.value).toEqual([]);
});

it.each(["", "null", "[7]", "{", '[{"id":1}]'])("a list that is stored as %j is empty", (stored) => {
  localStorage.setItem("accord.grants", stored);
  expect(new Grants().list.value).toEqual([]);
});
