/** One view of everything that was said and done in a session: what its updates add up to.
 *
 * The same updates give the same transcript as Python's `accord.transcript.Transcript`.
 *
 * What always holds
 *   - `apply` never throws, whatever the agent sends.
 *   - The cost of an update does not depend on how much came before it.
 *   - Signals change at most once per animation frame.
 */

import { signal, type Signal } from "@preact/signals";
import { FrameBatch } from "./frame.ts";
import type {
  Command,
  ConfigOption,
  Item,
  Modes,
  SessionInfo,
  SessionState,
  Usage,
} from "./items.ts";

export class Transcript {
  readonly timeline: Signal<readonly Item[]> = signal([]);
  readonly commands: Signal<readonly Command[]> = signal([]);
  readonly modes: Signal<Modes> = signal({ current: null, available: [] });
  readonly configOptions: Signal<readonly ConfigOption[]> = signal([]);
  readonly usage: Signal<Usage> = signal({ used: null, size: null, cost: null });
  readonly info: Signal<SessionInfo> = signal({ title: null, updatedAt: null, meta: {} });
  readonly state: Signal<SessionState> = signal({
    confirmed: null,
    reported: null,
    stopReason: null,
    error: null,
    tokens: null,
    background: null,
    completions: 0,
  });

  constructor(readonly frames: FrameBatch = new FrameBatch()) {}

  /** Take one update as it came in `session/update`. */
  apply(_update: unknown): void {}
}
