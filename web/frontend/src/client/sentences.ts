/** What went wrong, as a sentence for the user. */

import { ConnectionLost, RpcError } from "../wire/rpc.ts";

export const LOGIN_NEEDED = -32000;
export const NOT_FOUND = -32002;
const ROLE_NEEDED = -32052;
const RATE_LIMITED = -32058;

export function sentenceOf(error: unknown): string {
  if (error instanceof RpcError) return ofRpc(error);
  if (error instanceof ConnectionLost) return error.message;
  return ended(error instanceof Error ? error.message : String(error));
}

function ofRpc(error: RpcError): string {
  const data = (error.data ?? {}) as Record<string, unknown>;
  if (error.code === LOGIN_NEEDED) return "The agent wants you to log in first.";
  if (error.code === ROLE_NEEDED && typeof data["needed"] === "string") {
    return `Your role here is ${String(data["role"])}; this needs ${article(data["needed"])}. Ask an admin of the session.`;
  }
  if (error.code === RATE_LIMITED && typeof data["retryAfter"] === "number") {
    return `${ended(error.message)} Try again in ${Math.ceil(data["retryAfter"])} seconds.`;
  }
  return ended(error.message);
}

function article(role: string): string {
  return /^[aeiou]/.test(role) ? `an ${role}` : `a ${role}`;
}

function ended(text: string): string {
  const trimmed = text.trim();
  const first = trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}
