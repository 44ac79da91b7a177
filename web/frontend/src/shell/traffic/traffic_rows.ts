/* Pairs the requests of both directions with their answers.  Pure. */

import type { TrafficEntry } from "../../client/types.ts";

export interface TrafficRow {
  id: number;
  at: number;
  way: TrafficEntry["way"];
  method: string;
  kind: "request" | "notification" | "answer";
  first: TrafficEntry;
  answer: TrafficEntry | null;
  failed: boolean;
}

/** One row for each request and notification, in their order; an answer without its request has its own. */
export function rowsOf(entries: readonly TrafficEntry[]): TrafficRow[] {
  const rows: TrafficRow[] = [];
  const waiting = new Map<string, TrafficRow>();
  for (const entry of entries) {
    const { id, at, way, method, requestId } = entry;
    if (method === null) {
      // An answer goes the other way than its request.
      const key = keyOf(way === "sent" ? "received" : "sent", requestId);
      const row = waiting.get(key);
      const failed = isError(entry.text);
      if (row) {
        waiting.delete(key);
        row.answer = entry;
        row.failed = failed;
      } else {
        rows.push({ id, at, way, method: "answer", kind: "answer", first: entry, answer: null, failed });
      }
      continue;
    }
    const row: TrafficRow = { id, at, way, method, kind: requestId === null ? "notification" : "request", first: entry, answer: null, failed: false };
    rows.push(row);
    if (requestId !== null) waiting.set(keyOf(way, requestId), row);
  }
  return rows;
}

const keyOf = (way: TrafficEntry["way"], id: TrafficEntry["requestId"]): string => `${way} ${typeof id} ${id}`;

// The text of an answer has its result or its error at the top; the head is enough to tell.
const isError = (text: string): boolean => /^\{[^{]*"error"\s*:/.test(text.slice(0, 300));

/** The rows in which every word of the search occurs, in the method or the messages. */
export function searchRows(rows: readonly TrafficRow[], search: string): readonly TrafficRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = `${row.method} ${row.first.text} ${row.answer?.text ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The message as indented JSON, or as it came if it is none. */
export function prettyMessage(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
