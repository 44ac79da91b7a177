// @vitest-environment node
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { played } from "../testing/conversation_player.ts";

const folder = fileURLToPath(
  new URL("../../../../tests/shared_conversations/recorded", import.meta.url),
);
const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));

test.each(names)("the page reads %s as Python does", (name) => {
  const read = (file: string) => readFileSync(`${folder}/${file}`, "utf8");
  const expected: unknown = JSON.parse(read(name.replace(".jsonl", ".expected.json")));
  // Through JSON, as Python's came: what is undefined is not there.
  expect(JSON.parse(JSON.stringify(played(read(name)).dump()))).toEqual(expected);
});
