import { effect } from "@preact/signals";
import { expect, test } from "vitest";
import { chunks } from "../testing/scripts.ts";
import { Transcript } from "./transcript.ts";

function messageOf(transcript: Transcript) {
  const item = transcript.timeline.value[0];
  if (item?.kind !== "message") throw new Error("there is no message");
  return item;
}

test("however many updates come, signals change once in a frame", () => {
  const transcript = new Transcript();
  let drawn = 0;
  effect(() => {
    for (const item of transcript.timeline.value) void item.revision.value;
    drawn += 1;
  });
  for (const update of chunks("m", Array(20_000).fill("word "))) transcript.apply(update);
  transcript.frames.flush();
  expect(drawn).toBe(2);
  expect(messageOf(transcript).text).toBe("word ".repeat(20_000));
});

test("an item that did not change is not drawn again", () => {
  const transcript = new Transcript();
  for (const update of chunks("first", ["a"])) transcript.apply(update);
  transcript.frames.flush();
  const first = messageOf(transcript);
  const [revision, timeline] = [first.revision.value, transcript.timeline.value];
  transcript.apply({ sessionUpdate: "usage_update", used: 1, size: 2 });
  transcript.frames.flush();
  expect(first.revision.value).toBe(revision);
  expect(transcript.timeline.value).toBe(timeline);
  expect(transcript.usage.value.used).toBe(1);
});

test("an update that cannot be read changes nothing and is noted", () => {
  const transcript = new Transcript();
  transcript.apply({ sessionUpdate: "agent_message_chunk", messageId: 5 });
  transcript.apply("no update");
  transcript.apply(undefined);
  transcript.frames.flush();
  expect(transcript.timeline.value).toEqual([]);
  expect(transcript.refused).toContain("SessionUpdate: $");
});

test("the time of a tool call counts from when it runs, and not what a history says", () => {
  let now: number | undefined = undefined;
  const transcript = new Transcript(undefined, () => now);
  const call = (toolCallId: string, status: string) =>
    transcript.apply({ sessionUpdate: "tool_call_update", toolCallId, status });
  call("old", "completed");
  now = 1000;
  call("new", "pending");
  now = 2000;
  call("new", "in_progress");
  now = 5000;
  call("new", "completed");
  now = 9000;
  call("new", "completed");
  const times = (id: string) => [
    transcript.toolCall(id)?.startedAt,
    transcript.toolCall(id)?.endedAt,
  ];
  expect(times("old")).toEqual([undefined, undefined]);
  expect(times("new")).toEqual([2000, 5000]);
});
