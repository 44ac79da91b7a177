import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeClient } from "../testing/fake_client.ts";
import type { FakeSession } from "../testing/fake_session.ts";
import { DiffView, setDiffLayout } from "./DiffView.tsx";
import { FilesTouched } from "./FilesTouched.tsx";
import { FollowView } from "./FileView.tsx";
import { hunksBetween } from "./hunks.ts";
import { ReviewPanel } from "./ReviewPanel.tsx";
import { changedFiles, touchedFiles } from "./session_changes.ts";

const PATH = "/home/ada/shop/basket.py";
const BEFORE = Array.from({ length: 30 }, (_, index) => `line ${index}\n`).join("");
const AFTER = BEFORE.replace("line 3\n", "LINE 3\n").replace("line 20\n", "line 20\nnew line\n");

let session: FakeSession;

beforeEach(async () => {
  localStorage.clear();
  setDiffLayout("inline");
  session = await new FakeClient().openSession("s2");
});
afterEach(cleanup);

let calls = 0;
function edit(path: string, oldText: string | null, newText: string, rest: object = {}): object {
  calls += 1;
  const content = [{ type: "diff", path, oldText, newText }];
  return {
    sessionUpdate: "tool_call_update",
    toolCallId: `e${calls}`,
    title: "Edit",
    kind: "edit",
    status: "completed",
    locations: [{ path, line: 4 }],
    content,
    ...rest,
  };
}

async function reviewed(hunks = 2): Promise<Element> {
  session.files.set(PATH, AFTER);
  session.play([edit(PATH, BEFORE, AFTER)]);
  const { container } = render(<ReviewPanel session={session} />);
  await waitFor(() => expect(container.querySelectorAll(".hunk")).toHaveLength(hunks));
  return container;
}

async function bringBack(): Promise<void> {
  const button = await screen.findByText<HTMLButtonElement>("Bring it back");
  await waitFor(() => expect(button.disabled).toBe(false));
  fireEvent.click(button);
}

test("a hunk is undone in the file, and the other one stays", async () => {
  const container = await reviewed();
  fireEvent.click(screen.getByLabelText("Undo the change at line 1"));
  await waitFor(() => expect(container.querySelectorAll(".hunk")).toHaveLength(1));
  expect(session.files.get(PATH)).toBe(AFTER.replace("LINE 3", "line 3"));
});

test("undoing a file brings back what it was, also after several changes", async () => {
  session.play([edit(PATH, "zero\n", BEFORE)]);
  const container = await reviewed(1);
  expect(container.textContent).toContain("+31");
  fireEvent.click(screen.getByLabelText(`Undo all changes of ${PATH}`));
  await waitFor(() => expect(container.textContent).toContain("Nothing is left"));
  expect(session.files.get(PATH)).toBe("zero\n");
});

test("what the user changed elsewhere in the file is neither shown nor undone", async () => {
  session.files.set(PATH, `mine\n${AFTER}`);
  session.play([edit(PATH, BEFORE, AFTER)]);
  const { container } = render(<ReviewPanel session={session} />);
  await waitFor(() => expect(container.querySelectorAll(".hunk")).toHaveLength(2));
  expect(container.textContent).not.toContain("mine");
  fireEvent.click(screen.getByLabelText(`Undo all changes of ${PATH}`));
  await waitFor(() => expect(session.files.get(PATH)).toBe(`mine\n${BEFORE}`));
});

test("an accepted hunk goes, is still accepted later, and can be looked at again", async () => {
  const container = await reviewed();
  fireEvent.click(screen.getByLabelText("Accept the change at line 1"));
  await waitFor(() => expect(container.querySelectorAll(".hunk")).toHaveLength(1));
  expect(session.files.get(PATH)).toBe(AFTER);
  cleanup();
  const { container: again } = render(<ReviewPanel session={session} />);
  await waitFor(() => expect(again.textContent).toContain("1 accepted"));
  expect(again.querySelectorAll(".hunk")).toHaveLength(1);
  fireEvent.click(screen.getByText("Look again"));
  await waitFor(() => expect(again.querySelectorAll(".hunk")).toHaveLength(2));
});

test("undoing a file leaves what was accepted in it", async () => {
  const container = await reviewed();
  fireEvent.click(screen.getByLabelText("Accept the change at line 1"));
  await waitFor(() => expect(container.querySelectorAll(".hunk")).toHaveLength(1));
  fireEvent.click(screen.getByLabelText(`Undo all changes of ${PATH}`));
  await waitFor(() => expect(session.files.get(PATH)).toBe(BEFORE.replace("line 3\n", "LINE 3\n")));
});

test("undoing all is asked for twice, and takes all files back", async () => {
  session.files.set("/b", "new b\n");
  session.play([edit("/b", "old b\n", "new b\n")]);
  await reviewed(3);
  fireEvent.click(screen.getByText("Undo all"));
  expect(session.files.get("/b")).toBe("new b\n");
  fireEvent.click(await screen.findByText("Undo all changes?"));
  await waitFor(() =>
    expect([session.files.get(PATH), session.files.get("/b")]).toEqual([BEFORE, "old b\n"]),
  );
});

test("what was undone can be brought back", async () => {
  const container = await reviewed();
  fireEvent.click(screen.getByLabelText(`Undo all changes of ${PATH}`));
  await bringBack();
  await waitFor(() => expect(container.querySelectorAll(".hunk")).toHaveLength(2));
  expect(session.files.get(PATH)).toBe(AFTER);
  await waitFor(() => expect(screen.queryByText("Bring it back")).toBeNull());
});

