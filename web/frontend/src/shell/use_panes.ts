/* Which of the open sessions are on the screen: the active one, and those that the user put beside. */

import { useState } from "preact/hooks";

import type { AccordClient, OpenSession } from "../client/types.ts";
import type { Side } from "./sessions/SidePanel.tsx";

export interface Panes {
  open: readonly OpenSession[];
  active: OpenSession | null;
  visible: readonly OpenSession[];
  isBeside(session: OpenSession): boolean;
  showBeside(session: OpenSession): void;
  showAlone(session: OpenSession): void;
  /** What is shown beside the conversation; null: nothing. */
  sideOf(session: OpenSession): Side | null;
  setSide(session: OpenSession, side: Side | null): void;
  /** Go to the next open session, or to the one before. */
  step(direction: -1 | 1): void;
}

const idOf = (session: OpenSession): string => session.summary.value.sessionId;

export function usePanes(client: AccordClient): Panes {
  const [beside, setBeside] = useState<ReadonlySet<string>>(new Set());
  const [sides, setSides] = useState<ReadonlyMap<string, Side | null>>(new Map());
  const open = client.open.value;
  const active = client.active.value;
  const isBeside = (session: OpenSession): boolean => beside.has(idOf(session));
  // An active session that is not among those beside each other is alone.
  const together = active !== null && isBeside(active);
  return {
    open,
    active,
    visible: open.filter((session) => session === active || (together && isBeside(session))),
    isBeside,
    showBeside: (session) => setBeside(new Set([...beside, ...otherPane(open, session, beside), idOf(session)])),
    showAlone: (session) => {
      setBeside(new Set([...beside].filter((id) => id !== idOf(session))));
      client.active.value = session;
    },
    sideOf: (session) => sides.get(idOf(session)) ?? null,
    setSide: (session, side) => setSides(new Map(sides).set(idOf(session), side)),
    step: (direction) => {
      const at = active === null ? 0 : open.indexOf(active) + direction;
      const next = open[(at + open.length) % open.length];
      if (next) client.active.value = next;
    },
  };
}

/** One pane beside itself is nothing: the session that was opened before comes along. */
function otherPane(open: readonly OpenSession[], session: OpenSession, beside: ReadonlySet<string>): string[] {
  if (beside.size > 0) return [];
  const other = open.filter((each) => each !== session).at(-1);
  return other ? [idOf(other)] : [];
}
