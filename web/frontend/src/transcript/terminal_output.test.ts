import fc from "fast-check";
import { expect, test } from "vitest";
import { TerminalOutput } from "./terminal_output.ts";

const BYTES_MAX = 16;
const chunk = fc.oneof(
  fc.uint8Array({ maxLength: 2 * BYTES_MAX }),
  fc.string({ unit: "binary", maxLength: 4 }).map((text) => new TextEncoder().encode(text)),
);

/** What is kept, as simply as it can be said. */
function model(chunks: readonly Uint8Array[]): Uint8Array {
  let kept = new Uint8Array();
  for (const one of chunks) {
    kept = new Uint8Array([...kept, ...one]);
    let start = kept.length - BYTES_MAX;
    if (start <= 0) continue;
    for (let skipped = 0; skipped < 3 && (kept[start]! & 0xc0) === 0x80; skipped += 1) start += 1;
    kept = kept.slice(start);
  }
  return kept;
}

test("the last bytes are kept, from the start of a character on", () => {
  fc.assert(
    fc.property(fc.array(chunk), (chunks) => {
      const output = new TerminalOutput(BYTES_MAX);
      for (const one of chunks) output.append(one);
      const total = chunks.reduce((sum, one) => sum + one.length, 0);
      expect([...output.data]).toEqual([...model(chunks)]);
      expect(output.received).toBe(total);
      expect(output.truncated).toBe(total > BYTES_MAX);
    }),
  );
});

test("what a view has not drawn yet can be asked for", () => {
  fc.assert(
    fc.property(fc.array(chunk), fc.nat(), (chunks, drawn) => {
      const output = new TerminalOutput(1024);
      for (const one of chunks) output.append(one);
      const all = chunks.flatMap((one) => [...one]).slice(-1024);
      const from = Math.min(drawn, output.received);
      const fresh = Math.min(output.received - from, all.length);
      expect([...output.since(from)]).toEqual(all.slice(all.length - fresh));
    }),
  );
});

test("a character that is split between chunks survives, and half a one waits", () => {
  const output = new TerminalOutput();
  const euro = new TextEncoder().encode("€");
  output.append(euro.slice(0, 2));
  expect(output.text(false)).toBe("");
  expect(output.text(true)).toBe("\ufffd");
  output.append(euro.slice(2));
  expect(output.text(false)).toBe("€");
});

test("a snapshot takes the place of everything before it", () => {
  const output = new TerminalOutput(BYTES_MAX);
  output.append(new Uint8Array(2 * BYTES_MAX).fill(65));
  output.replace(new TextEncoder().encode("new"));
  expect([output.text(false), output.truncated, output.replacements]).toEqual(["new", false, 1]);
});
