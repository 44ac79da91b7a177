import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { leavesText, PromptHistory } from "./prompt_history.ts";

describe("the history", () => {
  it("goes back, forward, and back to the unsent text", () => {
    const history = new PromptHistory();
    const entries = ["one", "two"];
    expect(history.step(-1, entries, "draft")).toBe("two");
    expect(history.step(-1, entries, "two")).toBe("one");
    expect(history.step(-1, entries, "one")).toBeNull();
    expect(history.step(1, entries, "one")).toBe("two");
    expect(history.step(1, entries, "two")).toBe("draft");
    expect(history.step(1, entries, "draft")).toBeNull();
  });

  it("never loses the unsent text", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.string(), fc.array(fc.constantFrom(-1 as const, 1 as const)), (entries, draft, steps) => {
        const history = new PromptHistory();
        let text = draft;
        for (const step of steps) text = history.step(step, entries, text) ?? text;
        while (history.isWalking) text = history.step(1, entries, text)!;
        expect(text).toBe(draft);
      }),
    );
  });
});

it.each([
  [-1, "one\ntwo", 2, true],
  [-1, "one\ntwo", 5, false],
  [1, "one\ntwo", 5, true],
  [1, "one\ntwo", 2, false],
  [-1, "", 0, true],
] as const)("an arrow (%i) in %j at %i leaves the text: %s", (direction, text, caret, leaves) => {
  expect(leavesText(direction, text, caret, caret)).toBe(leaves);
});
