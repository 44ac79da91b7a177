import { describe, expect, it } from "vitest";

import type { SessionSummary } from "../../client/types.ts";
import { agoText, recentFolders, searchSessions, sessionTitle, shortFolder } from "./session_list.ts";

const session = (sessionId: string, rest: Partial<SessionSummary> = {}): SessionSummary => ({
  sessionId,
  agent: "builtin",
  cwd: "/home/ada/shop",
  title: "",
  updatedAt: null,
  owner: null,
  ...rest,
});

const LIST = [
  session("s1", { title: "Fix the test", updatedAt: "2026-11-18T00:00:00Z" }),
  session("s2", { title: "Release", updatedAt: "2026-11-19T00:00:00Z", cwd: "/home/ada/lib" }),
  session("s3", { owner: "grace" }),
];

describe("the list", () => {
  it("has the latest first, and those without a time before them", () => {
    expect(searchSessions(LIST, "").map((each) => each.sessionId)).toEqual(["s3", "s2", "s1"]);
  });

  it.each([
    ["FIX test", ["s1"]],
    ["lib", ["s2"]],
    ["grace", ["s3"]],
    ["s2 release", ["s2"]],
    ["nothing", []],
  ])("is searched for %j", (search, found) => {
    expect(searchSessions(LIST, search).map((each) => each.sessionId)).toEqual(found);
  });

  it("offers each folder once", () => expect(recentFolders(LIST)).toEqual(["/home/ada/shop", "/home/ada/lib"]));
});

it("names a session without a title", () => expect(sessionTitle(session("s"))).toBe("Untitled session"));

it.each([
  ["/a", "/a"],
  ["/a/b/c", "…/b/c"],
  ["C:\\a\\b\\c", "…/b/c"],
])("shortens %s to %s", (path, short) => expect(shortFolder(path)).toBe(short));

it.each([
  ["2026-11-19T11:59:50Z", "now"],
  ["2026-11-19T11:30:00Z", "30 minutes ago"],
  ["2026-11-19T09:00:00Z", "3 hours ago"],
  ["2026-11-18T12:00:00Z", "yesterday"],
  ["2026-09-19T12:00:00Z", "2 months ago"],
  ["not a time", ""],
  [null, ""],
])("%s was %s", (moment, words) => expect(agoText(moment, Date.parse("2026-11-19T12:00:00Z"), "en")).toBe(words));
