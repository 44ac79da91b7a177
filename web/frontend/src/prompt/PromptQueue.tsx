/* The prompts that wait until the agent is done. */

import type { OpenSession } from "../client/types.ts";
import { titleText } from "../content/visible_text.ts";
import { Icon } from "../shell/Icon.tsx";
import { editQueued } from "./send_prompt.ts";

export function PromptQueue({ session, onEdited }: { session: OpenSession; onEdited(): void }) {
  const queue = session.queue.value;
  if (queue.length === 0) return null;
  return (
    <section class="prompt-queue" aria-label="Queued prompts">
      <h3>{queue.length === 1 ? "1 prompt waits" : `${queue.length} prompts wait`} until the agent is done</h3>
      <ol>
        {queue.map((prompt) => (
          <li key={prompt.id}>
            <span class="queued-text" dir="auto">
              {titleText(prompt.text, "Attachments")}
            </span>
            <button
              type="button"
              class="quiet icon"
              aria-label={`Edit the queued prompt ${titleText(prompt.text)}`}
              title="Take back into the prompt"
              onClick={() => {
                editQueued(session, prompt);
                onEdited();
              }}
            >
              <Icon name="edit" />
            </button>
            <button
              type="button"
              class="quiet icon"
              aria-label={`Remove the queued prompt ${titleText(prompt.text)}`}
              title="Remove"
              onClick={() => session.unqueue(prompt.id)}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
