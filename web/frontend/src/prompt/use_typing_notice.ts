/* Tells the others in a session that somebody writes: at most every two seconds. */

import { useEffect, useRef } from "preact/hooks";

import type { OpenSession } from "../client/types.ts";

const EVERY_MS = 2_000;
const IDLE_AFTER_MS = 5_000;

export function useTypingNotice(session: OpenSession): { typing(): void; idle(): void } {
  const told = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const idle = (): void => {
    clearTimeout(timer.current);
    if (told.current === 0) return;
    told.current = 0;
    session.tell("idle");
  };
  const typing = (): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(idle, IDLE_AFTER_MS);
    const now = performance.now();
    if (told.current !== 0 && now - told.current < EVERY_MS) return;
    told.current = now;
    session.tell("typing");
  };
  useEffect(() => idle, [session]);
  return { typing, idle };
}
