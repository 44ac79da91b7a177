import fc from "fast-check";
import { expect, test } from "vitest";
import type { ContentBlock } from "./blocks.ts";
import { Content } from "./content.ts";

const block: fc.Arbitrary<ContentBlock> = fc.oneof(
  fc.string({ maxLength: 4 }).map((text) => ({ type: "text", text }) as const),
  fc.constant({ type: "text", text: "marked", annotations: { priority: 1 } } as const),
  fc.constant({ type: "image", data: "AAAA", mimeType: "image/png" } as const),
);

test("the text is that of all blocks, and adjacent chunks of plain text are one block", () => {
  fc.assert(
    fc.property(fc.array(block), fc.array(block), (whole, chunks) => {
      const content = new Content();
      content.replace(whole);
      const shown: string[] = [];
      for (const one of chunks) {
        content.append(one);
        shown.push(content.text);
      }
      const textOf = (one: ContentBlock) => (one.type === "text" ? one.text : "");
      expect(content.text).toBe([...whole, ...chunks].map(textOf).join(""));
      expect(shown.every((text) => content.text.startsWith(text))).toBe(true);
      expect(content.blocks.slice(0, whole.length)).toEqual(whole);
      const isPlain = (one: ContentBlock | undefined) =>
        one?.type === "text" && one.annotations === undefined;
      const added = content.blocks.slice(whole.length);
      for (const [index, one] of added.entries()) {
        expect(isPlain(one) && isPlain(added[index - 1])).toBe(false);
      }
    }),
  );
});

test("a body that was copied does not change with the other", () => {
  const [first, second] = [new Content(), new Content()];
  first.append({ type: "text", text: "same" });
  second.replace(first.blocks);
  first.append({ type: "text", text: " and more" });
  expect(second.text).toBe("same");
});
