import { describe, expect, it } from "vitest";

import { ToolCall } from "../transcript/items.ts";
import { factsOf, PATHS_SHOWN_MAX, reasonOf } from "./permission_facts.ts";
import type { PermissionQuestion } from "../client/types.ts";

function question(call: Partial<ToolCall> | null, raw: unknown = {}): PermissionQuestion {
  const toolCall = call === null ? null : Object.assign(new ToolCall("k", "t1"), call);
  return {
    kind: "permission",
    id: "1",
    sessionId: "s",
    settledBy: null,
    title: "May I?",
    toolCall,
    options: [],
    reason: null,
    raw,
    answer: () => undefined,
    cancel: () => undefined,
  };
}

const facts = (call: Partial<ToolCall> | null, raw?: unknown) =>
  factsOf(question(call, raw), "/home/me/project").map(({ label, text }) => [label, text]);

describe("what would happen", () => {
  it("is the command and its folder", () => {
    const subject = { type: "command", command: "rm -rf build", cwd: "/tmp/x" };
    expect(facts(null, { subject })).toEqual([
      ["Command", "rm -rf build"],
      ["In folder", "/tmp/x"],
    ]);
  });

  it("is the command of a tool call, in the session's folder unless it says another", () => {
    expect(facts({ rawInput: { command: ["git", "commit", "-m", "a b"] } })).toEqual([
      ["Command", 'git commit -m "a b"'],
      ["In folder", "/home/me/project"],
    ]);
    expect(facts({ rawInput: { cmd: "ls", cwd: "/etc" } })).toContainEqual(["In folder", "/etc"]);
  });

  it("is the paths, each once", () => {
    const locations = [{ path: "/p/a.py", line: null }, { path: "/p/a.py", line: 3 }, { path: "/p/b.py", line: null }];
    expect(facts({ locations, rawInput: { path: "a.py" } })).toEqual([
      ["Files", "/p/a.py"],
      ["", "/p/b.py"],
    ]);
  });

  it("is the MCP tool with its arguments", () => {
    const rawInput = { server: "github", tool: "create_issue", arguments: { title: "x" } };
    expect(facts({ name: "mcp__github__create_issue", rawInput })).toEqual([
      ["MCP tool", "create_issue of github"],
      ["Arguments", JSON.stringify({ arguments: { title: "x" } }, null, 2)],
    ]);
  });

  it("is the address", () => expect(facts({ rawInput: { url: "https://example.org" } })).toEqual([["Address", "https://example.org"]]));

  it("leaves to the diff what the diff shows", () => {
    const content = [{ type: "diff" as const, changes: [], path: "/p/a.py", oldText: "a", newText: "b" }];
    const rawInput = { file_path: "/p/a.py", old_string: "a", new_string: "b" };
    expect(facts({ content, rawInput, locations: [{ path: "/p/a.py", line: 1 }] })).toEqual([]);
  });

  it("is a warning if the agent does not say", () => {
    expect(facts(null)).toEqual([["", "The agent does not say what exactly it would do."]]);
    expect(facts({ rawInput: {} })).toEqual([["", "The agent does not say what exactly it would do."]]);
  });

  it("hides nothing: characters that would not be seen are written out", () => {
    expect(facts({ rawInput: { command: "ls \u202egnp.exe" } })[0]).toEqual(["Command", "ls ‹U+202E›gnp.exe"]);
  });

  it("counts what does not fit", () => {
    const locations = Array.from({ length: PATHS_SHOWN_MAX + 7 }, (_, n) => ({ path: `/p/${n}`, line: null }));
    expect(facts({ locations }).at(-1)).toEqual(["", "and 7 more"]);
  });

  it.each([null, 7, "text", [1, 2], { command: 7, path: [], url: {} }])("survives any input: %j", (rawInput) => {
    expect(facts({ rawInput: rawInput as never }).length).toBeGreaterThan(0);
  });
});

it("says why, from the reason or the description", () => {
  expect(reasonOf({ ...question(null), reason: "To run the tests" })).toBe("To run the tests");
  expect(reasonOf(question(null, { description: "To tidy up" }))).toBe("To tidy up");
  expect(reasonOf(question(null, { description: " " }))).toBeNull();
});
