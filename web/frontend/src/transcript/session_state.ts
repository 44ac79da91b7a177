/** What a session, or a child of it, is doing in the foreground, and what goes on behind it.
 *
 * What always holds: only the three known words are shown as confirmed; anything else is never
 * idle and takes back what was confirmed before.  Work counts as completed once, and only if it
 * was seen running: the snapshot after a resume completes nothing.
 */

import type { Json } from "./blocks.ts";
import type { BackgroundItem, SessionState } from "./session_facts.ts";

export interface Snapshot {
  state: string;
  stopReason?: string | null;
  error?: Json;
  usage?: Json;
  background?: Work[] | null;
}

type Work =
  | { type: "terminal"; terminalId: string }
  | { type: "tool_call"; toolCallId: string }
  | { type: "subagent"; sessionId: string }
  | { type: "unknown"; tag: string };

// The agent does not know its state; every other unknown value means busy.
const UNOBSERVED = "unknown";

const NOTHING_KNOWN = {
  confirmed: null,
  reported: null,
  stopReason: null,
  error: null,
  background: null,
};

export class State {
  /** Another object after each change. */
  shown: SessionState = { ...NOTHING_KNOWN, tokens: null, completions: 0 };
  private working = false;

  /** Take a whole snapshot; the same one again changes nothing. */
  report(snapshot: Snapshot): void {
    const word = snapshot.state;
    const background = snapshot.background?.map(backgroundItem) ?? null;
    const before = { ...this.shown, reported: word, background };
    if (word !== "idle") {
      const confirmed = word === "running" || word === "requires_action" ? word : null;
      this.shown = { ...before, confirmed, stopReason: null, error: null };
      if (word !== UNOBSERVED) this.working = true;
      return;
    }
    const { stopReason = null, error = null, usage: tokens = null } = snapshot;
    this.shown = { ...before, confirmed: word, stopReason, error };
    if (this.working) {
      this.working = false;
      this.shown = { ...this.shown, tokens, completions: before.completions + 1 };
    }
  }

  /** Nothing is known any more. */
  forget(): void {
    this.shown = { ...this.shown, ...NOTHING_KNOWN };
  }

  /** A new session is idle, unless it has already reported another state. */
  assumeIdle(): void {
    if (this.shown.reported === null) this.shown = { ...this.shown, confirmed: "idle" };
  }

  /** The ids of the tool calls that go on behind a cancelled turn. */
  get backgroundToolCalls(): ReadonlySet<string | null> {
    const calls = (this.shown.background ?? []).filter((item) => item.type === "tool_call");
    return new Set(calls.map((item) => item.id));
  }
}

function backgroundItem(work: Work): BackgroundItem {
  switch (work.type) {
    case "terminal":
      return { type: work.type, id: work.terminalId };
    case "tool_call":
      return { type: work.type, id: work.toolCallId };
    case "subagent":
      return { type: work.type, id: work.sessionId };
    case "unknown":
      return { type: work.tag, id: null };
  }
}
