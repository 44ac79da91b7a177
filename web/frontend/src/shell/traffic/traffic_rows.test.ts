import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { TrafficEntry } from "../../client/types.ts";
import { prettyMessage, rowsOf, searchRows } from "./traffic_rows.ts";

let ids = 0;
function entry(way: TrafficEntry["way"], method: string | null, requestId: TrafficEntry["requestId"], text = "{}"): TrafficEntry {
  ids += 1;
  return { id: ids, at: ids, way, method, requestId, size: text.length, text };
}

describe("the rows", () => {
  it("pair a request with the answer that comes the other way", () => {
    const rows = rowsOf([
      entry("sent", "session/prompt", 1),
      entry("received", "session/request_permission", 1),
      entry("received", "session/update", null),
      entry("sent", null, 1, '{"jsonrpc":"2.0","id":1,"result":{}}'),
      entry("received", null, 1, '{"jsonrpc":"2.0","id":1,"error":{"code":-32603}}'),
    ]);
    expect(rows.map((row) => [row.method, row.kind, row.way, row.answer?.way ?? null, row.failed])).toEqual([
      ["session/prompt", "request", "sent", "received", true],
      ["session/request_permission", "request", "received", "sent", false],
      ["session/update", "notification", "received", null, false],
    ]);
  });

  it("tell a number from a text, and keep an answer that nobody asked for", () => {
    const rows = rowsOf([entry("sent", "a", 1), entry("received", null, "1")]);
    expect(rows.map((row) => [row.kind, row.answer])).toEqual([
      ["request", null],
      ["answer", null],
    ]);
  });

  it("hold every entry exactly once", () => {
    const entries = fc.array(
      fc.tuple(fc.constantFrom("sent" as const, "received" as const), fc.constantFrom("m", null), fc.constantFrom(1, 2, "1", null)),
    );
    fc.assert(
      fc.property(entries, (made) => {
        const all = made.map(([way, method, id]) => entry(way, method, id));
        const held = rowsOf(all).flatMap((row) => (row.answer ? [row.first.id, row.answer.id] : [row.first.id]));
        expect(held.sort((one, other) => one - other)).toEqual(all.map((each) => each.id));
      }),
    );
  });
});

it("a search finds all of its words, in the request or the answer", () => {
  const rows = rowsOf([entry("sent", "session/new", 1, '{"cwd":"/Work"}'), entry("received", null, 1, '{"sessionId":"abc"}'), entry("sent", "other", 2)]);
  expect(searchRows(rows, "WORK abc").map((row) => row.method)).toEqual(["session/new"]);
  expect(searchRows(rows, "").length).toBe(2);
  expect(searchRows(rows, "nowhere")).toEqual([]);
});

it("shows what is not JSON as it came", () => {
  expect(prettyMessage('{"a":1}')).toBe('{\n  "a": 1\n}');
  expect(prettyMessage("{")).toBe("{");
});
