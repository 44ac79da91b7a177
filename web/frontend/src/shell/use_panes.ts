/* Which of the open sessions are on the screen: the active one, and those that the user put beside. */

import { useState } from "preact/hooks";

import type { AccordClient, OpenSession } from "../client/types.ts";

export interface Panes {
  open: readonly OpenSession[];
  active: OpenSession | null;
  visible: readonly OpenSession[];
  isBeside(session: OpenSession): boolean;
  showBeside(session: OpenSession): void;
  showAlone(session: OpenSession): void;
  isReviewing(session: OpenSession): boolean;
  toggleReview(session: OpenSession): void;
  /** Go to the next open session, or to the one before. */
  step(direction: -1 | 1): void;
}

const idOf = (session: OpenSession): string => session.summary.value.sessionId;

export function usePanes(client: AccordClient): Panes {
  const [beside, setBeside] = useState<ReadonlySet<string>>(new Set());
  const [reviewing, setReviewing] = useState<ReadonlySet<string>>(new Set());
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
    isReviewing: (session) => reviewing.has(idOf(session)),
    toggleReview: (session) => setReviewing(toggled(reviewing, idOf(session))),
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

function toggled(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}
