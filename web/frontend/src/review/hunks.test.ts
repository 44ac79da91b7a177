import fc from "fast-check";
import { expect, test } from "vitest";
import { changedWords, inlineRows, markSegments, rowsOf } from "./diff_rows.ts";
import { countsOf, fingerprint, hunksBetween, hunksOf, hunksOfPatch, splitLines } from "./hunks.ts";
import { reversed, withoutHunk } from "./undo.ts";

const LINES = fc.array(
  fc.constantFrom("a\n", "b\n", "c\n", "\n", "  d\n", "e\r\n", "--- x\n", "+++ y\n"),
  { maxLength: 30 },
);
const TEXT = fc
  .tuple(LINES, fc.constantFrom("", "end", "last"))
  .map(([lines, end]) => lines.join("") + end);

test("two texts differ by hunks that lead from one to the other", () => {
  fc.assert(
    fc.property(TEXT, TEXT, (before, after) => {
      expect(reversed(after, hunksBetween(before, after))).toEqual({ text: before, lost: 0 });
    }),
  );
});

test("undoing one hunk after the other, in any order, brings the old text back", () => {
  fc.assert(
    fc.property(TEXT, TEXT, fc.infiniteStream(fc.nat()), (before, after, picks) => {
      let text = after;
      for (;;) {
        const hunks = hunksBetween(before, text);
        if (hunks.length === 0) break;
        const hunk = hunks[(picks.next().value as number) % hunks.length]!;
        const next = withoutHunk(text, hunk);
        expect(next).not.toBeNull();
        expect(hunksBetween(before, next!).length).toBeLessThan(hunks.length);
        text = next!;
      }
      expect(text).toBe(before);
    }),
  );
});

test("a hunk is found after lines were added above it", () => {
  const hunks = hunksBetween("one\ntwo\nthree\n", "one\nTWO\nthree\n");
  expect(reversed("zero\nzero\none\nTWO\nthree\n", hunks)).toEqual({
    text: "zero\nzero\none\ntwo\nthree\n",
    lost: 0,
  });
});

test("a hunk is found in a file whose line ends are given plainly", () => {
  const hunks = hunksBetween("one\r\ntwo\r\n", "one\r\nTWO\r\n");
  expect(reversed("one\nTWO\n", hunks)).toEqual({ text: "one\ntwo\n", lost: 0 });
});

test("a hunk that was taken back already is not counted as lost", () => {
  const hunks = hunksBetween("one\ntwo\n", "one\nTWO\n");
  expect(reversed("one\ntwo\n", hunks)).toEqual({ text: "one\ntwo\n", lost: 0 });
});

test("a hunk that fits at several places is left alone and counted", () => {
  const hunk = hunksOfPatch("@@ -50,1 +50,1 @@\n-old\n+new\n");
  expect(reversed("new\nx\nnew\n", hunk)).toEqual({ text: "new\nx\nnew\n", lost: 1 });
});

test("a hunk of another text is refused", () => {
  expect(withoutHunk("other\n", hunksBetween("a\n", "b\n")[0]!)).toBeNull();
});

const PATCH = `diff --git /a.py /a.py
--- /a.py
+++ /a.py
@@ -1,3 +1,3 @@ class A:
 keep
--- looks like a header
+++ so does this
 last
\\ No newline at end of file
`;

test("a git patch is read by the counts of its header", () => {
  const [hunk] = hunksOfPatch(PATCH);
  expect(hunk!.heading).toBe("class A:");
  expect(hunk!.lines).toEqual([
    { kind: "same", text: "keep\n" },
    { kind: "removed", text: "-- looks like a header\n" },
    { kind: "added", text: "++ so does this\n" },
    { kind: "same", text: "last" },
  ]);
  expect(countsOf([hunk!])).toEqual({ added: 1, removed: 1 });
});

