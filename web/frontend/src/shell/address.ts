/* The part of the page's address behind `#`: which session is shown, so that a reload shows it again.
   It never reaches a server, so no log has it.  Tokens and invitations are there too: the client
   takes them out before the page is drawn. */

import { effect, untracked } from "@preact/signals";

import type { AccordClient } from "../client/types.ts";

export interface Place {
  agent: string | null;
  session: string | null;
}

export function readPlace(fragment: string): Place {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  return { agent: fields.get("agent"), session: fields.get("session") };
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
  const open = async (session: string): Promise<void> => {
    try {
      // The list has the folder of the session.
      await client.refreshSessions();
      await client.openSession(session);
    } catch (error) {
      write({});
      onProblem(error);
    }
  };
  return effect(() => {
    const isReady = client.connection.value.state === "open";
    const shown = client.active.value?.summary.value ?? null;
    const agent = client.agent.value?.name ?? null;
    const agents = client.agents.value;
    untracked(() => {
      // An invitation or the user was quicker.
      if (shown !== null) wanted = null;
      if (wanted === null) {
        if (shown !== null) write({ agent: shown.agent, session: shown.sessionId });
        else if (wasShown) write({});
        wasShown = shown !== null;
        return;
      }
      if (!isReady) return;
      const { agent: other, session } = wanted;
      if (other !== null && other !== agent && !isSwitching && agents.some((each) => each.name === other)) {
        isSwitching = true;
        client.chooseAgent(other).catch(onProblem);
        return;
      }
      if (isSwitching && other !== agent) return;
      wanted = null;
      void open(session!);
    });
  });
}

function write(place: Partial<Place>): void {
  const fragment = fragmentOf(place);
  if (location.hash !== fragment) history.replaceState(null, "", `${location.pathname}${location.search}${fragment}`);
}
