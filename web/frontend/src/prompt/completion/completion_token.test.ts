import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { commandsFor, replaceToken, tokenAt } from "./completion_token.ts";

describe("the token at the caret", () => {
  it.each([
    ["/", 1, "command", ""],
    ["/pla", 4, "command", "pla"],
    ["/plan", 2, "command", "p"],
    ["@", 1, "file", ""],
    ["see @src/ma", 11, "file", "src/ma"],
    ["(@a", 3, "file", "a"],
    ["two\n@b", 6, "file", "b"],
  ] as const)("in %j at %i is a %s", (text, caret, kind, query) => {
    expect(tokenAt(text, caret)).toMatchObject({ kind, query });
  });

  it.each([
    ["", 0],
    ["a /plan", 7],
    ["/plan now", 9],
    ["me@example.org", 14],
    ["@a b", 4],
    ["and/or", 6],
  ] as const)("in %j at %i is none", (text, caret) => expect(tokenAt(text, caret)).toBeNull());

  it("never leaves the text", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(40), (text, at) => {
        const caret = Math.min(at, text.length);
        const token = tokenAt(text, caret);
        if (token === null) return;
        expect(token.start).toBeLessThanOrEqual(caret);
        expect(token.end).toBeGreaterThanOrEqual(caret);
        const replaced = replaceToken(text, token, "@x");
        expect(replaced.text.startsWith(text.slice(0, token.start))).toBe(true);
        expect(replaced.text.endsWith(text.slice(token.end))).toBe(true);
        expect(replaced.text.slice(token.start, replaced.caret).trim()).toBe("@x");
      }),
    );
  });
});

describe("replacing it", () => {
  it("takes the rest of the word along and keeps what follows", () => {
    const text = "see @src/main.py please";
    expect(replaceToken(text, tokenAt(text, 8)!, "@lib/a.py")).toEqual({ text: "see @lib/a.py please", caret: 14 });
  });

  it("adds a blank where there is none", () => {
    expect(replaceToken("/pl", tokenAt("/pl", 3)!, "/plan")).toEqual({ text: "/plan ", caret: 6 });
  });
});

describe("commands", () => {
  const commands = ["explain", "plan"].map((name) => ({ name, description: "", hint: null }));

  it("are found by their beginning first", () => {
    expect(commandsFor("PLA", commands).map((command) => command.name)).toEqual(["plan", "explain"]);
    expect(commandsFor("zzz", commands)).toEqual([]);
  });
});
