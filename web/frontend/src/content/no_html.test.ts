import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SOURCES = join(import.meta.dirname, "..");
const SINKS =
  /\b(?:innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|DOMParser|srcdoc|createContextualFragment|new Function)\b|\beval\(/;

test("no part of the page makes HTML from text, so no words of an agent can become active", () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" });
  const sources = files.filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name));
  expect(sources.length).toBeGreaterThan(20);
  const found = sources.filter((name) => SINKS.test(readFileSync(join(SOURCES, name), "utf8")));
  expect(found).toEqual([]);
});
