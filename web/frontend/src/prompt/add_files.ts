/* Puts files into the draft of a session: pasted, dropped or chosen. */

import type { Attachment, OpenSession } from "../client/types.ts";
import { attachmentOf, promptCapabilities, refusal } from "./attachments.ts";

/** Attach what the agent takes, and say which files were not attached. */
export async function addFiles(session: OpenSession, files: readonly File[], capabilities: unknown): Promise<void> {
  const takes = promptCapabilities(capabilities);
  const problems: string[] = [];
  for (const file of files) {
    const refused = refusal(file, session.draft.value.attachments, takes);
    const made = refused === null ? await attachmentOf(file, takes) : { problem: refused };
    if ("problem" in made) problems.push(made.problem);
    else addToDraft(session, "", [made]);
  }
  session.problem.value = problems.length > 0 ? problems.join(" ") : null;
}

/** Put text and attachments behind what is in the draft. */
export function addToDraft(session: OpenSession, text: string, attachments: readonly Attachment[]): void {
  const draft = session.draft.value;
  session.draft.value = {
    text: [draft.text, text].filter((part) => part.trim() !== "").join("\n\n"),
    attachments: [...draft.attachments, ...attachments],
  };
}