test("any text can be given as a patch", () => {
  const piece = fc.constantFrom(
    "@@ -1,2 +3,4 @@\n",
    "@@ -1 +1 @@",
    "+a\n",
    "-b\n",
    " c\n",
    "\\ No newline\n",
    "\n",
    "diff --git a b\n",
    "x",
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      for (const hunk of hunksOfPatch(pieces.join(""))) inlineRows(rowsOf(hunk));
    }),
  );
  expect(hunksOfPatch("@@ -1,999999999 +1,999999999 @@\n")).toHaveLength(1);
});

test("only the fact of a change may be known", () => {
  const diff = {
    path: "/a",
    operation: "modify",
    oldPath: null,
    oldText: null,
    newText: null,
    patch: null,
  };
  expect(hunksOf(diff)).toBeNull();
  expect(hunksOf({ ...diff, newText: "a\n" })![0]!.lines).toEqual([{ kind: "added", text: "a\n" }]);
});

test("lines keep their ends", () => {
  fc.assert(
    fc.property(TEXT, (text) => {
      expect(splitLines(text).join("")).toBe(text);
    }),
  );
});

test("rows show every line once, and pair what replaces what", () => {
  fc.assert(
    fc.property(TEXT, TEXT, (before, after) => {
      for (const hunk of hunksBetween(before, after)) {
        const rows = rowsOf(hunk);
        const flat = inlineRows(rows).map((row) => (row.left ?? row.right)!);
        expect(
          flat.map(({ kind, text, hasNoEnd }) => ({ kind, text: text + (hasNoEnd ? "" : "\n") })),
        ).toEqual(sorted(hunk.lines));
      }
    }),
  );
});

/** Within a change, git may mix removed and added lines; we show the removed ones first. */
function sorted(lines: readonly { kind: string; text: string }[]) {
  const made: { kind: string; text: string }[] = [];
  let run: { kind: string; text: string }[] = [];
  const flush = () => {
    made.push(
      ...run.filter((line) => line.kind === "removed"),
      ...run.filter((line) => line.kind === "added"),
    );
    run = [];
  };
  for (const line of lines) {
    if (line.kind === "same") {
      flush();
      made.push(line);
    } else run.push(line);
  }
  flush();
  return made;
}

test("changed words are marked, and lines with nothing in common are not", () => {
  const marks = changedWords("return sum(items) + 1", "return sum(items)")!;
  expect(marks.removed.map(([from, to]) => "return sum(items) + 1".slice(from, to)).join("")).toBe(
    " + 1",
  );
  expect(marks.added).toEqual([]);
  expect(changedWords("alpha beta gamma", "one two three")).toBeNull();
});

test("marks cut segments without losing a character", () => {
  const marks = fc.array(fc.tuple(fc.nat(20), fc.nat(6)), { maxLength: 4 }).map((pairs) => {
    let at = 0;
    return pairs.map(([gap, size]) => [(at += gap), (at += size + 1)] as const);
  });
  const segments = fc.array(
    fc.record({ text: fc.string({ maxLength: 9 }), scope: fc.constantFrom(null, "keyword") }),
  );
  fc.assert(
    fc.property(segments, marks, (parts, ranges) => {
      const whole = parts.map((part) => part.text).join("");
      const made = markSegments(parts, ranges);
      expect(made.map((part) => part.text).join("")).toBe(whole);
      expect(
        made
          .filter((part) => part.isMarked)
          .map((part) => part.text)
          .join(""),
      ).toBe(ranges.map(([from, to]) => whole.slice(from, to)).join(""));
    }),
  );
});

test("a change has the same name wherever it moved", () => {
  const [one] = hunksBetween("a\nb\n", "a\nc\n");
  const [other] = hunksBetween("x\ny\nz\nq\na\nb\n", "x\ny\nz\nq\na\nc\n");
  expect(fingerprint("/f", one!)).toBe(fingerprint("/f", other!));
  expect(fingerprint("/f", one!)).not.toBe(fingerprint("/g", one!));
});
