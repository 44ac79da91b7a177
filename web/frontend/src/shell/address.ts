/* The part of the page's address behind `#`: which session is shown, and a code that lets somebody
   in.  It never reaches a server, so no log has it. */

import { effect, untracked } from "@preact/signals";

import type { AccordClient } from "../client/types.ts";

export interface Place {
  agent: string | null;
  session: string | null;
  /** The code of an invitation; it works once. */
  join: string | null;
}

export function readPlace(fragment: string): Place {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  return { agent: fields.get("agent"), session: fields.get("session"), join: fields.get("join") };
}

/** The fragment for a place, with its `#`; empty for nowhere. */
export function fragmentOf(place: Partial<Place>): string {
  const known = Object.entries(place).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return known.length === 0 ? "" : `#${new URLSearchParams(known)}`;
}

/** Open the session that the address names, and keep the address at the one that is shown. */
export function followAddress(client: AccordClient, onProblem: (error: unknown) => void): () => void {
  let wanted: Place | null = readPlace(location.hash);
  if (wanted.session === null) wanted = null;
  let isSwitching = false;
  let wasShown = false;
  return effect(() => {
    const isReady = client.agents.value.length > 0 && client.connection.value.state === "open";
    const shown = client.active.value?.summary.value ?? null;
    const agent = client.agent.value?.name ?? null;
    untracked(() => {
      if (wanted === null) {
        if (shown !== null) write({ agent: shown.agent, session: shown.sessionId });
        else if (wasShown) write({});
        wasShown = shown !== null;
        return;
      }
      const isOther = wanted.agent !== null && wanted.agent !== agent;
      if (isOther && !isSwitching && client.agents.value.some((each) => each.name === wanted?.agent)) {
        isSwitching = true;
        client.chooseAgent(wanted.agent!).catch(onProblem);
      } else if (isReady && !(isOther && isSwitching)) {
        const { session, join } = wanted;
        wanted = null;
        (join === null ? client.openSession(session!) : client.join(join, session!)).catch((error: unknown) => {
          write({});
          onProblem(error);
        });
      }
    });
  });
}

function write(place: Partial<Place>): void {
  const fragment = fragmentOf(place);
  if (location.hash !== fragment) history.replaceState(null, "", `${location.pathname}${location.search}${fragment}`);
}
