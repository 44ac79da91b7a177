import { expect, test } from "vitest";
import { FakeClient } from "./fake_client.ts";

test("a question of a fake session goes when it is answered, and the answer is noted", async () => {
  const session = await new FakeClient().openSession("s1");
  session.askPermission().answer("once");
  expect(session.questions.value).toEqual([]);
  expect(session.calls).toContainEqual(["answer", "once"]);
});
