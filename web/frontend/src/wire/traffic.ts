/** What went over the wire, for whoever wants to look: the newest frames. */

import { signal, type Signal } from "@preact/signals";
import { FrameBatch } from "../transcript/frame.ts";

export interface TrafficEntry {
  id: number;
  at: number;
  way: "sent" | "received";
  method: string | null;
  requestId: string | number | null;
  size: number;
  text: string;
}

export const ENTRIES_MAX = 2_000;
export const TEXT_CHARS_MAX = 16 * 1024;

export class Traffic {
  readonly entries: Signal<readonly TrafficEntry[]> = signal([]);
  private kept: TrafficEntry[] = [];
  private nextId = 1;
  private readonly show = () => {
    if (this.kept.length > ENTRIES_MAX) this.kept = this.kept.slice(-ENTRIES_MAX);
    this.entries.value = [...this.kept];
  };

  constructor(
    private readonly frames: FrameBatch = new FrameBatch(),
    private readonly now: () => number = Date.now,
  ) {}

  note(way: "sent" | "received", message: unknown, text: string): void {
    const { method, id } = (message ?? {}) as { method?: unknown; id?: unknown };
    this.kept.push({
      id: this.nextId,
      at: this.now(),
      way,
      method: typeof method === "string" ? method : null,
      requestId: typeof id === "string" || typeof id === "number" ? id : null,
      size: text.length,
      text: text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text,
    });
    this.nextId += 1;
    if (this.kept.length > 2 * ENTRIES_MAX) this.kept = this.kept.slice(-ENTRIES_MAX);
    this.frames.add(this.show);
  }

  clear(): void {
    this.kept = [];
    this.show();
  }
}
