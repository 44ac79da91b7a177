/** What the address of the page says: a token, or an invitation into a session. */

import type { Invitation } from "./accord_client.ts";

export interface PageAddress {
  /** Without the fragment, which is used once and is nobody else's. */
  address: string;
  token: string | null;
  invitation: Invitation | null;
}

export function readAddress(href: string): PageAddress {
  const [address = "", fragment = ""] = href.split("#", 2);
  const said = new URLSearchParams(fragment);
  const [code, sessionId] = [said.get("join"), said.get("session")];
  const invitation =
    code === null || sessionId === null ? null : { code, sessionId, agent: said.get("agent") };
  return { address, token: said.get("token"), invitation };
}
