import fc from "fast-check";
import { expect, test } from "vitest";
import { RowHeights } from "./row_heights.ts";

const rowsOf = (keys: readonly number[]) => keys.map((key) => ({ key: String(key) }));

test("tops are the sums of what was measured and what is estimated", () => {
  const changes = fc.array(
    fc.oneof(
      fc.record({ measure: fc.nat(30), height: fc.nat(500) }),
      fc.record({ add: fc.nat(5) }),
      fc.record({ drop: fc.nat(3) }),
    ),
  );
  fc.assert(
    fc.property(changes, (steps) => {
      const heights = new RowHeights<{ key: string }>(() => 10);
      const known = new Map<string, number>();
      let next = 0;
      let rows = rowsOf([]);
      for (const step of steps) {
        if ("add" in step)
          rows = [...rows, ...rowsOf(Array.from({ length: step.add }, () => next++))];
        else if ("drop" in step) rows = rows.slice(step.drop);
        else if (step.measure < rows.length) {
          heights.measure(step.measure, step.height);
          const before = known.get(rows[step.measure]!.key);
          if (before === undefined || Math.abs(before - step.height) >= 0.5)
            known.set(rows[step.measure]!.key, step.height);
        }
        heights.setRows(rows);
        let top = 0;
        rows.forEach((row, index) => {
          expect(heights.top(index)).toBe(top);
          top += known.get(row.key) ?? 10;
        });
        expect(heights.total).toBe(top);
      }
    }),
  );
});

test("the row at a distance is the one that covers it", () => {
  const heights = new RowHeights<{ key: string }>(() => 10);
  heights.setRows(rowsOf([1, 2, 3]));
  heights.measure(1, 100);
  expect([0, 9, 10, 109, 110, 5_000].map((distance) => heights.indexAt(distance))).toEqual([
    0, 0, 1, 1, 2, 2,
  ]);
  expect(new RowHeights(() => 1).indexAt(5)).toBe(0);
});