test("a new file is deleted when it is undone, and can be brought back", async () => {
  session.files.set("/new", "one\n");
  session.play([edit("/new", null, "one\n")]);
  render(<ReviewPanel session={session} />);
  fireEvent.click(await screen.findByLabelText("Undo all changes of /new"));
  await waitFor(() => expect(session.files.has("/new")).toBe(false));
  await bringBack();
  await waitFor(() => expect(session.files.get("/new")).toBe("one\n"));
});

test("a deleted file comes back when it is undone", async () => {
  const patch = {
    format: "git_patch",
    text: "diff --git /old /old\ndeleted file mode 100644\n--- /old\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n",
  };
  session.play([
    edit("/old", null, "", {
      content: [{ type: "diff", changes: [{ operation: "delete", path: "/old" }], patch }],
    }),
  ]);
  const { container } = render(<ReviewPanel session={session} />);
  fireEvent.click(await screen.findByLabelText("Undo all changes of /old"));
  await waitFor(() => expect(session.files.get("/old")).toBe("one\ntwo\n"));
  await waitFor(() => expect(container.textContent).toContain("Nothing is left"));
});

test("a file that changed meanwhile is not overwritten, and the user is told", async () => {
  await reviewed();
  session.files.set(PATH, `${AFTER}more\n`);
  fireEvent.click(screen.getByLabelText("Undo the change at line 1"));
  await waitFor(() =>
    expect(screen.getByRole("alert").textContent).toContain("has changed meanwhile"),
  );
  expect(session.files.get(PATH)).toBe(`${AFTER}more\n`);
});

test("a file that cannot be read is shown as it was reported, without undo", async () => {
  session.play([edit("/gone", "a\n", "b\n")]);
  const { container } = render(<ReviewPanel session={session} />);
  await waitFor(() => expect(container.textContent).toContain("There is no file /gone."));
  expect(container.querySelectorAll(".hunk")).toHaveLength(1);
  expect((screen.getByLabelText("Undo all changes of /gone") as HTMLButtonElement).disabled).toBe(
    true,
  );
});

test("only changes of calls that ended well are reviewed, and a move keeps what came before it", () => {
  session.play([
    edit("/a", "1\n", "2\n", { status: "failed" }),
    edit("/b", "1\n", "2\n", { status: "in_progress" }),
    edit("/c", null, "1\n"),
    edit("/c", "1\n", "2\n"),
    edit("/d", "1\n", "2\n"),
    edit("", "", "", {
      content: [{ type: "diff", changes: [{ operation: "move", oldPath: "/d", path: "/e" }] }],
    }),
  ]);
  const files = changedFiles(session.transcript.timeline.value);
  expect(
    files.map(({ path, operation, oldPath, diffs }) => [path, operation, oldPath, diffs.length]),
  ).toEqual([
    ["/c", "add", null, 2],
    ["/e", "move", "/d", 2],
  ]);
});

test("files touched come newest first, with what was done to them", async () => {
  const read = {
    sessionUpdate: "tool_call_update",
    toolCallId: "r",
    kind: "read",
    status: "completed",
    locations: [{ path: "/home/ada/shop/x.py", line: 7 }],
  };
  session.play([read, edit(PATH, BEFORE, AFTER)]);
  expect(
    touchedFiles(session.transcript.timeline.value).map(({ path, line, isChanged }) => [
      path,
      line,
      isChanged,
    ]),
  ).toEqual([
    [PATH, 4, true],
    ["/home/ada/shop/x.py", 7, false],
  ]);
  const seen: unknown[] = [];
  const { container } = render(
    <FilesTouched
      session={session}
      onShowFile={(...place) => seen.push(place)}
      onReview={(path) => seen.push(path)}
    />,
  );
  expect([...container.querySelectorAll("li")].map((row) => row.textContent)).toEqual([
    "basket.pychanged",
    "x.pyread",
  ]);
  for (const button of container.querySelectorAll("button")) fireEvent.click(button);
  expect(seen).toEqual([PATH, ["/home/ada/shop/x.py", 7]]);
});

test("following shows the file of the newest call, and again when the call has changed it", async () => {
  session.files.set(PATH, BEFORE);
  session.play([edit(PATH, BEFORE, AFTER, { toolCallId: "f", status: "in_progress" })]);
  const { container } = render(<FollowView session={session} />);
  await waitFor(() =>
    expect(container.querySelector("[aria-current]")!.textContent).toBe("4line 3"),
  );
  session.files.set(PATH, AFTER);
  session.play([{ sessionUpdate: "tool_call_update", toolCallId: "f", status: "completed" }]);
  await waitFor(() =>
    expect(container.querySelector("[aria-current]")!.textContent).toBe("4LINE 3"),
  );
});

test("side by side has both sides of a line in one row, inline has one after the other", async () => {
  const hunks = hunksBetween("a\nold words\n", "a\nnew words\n");
  const { container } = render(<DiffView path="/a.txt" hunks={hunks} />);
  expect(container.querySelectorAll("tr")).toHaveLength(3);
  await act(async () => setDiffLayout("split"));
  expect(container.querySelectorAll("tr")).toHaveLength(2);
  expect([...container.querySelectorAll(".mark")].map((mark) => mark.textContent)).toEqual([
    "old",
    "new",
  ]);
  expect(container.querySelectorAll("tr")[1]!.textContent).toContain("removed: old words");
});

test("a large diff starts with a button for the rest", () => {
  const { container } = render(
    <DiffView path="/a" hunks={hunksBetween("", "line\n".repeat(400))} />,
  );
  expect(container.querySelectorAll("tr").length).toBe(300);
  fireEvent.click(screen.getByText("Show all 400 lines"));
  return waitFor(() => expect(container.querySelectorAll("tr")).toHaveLength(400));
});
