/** The words of the resume extension; `docs/reference/extensions.md` says what they mean.
 *
 * Frames with a method below `_accord/` are neither counted nor kept.
 */

export const CLOSE_CODE = 1008;
export const GAP = "gap";
export const UNKNOWN_CONNECTION = "unknown connection";
export const TAKEN_OVER = "another socket has taken over this connection";

const PREFIX = "_accord/";

export type Said =
  | { what: "connection"; connectionId: string; received: number }
  | { what: "received"; count: number }
  | { what: "other" };

/** Read a message of the extension; null for every other one. */
export function readExtension(message: unknown): Said | null {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: unknown };
  if (typeof method !== "string" || !method.startsWith(PREFIX)) return null;
  const { connectionId, received, count } = (params ?? {}) as Record<string, unknown>;
  if (method === "_accord/connection" && typeof connectionId === "string" && isCount(received)) {
    return { what: "connection", connectionId, received };
  }
  if (method === "_accord/received" && isCount(count)) return { what: "received", count };
  return { what: "other" };
}

/** Acknowledge the first `count` frames. */
export function receivedFrame(count: number): string {
  return JSON.stringify({ jsonrpc: "2.0", method: "_accord/received", params: { count } });
}

/** The query parameters that ask for a new connection, or to come back to one. */
export function resumeQuery(connectionId: string | null, received: number): string {
  if (connectionId === null) return "accord-resume=new";
  return `accord-resume=${encodeURIComponent(connectionId)}&accord-received=${received}`;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
