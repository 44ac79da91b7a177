/** Facts about a session as a whole.  A change makes a new object, so signals can hold them. */

import type { Json, Meta } from "./blocks.ts";

export interface Command {
  /** Without the slash. */
  name: string;
  description: string;
  /** What may follow the name. */
  hint: string | null;
}

export interface Mode {
  modeId: string;
  name: string;
  description: string | null;
}

export interface Modes {
  current: string | null;
  available: readonly Mode[];
}

export interface Choice {
  value: string;
  name: string;
  description: string | null;
  groupId: string | null;
  groupName: string | null;
}

/** One thing that can be set; one of unknown type is only shown. */
export interface ConfigOption {
  optionId: string;
  name: string;
  type: "select" | "boolean" | "unknown";
  value: unknown;
  choices: readonly Choice[];
  description: string | null;
  category: string | null;
}

export interface Usage {
  used: number | null;
  size: number | null;
  cost: { amount: number; currency: string } | null;
}

export interface SessionInfo {
  title: string | null;
  updatedAt: string | null;
  meta: Meta;
}

export interface BackgroundItem {
  type: "terminal" | "tool_call" | "subagent" | (string & {});
  id: string | null;
}

export interface SessionState {
  /** Null: not confirmed. */
  confirmed: "running" | "idle" | "requires_action" | null;
  /** The word that came. */
  reported: string | null;
  /** Why the last work stopped. */
  stopReason: string | null;
  error: Json;
  /** Token counts of the work that ended last. */
  tokens: Json;
  /** Null: nothing is known; empty: nothing runs. */
  background: readonly BackgroundItem[] | null;
  /** How often work ended. */
  completions: number;
}
