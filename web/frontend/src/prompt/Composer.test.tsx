import { act, cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { AgentInfo } from "../client/types.ts";
import { FakeClient } from "../testing/fake_client.ts";
import type { FakeSession } from "../testing/fake_session.ts";
import { Composer } from "./Composer.tsx";

let client: FakeClient;
let session: FakeSession;
beforeEach(async () => {
  client = new FakeClient();
  session = await client.openSession("s1");
  session.calls.length = 0;
});
afterEach(cleanup);

const show = () => render(<Composer client={client} session={session} />);
const input = () => screen.getByLabelText<HTMLTextAreaElement>("Prompt");
const called = (name: string) => session.calls.filter(([called]) => called === name);
function type(text: string): void {
  fireEvent.input(input(), { target: { value: text, selectionStart: text.length, selectionEnd: text.length } });
}
const press = (key: string, more = {}) => fireEvent.keyDown(input(), { key, ...more });
const text = (words: string) => ({ type: "text" as const, text: words });

describe("Enter", () => {
  it("sends and empties the prompt", () => {
    show();
    type("Hello");
    press("Enter");
    expect(called("prompt")).toEqual([["prompt", [text("Hello")]]]);
    expect(input().value).toBe("");
  });

  it("with Shift begins a line; while a character is composed it is not ours", () => {
    show();
    type("Hello");
    press("Enter", { shiftKey: true });
    press("Enter", { isComposing: true });
    press("Enter", { repeat: true });
    expect(called("prompt")).toEqual([]);
  });

  it("queues while the agent works", () => {
    session.running.value = { by: "ada", since: 0 };
    show();
    type("Then this");
    press("Enter");
    expect(called("enqueue")).toEqual([["enqueue", [text("Then this")]]]);
    expect(within(screen.getByRole("region", { name: "Queued prompts" })).getByText("Then this")).toBeTruthy();
  });

  it("sends nothing without text, and never answers a question", () => {
    session.askPermission();
    show();
    press("Enter");
    type("   ");
    press("Enter");
    expect(session.calls.filter(([name]) => name !== "tell")).toEqual([]);
  });
});

describe("nothing typed is lost", () => {
  it("what could not be sent comes back, before what was typed meanwhile", async () => {
    let fail: (error: Error) => void = () => undefined;
    session.prompt = () => new Promise((_, reject) => (fail = reject));
    show();
    type("First");
    press("Enter");
    type("Second");
    await act(() => fail(new Error("The agent is gone.")));
    await waitFor(() => expect(input().value).toBe("First\n\nSecond"));
    expect(screen.getByRole("alert").textContent).toContain("The agent is gone. Your text is back in the prompt.");
  });

  it("without a connection the text stays", async () => {
    client.connection.value = { state: "waiting", why: "x", retryAt: 0, offline: true };
    show();
    type("Later");
    press("Enter");
    expect(input().value).toBe("Later");
    await waitFor(() => expect(screen.getByRole("alert").textContent).toContain("Not connected. Your text is kept"));
  });

  it("a queued prompt comes back for editing, behind what is there", async () => {
    session.enqueue([text("Queued"), { type: "image", mimeType: "image/png", data: "AAAA" }]);
    session.draft.value = { text: "Here", attachments: [] };
    show();
    fireEvent.click(screen.getByRole("button", { name: "Edit the queued prompt Queued" }));
    expect(session.draft.value.text).toBe("Here\n\nQueued");
    expect(session.draft.value.attachments.map((each) => each.mimeType)).toEqual(["image/png"]);
    expect(session.queue.value).toEqual([]);
  });
});

describe("Esc", () => {
  it("stops the agent while it works", () => {
    session.running.value = { by: "ada", since: 0 };
    show();
    press("Escape");
    expect(called("stop")).toHaveLength(1);
  });

  it("closes the list first", async () => {
    session.running.value = { by: "ada", since: 0 };
    show();
    type("/");
    expect(await screen.findByRole("listbox")).toBeTruthy();
    press("Escape");
    await waitFor(() => expect(screen.queryByRole("listbox")).toBeNull());
    expect(called("stop")).toEqual([]);
  });
});

it("the arrows walk through earlier prompts and back to the draft", () => {
  session.play([{ sessionUpdate: "user_message", messageId: "u9", content: [text("Earlier")] }]);
  show();
  type("Draft");
  input().setSelectionRange(0, 0);
  press("ArrowUp");
  expect(input().value).toBe("Earlier");
  press("ArrowDown");
  expect(input().value).toBe("Draft");
});

describe("completion", () => {
  it("of a command replaces it by Tab", async () => {
    show();
    type("/te");
    await screen.findByRole("listbox", { name: "Commands" });
    press("Tab");
    expect(input().value).toBe("/test ");
  });

  it("of a command that is complete leaves Enter to sending", async () => {
    show();
    type("/review");
    await screen.findByRole("listbox");
    press("Enter");
    expect(called("prompt")).toEqual([["prompt", [text("/review")]]]);
  });

  it("of a file mentions it, and sends a link along", async () => {
    show();
    type("see @basket");
    await screen.findByRole("option", { name: /test_basket.py/ });
    press("ArrowDown");
    await screen.findByRole("option", { name: /test_basket.py/, selected: true });
    press("Enter");
    expect(input().value).toBe("see @tests/test_basket.py ");
    press("Enter");
    expect(called("prompt")).toEqual([
      ["prompt", [text("see @tests/test_basket.py"), { type: "resource_link", name: "test_basket.py", uri: "file:///home/ada/shop/tests/test_basket.py" }]],
    ]);
  });

  it("says when nothing fits", async () => {
    show();
    type("@zzz");
    expect(await screen.findByText("No file fits.")).toBeTruthy();
  });
});

describe("files", () => {
  const png = () => new File(["abc"], "a.png", { type: "image/png" });
  const paste = (...files: File[]) => fireEvent.paste(input(), { clipboardData: { files } });

  it("that are pasted are attached, with type and size", async () => {
    client.agent.value = { ...(client.agent.value as AgentInfo), capabilities: { session: { prompt: { image: {} } } } };
    show();
    paste(png());
    const list = await screen.findByRole("list", { name: "Attachments" });
    expect(list.textContent).toContain("a.pngimage/png, 3 bytes");
    fireEvent.click(within(list).getByRole("button", { name: "Remove a.png" }));
    expect(session.draft.value.attachments).toEqual([]);
  });

  it("that the agent does not take are refused with a sentence", async () => {
    show();
    paste(png());
    expect((await screen.findByText(/does not accept images/)).textContent).toContain("a.png was not attached");
  });
});

it("options are set by their pickers, and go back if the agent refuses", async () => {
  show();
  const model = screen.getByLabelText<HTMLSelectElement>("Model");
  session.setOption = () => Promise.reject(new Error("Not now."));
  fireEvent.change(model, { target: { value: "small" } });
  await screen.findByText("Not now.");
  await waitFor(() => expect(model.value).toBe("large"));
});

it("options that are seldom changed are in a dialog", async () => {
  show();
  fireEvent.click(screen.getByRole("button", { name: "More options" }));
  fireEvent.click(await screen.findByLabelText("Search the web"));
  expect(called("setOption")).toEqual([["setOption", "web", false]]);
});

it("somebody who watches has no prompt", () => {
  session.you.value = { ...session.you.value!, role: "viewer" };
  show();
  expect(screen.queryByLabelText("Prompt")).toBeNull();
  expect(screen.getByText(/You are watching/)).toBeTruthy();
});

it("the others are told when somebody writes and stops", () => {
  show();
  type("a");
  type("ab");
  fireEvent.blur(input());
  expect(called("tell").map(([, event]) => event)).toEqual(["typing", "blur", "idle"]);
});
