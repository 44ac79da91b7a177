import fc from "fast-check";
import { expect, test } from "vitest";
import { MarkdownBlocks } from "./markdown_blocks.ts";

const PIECES = fc.constantFrom(
  "words ",
  "\n",
  "\n\n",
  "- item\n",
  "  - inner\n",
  "1. one\n",
  "> said\n",
  "# Title\n",
  "```py\ncode\n",
  "```\n",
  "| a | b |\n",
  "|---|---|\n",
  "**bold** ",
  "[link](https://a.example) ",
  "<b>",
  "    four\n",
  "***\n",
  "---\n",
  "\\",
  "`",
  "&amp; ",
  "\t",
  "\r\n",
  "é🙂",
);

const raws = (blocks: ReturnType<MarkdownBlocks["update"]>) =>
  blocks
    .map(({ token }) => token.raw.trimEnd())
    .join("\n")
    .replace(/\s+/g, " ")
    .trim();

test("text that comes in chunks ends in the blocks that it has when it is read at once", () => {
  fc.assert(
    fc.property(fc.array(PIECES, { maxLength: 40 }), (pieces) => {
      const streamed = new MarkdownBlocks();
      let text = "";
      for (const piece of pieces) streamed.update((text += piece));
      // A list after a list may be read as two where it was one; nothing else may differ.
      const types = (blocks: ReturnType<MarkdownBlocks["update"]>) =>
        blocks
          .map(({ token }) => token.type)
          .filter((type, at, all) => type !== "list" || all[at - 1] !== "list");
      const [whole, inChunks] = [new MarkdownBlocks().update(text), streamed.update(text)];
      expect(types(inChunks)).toEqual(types(whole));
      expect(raws(inChunks)).toBe(raws(whole));
    }),
    { numRuns: 300 },
  );
});

test("only the last two blocks change when text is appended", () => {
  const blocks = new MarkdownBlocks();
  const before = blocks.update("# A\n\nfirst\n\nsecond\n\nthird");
  const after = blocks.update("# A\n\nfirst\n\nsecond\n\nthird grows");
  expect(after).toHaveLength(4);
  for (const at of [0, 1, 2]) expect(after[at]).toBe(before[at]);
  expect(after[3]).not.toBe(before[3]);
  expect(after[3]!.start).toBe(before[3]!.start);
});

test("a link that is defined later reaches the words before it", () => {
  const blocks = new MarkdownBlocks();
  blocks.update("see [docs]\n\nb\n\nc\n\nd\n\n");
  const after = blocks.update("see [docs]\n\nb\n\nc\n\nd\n\n[docs]: https://a.example\n");
  expect(JSON.stringify(after[0]!.token)).toContain("https://a.example");
});

test("text that was replaced is read again", () => {
  const blocks = new MarkdownBlocks();
  blocks.update("one\n\ntwo\n\nthree");
  expect(blocks.update("four").map(({ token }) => token.raw)).toEqual(["four"]);
});

test("nesting that is too deep for the parser is shown as text", () => {
  for (const text of [
    "> ".repeat(20_000),
    "- ".repeat(20_000),
    "> ".repeat(49) + "a",
    "[".repeat(20_000),
    "![".repeat(20_000),
  ]) {
    const blocks = new MarkdownBlocks().update(text);
    expect(blocks.length).toBeGreaterThan(0);
  }
});

test.each(["_a", "*a ", "a_b", "***a***b", "[a](", "`a", "~~a", "<", "![", "\\", "&", "a@"])(
  "a long paragraph of %s, which a parser needs long for, is plain text",
  (piece) => {
    const [block] = new MarkdownBlocks().update(piece.repeat(20_000));
    const tokens = (block!.token as { tokens?: { type: string }[] }).tokens!;
    expect(tokens.map(({ type }) => type)).toEqual(["text"]);
  },
);

test("a long paragraph of words still has its marks", () => {
  const [block] = new MarkdownBlocks().update(`${"word ".repeat(5_000)} **bold**`);
  expect(JSON.stringify(block!.token)).toContain('"strong"');
});
