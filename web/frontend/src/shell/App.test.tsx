import { act, cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { FakeClient } from "../testing/fake_client.ts";
import { App } from "./App.tsx";
import { tabTitle } from "./attention.ts";
import { theme } from "./theme.ts";

let client: FakeClient;
beforeEach(() => {
  localStorage.clear();
  history.replaceState(null, "", "/");
  client = new FakeClient();
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const show = () => render(<App client={client} />);
const alt = (code: string) => fireEvent.keyDown(document.body, { code, altKey: true });
const open = (id: string) => act(async () => void (await client.openSession(id)));
const panes = () => [...document.querySelectorAll(".pane")].map((pane) => pane.getAttribute("aria-label"));

describe("sessions", () => {
  it("are opened from the list", async () => {
    show();
    fireEvent.click(screen.getByRole("button", { name: /^Describe the folders/ }));
    await waitFor(() => expect(panes()).toEqual(["Describe the folders"]));
    expect(screen.getByRole("button", { name: /^Describe the folders.*open$/, current: true })).toBeTruthy();
  });

  it("are searched", () => {
    show();
    fireEvent.input(screen.getByRole("searchbox", { name: "Search the sessions" }), { target: { value: "release" } });
    const rows = within(screen.getByRole("list", { name: "Sessions" })).getAllByRole("button", { name: /^Release notes/ });
    expect(rows).toHaveLength(1);
    expect(screen.queryByRole("button", { name: /^Fix the failing/ })).toBeNull();
  });

  it("are shown beside each other, and alone again", async () => {
    show();
    await open("s1");
    await open("s2");
    expect(panes()).toEqual(["Describe the folders"]);
    const choose = async (name: string) => {
      fireEvent.click(within(document.querySelector<HTMLElement>(".pane.active")!).getByRole("button", { name: /^Actions for/ }));
      fireEvent.click(await screen.findByRole("menuitem", { name }));
    };
    await choose("Show beside the others");
    await waitFor(() => expect(panes()).toEqual(["Fix the failing test", "Describe the folders"]));
    await choose("Show alone");
    await waitFor(() => expect(panes()).toEqual(["Describe the folders"]));
  });

  it("are renamed, and deleted only after a second question", async () => {
    show();
    await open("s1");
    const session = client.active.value!;
    const actions = () => within(document.querySelector<HTMLElement>(".pane-head")!).getByRole("button", { name: /^Actions for/ });
    fireEvent.click(actions());
    fireEvent.click(await screen.findByRole("menuitem", { name: "Rename" }));
    fireEvent.input(await screen.findByLabelText("Title"), { target: { value: "Basket" } });
    fireEvent.click(screen.getByRole("button", { name: "Rename" }));
    await waitFor(() => expect(session.calls).toContainEqual(["rename", "Basket"]));
    fireEvent.click(actions());
    fireEvent.click(await screen.findByRole("menuitem", { name: "Delete" }));
    expect(session.calls.map(([name]) => name)).not.toContain("delete");
    fireEvent.click(await screen.findByRole("button", { name: "Delete" }));
    await waitFor(() => expect(session.calls.map(([name]) => name)).toContain("delete"));
  });

  it("are forked and deleted only with an agent that can", async () => {
    const agent = { ...client.agents.value[0]!, capabilities: { session: { delete: {} } } };
    client.agents.value = [agent];
    show();
    await open("s1");
    fireEvent.click(within(document.querySelector<HTMLElement>(".pane-head")!).getByRole("button", { name: /^Actions for/ }));
    expect((await screen.findAllByRole("menuitem")).map((item) => item.textContent?.trim())).toEqual(["Rename", "Close", "Delete"]);
  });

  it("say what failed", async () => {
    client.openSession = () => Promise.reject(new Error("This session is gone."));
    show();
    fireEvent.click(screen.getByRole("button", { name: /^Fix the failing/ }));
    expect(await screen.findByText("This session is gone.")).toBeTruthy();
  });

  it("start in a folder", async () => {
    show();
    fireEvent.input(screen.getByLabelText("Folder"), { target: { value: "/tmp/new" } });
    fireEvent.click(screen.getByRole("button", { name: "Start session" }));
    await waitFor(() => expect(client.calls).toContainEqual(["newSession", "/tmp/new"]));
  });
});

describe("an answer that is needed", () => {
  it("is in the title of the tab until it is given", async () => {
    show();
    await open("s1");
    const question = client.active.value!.askPermission();
    expect(document.title).toBe("(1) Fix the failing test · Accord");
    question.cancel();
    expect(document.title).toBe("Fix the failing test · Accord");
  });

  it("is read aloud", async () => {
    show();
    await open("s1");
    act(() => void client.active.value!.askPermission({ title: "Run it?" }));
    expect(screen.getByText(/The agent asks: Run it\?/).getAttribute("role")).toBe("alert");
  });

  it("is notified once if the user is elsewhere", async () => {
    const shown = vi.fn();
    class Notification {
      static permission = "granted";
      close = vi.fn();
      constructor(...given: unknown[]) {
        shown(...given);
      }
    }
    vi.stubGlobal("Notification", Notification);
    vi.spyOn(document, "hasFocus").mockReturnValue(false);
    show();
    await open("s1");
    client.active.value!.askPermission({ id: "q1", title: "Run it?" });
    client.active.value!.askPermission({ id: "q2", title: "And this?" });
    expect(shown.mock.calls.map(([, { tag, body }]) => [tag, body])).toEqual([
      ["q1", "Run it?"],
      ["q2", "And this?"],
    ]);
  });

  it("is reached by Alt and A, also in another session", async () => {
    show();
    await open("s1");
    await open("s2");
    act(() => void client.open.value[0]!.askPermission());
    alt("KeyA");
    await waitFor(() => expect(document.activeElement?.className).toContain("permission"));
    expect(client.active.value!.summary.value.sessionId).toBe("s1");
  });
});

it.each([
  [0, "", "Accord"],
  [0, "Fix", "Fix · Accord"],
  [2, "", "(2) Accord"],
])("%i answers needed in %j make the title %s", (waiting, session, title) => expect(tabTitle(waiting, session)).toBe(title));

describe("the connection", () => {
  it("is not mentioned while it is there", () => {
    show();
    expect(document.querySelector(".banner")).toBeNull();
  });

  it.each([
    [{ state: "waiting", why: "no route", retryAt: 0, offline: false }, "No route. What you type is kept."],
    [{ state: "waiting", why: "", retryAt: 0, offline: true }, "You are offline. What you type is kept."],
    [{ state: "lost", why: "gap", missed: true }, "Some of what happened meanwhile is missing here"],
    [{ state: "refused", why: "no agent", canLogIn: false }, "No agent."],
  ] as const)("says %j", (connection, words) => {
    client.connection.value = connection;
    show();
    expect(document.querySelector(".banner")!.textContent).toContain(words);
  });

  it("says when it is back, and can be loaded again", async () => {
    show();
    act(() => void (client.connection.value = { state: "lost", why: "gap", missed: true }));
    fireEvent.click(screen.getByRole("button", { name: "Load again" }));
    expect(client.calls).toContainEqual(["reload"]);
    act(() => void (client.connection.value = { state: "waiting", why: "x", retryAt: 0, offline: false }));
    act(() => void (client.connection.value = { state: "open", since: 0 }));
    expect(await screen.findByText("Connected again. Nothing was missed.")).toBeTruthy();
  });

  it("asks for the token when the gateway wants one", async () => {
    client.connection.value = { state: "refused", why: "Log in first.", canLogIn: true };
    show();
    fireEvent.input(screen.getByLabelText("Token of the gateway"), { target: { value: " abc " } });
    fireEvent.click(screen.getByRole("button", { name: "Log in" }));
    await waitFor(() => expect(client.calls).toEqual([["logIn", "token", { token: "abc" }]]));
  });
});

it("the keys are listed, and none works behind a dialog", async () => {
  show();
  alt("KeyH");
  expect(within(await screen.findByRole("dialog", { name: "Keys" })).getByText("Alt+A")).toBeTruthy();
  alt("KeyT");
  expect(screen.queryByRole("region", { name: "Traffic" })).toBeNull();
});

it("the traffic is shown in pairs", async () => {
  const entry = { at: 0, size: 10, requestId: 1 };
  client.traffic.entries.value = [
    { ...entry, id: 1, way: "sent", method: "session/new", text: '{"cwd":"/w"}' },
    { ...entry, id: 2, way: "received", method: null, text: '{"sessionId":"abc"}' },
  ];
  show();
  alt("KeyT");
  fireEvent.click(await screen.findByRole("button", { name: /session\/new/ }));
  const detail = await screen.findByRole("group", { name: "The chosen message" });
  await waitFor(() => expect(detail.textContent).toContain('"cwd": "/w"'));
  expect(detail.textContent).toContain('"sessionId": "abc"');
});

describe("together", () => {
  it("an admin invites with a role", async () => {
    show();
    await open("s1");
    fireEvent.click(screen.getByRole("button", { name: /^People/ }));
    fireEvent.click(await screen.findByLabelText(/^editor/));
    fireEvent.click(screen.getByRole("button", { name: "Make a link" }));
    const link = await screen.findByLabelText<HTMLInputElement>(/Link for one editor/);
    expect(link.value).toContain("#join=");
    expect(client.active.value!.calls).toContainEqual(["invite", "editor", 86_400]);
  });

  it("nobody else does", async () => {
    show();
    await open("s1");
    act(() => void (client.active.value!.you.value = { ...client.active.value!.you.value!, role: "editor" }));
    fireEvent.click(screen.getByRole("button", { name: /^People/ }));
    expect(await screen.findByRole("dialog", { name: "People in this session" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Make a link" })).toBeNull();
  });
});

it("the colours are kept", async () => {
  show();
  fireEvent.click(screen.getByRole("button", { name: "Colours" }));
  fireEvent.click(await screen.findByRole("menuitemradio", { name: "High contrast", checked: false }));
  expect(document.documentElement.dataset.theme).toBe("contrast");
  expect(localStorage.getItem("accord.theme")).toBe("contrast");
  theme.value = "system";
  expect(document.documentElement.dataset.theme).toBeUndefined();
});
