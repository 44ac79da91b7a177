import fc from "fast-check";
import { expect, test } from "vitest";
import { AnsiScreen, LINES_MAX } from "./ansi_screen.ts";

function screenOf(...parts: string[]): AnsiScreen {
  const screen = new AnsiScreen();
  for (const part of parts) screen.write(part);
  return screen;
}

test.each([
  ["a\nb", "a\nb"],
  ["10%\r100%", "100%"],
  ["long line\rshort\u001b[K", "short"],
  ["ab\bc", "ac"],
  ["a\tb", "a       b"],
  ["one\r\ntwo\r\n", "one\ntwo\n"],
  ["a\u001b[31mred\u001b[0m", "ared"],
  ["a\u001b]0;title\u0007b", "ab"],
  ["a\u001b]8;;https://evil.example\u001b\\link\u001b]8;;\u001b\\b", "alinkb"],
  ["one\ntwo\u001b[1A\rONE", "ONE\ntwo"],
  ["gone\u001b[2J\u001b[Hnew", "new"],
  ["\u001bPq#0;2;0;0;0\u001b\\x", "x"],
  ["a\u0007\u0000b", "ab"],
  ["🙂é", "🙂é"],
])("%j is shown as %j", (output, text) => {
  expect(screenOf(output).text).toBe(text);
});

test("colours of all kinds become one of sixteen", () => {
  const runs = screenOf(
    "\u001b[1;31mA\u001b[0m\u001b[38;5;196mB\u001b[38;2;0;200;10mC\u001b[92mD\u001b[48;5;21mE",
  ).runs(0);
  expect(runs.map(({ text, style }) => [text, style.colour, style.background, style.bold])).toEqual(
    [
      ["A", 1, null, true],
      ["B", 1, null, false],
      ["C", 2, null, false],
      ["D", 10, null, false],
      ["E", 10, 4, false],
    ],
  );
});

test("output in any pieces is shown as at once", () => {
  const piece = fc.constantFrom(
    "a",
    "b\n",
    "\r",
    "\u001b",
    "[",
    "3",
    "1m",
    "\u001b[0m",
    "\b",
    "\t",
    "]",
    "\u0007",
    "K",
    "🙂",
    "\u001b[2K",
    ";",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      expect(screenOf(...pieces).text).toBe(screenOf(pieces.join("")).text);
    }),
  );
});

test("what is kept is bounded", () => {
  const screen = screenOf("line\n".repeat(5 * LINES_MAX), "x".repeat(100_000));
  expect(screen.height).toBeLessThanOrEqual(2 * LINES_MAX);
  expect(screen.dropped).toBeGreaterThan(0);
});
