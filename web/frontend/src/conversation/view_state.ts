/* What the views of one conversation share: what is unfolded, and which terminals belong where. */

import { signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { OpenSession } from "../client/types.ts";
import type { Item, TerminalItem, ToolCall } from "../transcript/items.ts";

/** The terminals of a timeline by id, and which of them a tool call shows. */
export class TerminalIndex {
  private readonly byId = new Map<string, TerminalItem>();
  private readonly shownByCall = new Set<string>();
  private readonly revision = signal(0);
  private taken: readonly Item[] = [];

  /** Take a timeline that has grown; one that was replaced is read from its start. */
  take(timeline: readonly Item[]): void {
    if (timeline === this.taken) return;
    const grown =
      this.taken.length === 0 ||
      timeline[this.taken.length - 1] === this.taken[this.taken.length - 1];
    let isNews = false;
    for (let at = grown ? this.taken.length : 0; at < timeline.length; at += 1) {
      const item = timeline[at]!;
      if (item.kind === "terminal") {
        this.byId.set(item.terminalId, item);
        isNews = true;
      } else if (item.kind === "toolCall") isNews = this.note(item) || isNews;
    }
    this.taken = timeline;
    if (isNews) this.revision.value += 1;
  }

  /** A tool call may name a terminal later than it came itself. */
  anchor(call: ToolCall): void {
    if (this.note(call)) this.revision.value += 1;
  }

  find(terminalId: string): TerminalItem | null {
    void this.revision.value;
    return this.byId.get(terminalId) ?? null;
  }

  isShownByCall(terminalId: string): boolean {
    void this.revision.value;
    return this.shownByCall.has(terminalId);
  }

  private note(call: ToolCall): boolean {
    const before = this.shownByCall.size;
    for (const content of call.content) {
      if (content.type === "terminal") this.shownByCall.add(content.terminalId);
    }
    return this.shownByCall.size > before;
  }
}

export interface ViewState {
  readonly session: OpenSession;
  readonly terminals: TerminalIndex;
  /** What was folded or unfolded by hand, by key: rows come and go while scrolling. */
  readonly folds: Map<string, boolean>;
  readonly showFile: ((path: string, line: number | null) => void) | undefined;
  readonly review: ((path: string) => void) | undefined;
}

export const ViewContext = createContext<ViewState | null>(null);

export function useView(): ViewState {
  const state = useContext(ViewContext);
  if (state === null) throw new Error("This view must be inside a Conversation.");
  return state;
}

/** Whether something is unfolded; `otherwise` counts until somebody folds it by hand. */
export function useFold(key: string, otherwise: boolean): [boolean, (event: Event) => void] {
  const { folds } = useView();
  const [, redraw] = useState(0);
  const open = folds.get(key) ?? otherwise;
  return [
    open,
    (event) => {
      const now = (event.currentTarget as HTMLDetailsElement).open;
      if (now === (folds.get(key) ?? otherwise)) return;
      folds.set(key, now);
      redraw((count) => count + 1);
    },
  ];
}

/** The time now, in steps of a second while something runs. */
export function useNow(runs: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!runs) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [runs]);
  return now;
}
