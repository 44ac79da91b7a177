/** Plays the conversations of `tests/shared_conversations`, as Python's tests do. */

import { parseFrame } from "../wire/json_text.ts";
import type { ContentBlock } from "../transcript/blocks.ts";
import type { Message } from "../transcript/items.ts";
import { Transcript, type SetupRoot } from "../transcript/transcript.ts";

type Event = Record<string, unknown>;

export function played(lines: string): Transcript {
  const transcript = new Transcript();
  const prompts = new Map<unknown, Message>();
  const promptOf = (name: unknown) => prompts.get(name) as Message;
  const events: Record<string, (event: Event) => unknown> = {
    update: (event) => transcript.apply(event["update"]),
    setup: (event) => transcript.sessionSetup(event["setup"] as SetupRoot, event["result"]),
    permissionSubject: (event) => transcript.applyPermissionSubject(event["permissionSubject"]),
    promptSent: (event) =>
      prompts.set(event["as"], transcript.promptSent(event["promptSent"] as ContentBlock[])),
    promptInserted: (event) =>
      transcript.promptInserted(promptOf(event["promptInserted"]), event["messageId"] as string),
    promptRejected: (event) => transcript.promptRejected(promptOf(event["promptRejected"])),
    turnStarted: () => transcript.turnStarted(),
    turnCancelled: (event) => {
      for (const call of transcript.turnCancelled()) if (event["ends"]) call.endCancelled();
    },
    optionSelected: (event) =>
      transcript.optionSelected(event["optionSelected"] as string, event["value"]),
    modeSelected: (event) => transcript.modeSelected(event["modeSelected"] as string),
  };
  for (const line of lines.trimEnd().split("\n")) {
    const event = parseFrame(line) as Event;
    events[Object.keys(event)[0] as string]?.(event);
  }
  return transcript;
}
