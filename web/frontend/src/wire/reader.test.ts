import fc from "fast-check";
import { expect, test } from "vitest";
import { Invalid } from "./invalid.ts";
import { CHECKED_TYPES, read } from "./reader.ts";
import { CHECKS } from "./struct_checks.ts";

test("every type with a rule of its own has it here too", () => {
  expect(Object.keys(CHECKS).sort()).toEqual([...CHECKED_TYPES].sort());
});

test("whatever comes is read or refused", () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.constantFrom("SessionUpdate", "NewSessionResponse"),
      (value, root) => {
        try {
          read(root as "SessionUpdate", value);
        } catch (error) {
          expect(error).toBeInstanceOf(Invalid);
        }
      },
    ),
  );
});

test("a refusal says where and why", () => {
  const update = {
    sessionUpdate: "agent_message_chunk",
    messageId: "m",
    content: { type: "text" },
  };
  expect(() => read("SessionUpdate", update)).toThrow("$.content.text: missing required key");
});

test("a member of every object's prototype is no variant", () => {
  const update = { sessionUpdate: "constructor" };
  expect(read("SessionUpdate", update)).toEqual({
    type: "unknown",
    tag: "constructor",
    received: update,
  });
});
