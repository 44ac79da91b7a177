import fc from "fast-check";
import { expect, it } from "vitest";

import { optionOfKey, QUIET_MS } from "./key_guard.ts";

const pressed = (key: string, more = {}) => ({ key, ctrlKey: false, altKey: false, metaKey: false, repeat: false, ...more });

it("a digit chooses the option with that number", () => {
  expect(optionOfKey(pressed("1"), 3, QUIET_MS)).toBe(0);
  expect(optionOfKey(pressed("3"), 3, QUIET_MS)).toBe(2);
  expect(optionOfKey(pressed("4"), 3, QUIET_MS)).toBeNull();
});

it("nothing else chooses", () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(20), fc.nat(2000), (key, options, shown) => {
      if (/^[1-9]$/.test(key) && Number(key) <= options && shown >= QUIET_MS) return;
      expect(optionOfKey(pressed(key), options, shown)).toBeNull();
    }),
  );
});

it.each([{ ctrlKey: true }, { altKey: true }, { metaKey: true }, { repeat: true }])("not with %j", (more) => {
  expect(optionOfKey(pressed("1", more), 3, QUIET_MS)).toBeNull();
});

it("not before the panel has been there for a moment", () => {
  expect(optionOfKey(pressed("1"), 3, QUIET_MS - 1)).toBeNull();
});
