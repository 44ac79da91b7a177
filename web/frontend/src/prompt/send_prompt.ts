/* Sends the draft of a session, so that nothing typed is lost: what could not be sent comes back. */

import { batch } from "@preact/signals";

import type { Attachment, Connection, OpenSession, QueuedPrompt } from "../client/types.ts";
import { addToDraft } from "./add_files.ts";
import { promptBlocks } from "./attachments.ts";

/** What a click on "Send" does now. */
export type SendAction = "send" | "queue" | "nothing" | "offline";

export function sendAction(session: OpenSession, connection: Connection): SendAction {
  const { text, attachments } = session.draft.value;
  if (promptBlocks(text, attachments).length === 0) return "nothing";
  if (connection.state !== "open") return "offline";
  return session.running.value === null ? "send" : "queue";
}

/** Send the draft, or queue it while the agent works; what fails is the problem of the session. */
export async function sendDraft(session: OpenSession, connection: Connection): Promise<void> {
  const action = sendAction(session, connection);
  if (action === "nothing") return;
  session.problem.value = action === "offline" ? "Not connected. Your text is kept; send it when the connection is back." : null;
  if (action === "offline") return;
  const sent = session.draft.value;
  const blocks = promptBlocks(sent.text, sent.attachments);
  session.draft.value = { text: "", attachments: [] };
  if (action === "queue") {
    session.enqueue(blocks);
    return;
  }
  try {
    await session.prompt(blocks);
  } catch (error) {
    const typedSince = session.draft.value;
    batch(() => {
      session.draft.value = sent;
      addToDraft(session, typedSince.text, typedSince.attachments);
      session.problem.value = `${messageOf(error)} Your text is back in the prompt.`;
    });
  }
}

/** Take a queued prompt back into the draft. */
export function editQueued(session: OpenSession, prompt: QueuedPrompt): void {
  const taken = session.unqueue(prompt.id);
  if (taken === null) return;
  const [words, ...rest] = taken.blocks[0]?.type === "text" ? taken.blocks : [null, ...taken.blocks];
  const text = words?.type === "text" ? words.text : "";
  const attachments = rest.flatMap((block): Attachment[] => {
    if (block === null) return [];
    const name = block.type === "resource_link" ? block.name : block.type === "resource" ? block.resource.uri : block.type;
    const mimeType = "mimeType" in block ? (block.mimeType ?? "") : "";
    const preview = block.type === "image" ? `data:${block.mimeType};base64,${block.data}` : null;
    return [{ id: crypto.randomUUID(), name, mimeType, size: sizeOf(block), block, preview }];
  });
  addToDraft(session, text, attachments);
}

const sizeOf = (block: Attachment["block"]): number =>
  block.type === "image" || block.type === "audio" ? Math.floor((block.data.length * 3) / 4) : 0;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
