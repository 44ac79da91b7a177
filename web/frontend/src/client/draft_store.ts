/** What was typed and not sent, kept by the browser: a reload, a crash or a cut loses nothing. */

import type { ContentBlock } from "../transcript/items.ts";
import type { Attachment, Draft, QueuedPrompt } from "./types.ts";

interface Kept {
  text: string;
  attachments: Attachment[];
  queue: QueuedPrompt[];
}

const NOTHING: Kept = { text: "", attachments: [], queue: [] };

export class DraftStore {
  constructor(
    private readonly key: string,
    private readonly storage: Storage | null,
  ) {}

  read(): Kept {
    try {
      const kept = JSON.parse(this.storage?.getItem(this.key) ?? "null") as Partial<Kept> | null;
      if (kept === null || typeof kept.text !== "string") return NOTHING;
      const attachments = (kept.attachments ?? []).map(withPreview);
      return { text: kept.text, attachments, queue: kept.queue ?? [] };
    } catch {
      return NOTHING;
    }
  }

  write(draft: Draft, queue: readonly QueuedPrompt[]): void {
    const { text } = draft;
    if (text === "" && draft.attachments.length === 0 && queue.length === 0) {
      this.attempt(() => this.storage?.removeItem(this.key));
      return;
    }
    // Addresses of previews end with the page.
    const attachments = draft.attachments.map((one) => ({ ...one, preview: null }));
    const whole = JSON.stringify({ text, attachments, queue });
    if (this.attempt(() => this.storage?.setItem(this.key, whole))) return;
    // There is no room for pictures, but there is for words.
    const words = JSON.stringify({ text, attachments: [], queue: queue.map(withoutData) });
    this.attempt(() => this.storage?.setItem(this.key, words));
  }

  private attempt(write: () => void): boolean {
    try {
      write();
      return true;
    } catch {
      return false;
    }
  }
}

function withPreview(attachment: Attachment): Attachment {
  const { block } = attachment;
  if (block.type !== "image") return attachment;
  return { ...attachment, preview: `data:${block.mimeType};base64,${block.data}` };
}

function withoutData(prompt: QueuedPrompt): QueuedPrompt {
  const hasData = (block: ContentBlock) => block.type === "image" || block.type === "audio";
  return { ...prompt, blocks: prompt.blocks.filter((block) => !hasData(block)) };
}
