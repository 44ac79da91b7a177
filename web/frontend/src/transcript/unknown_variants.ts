/** Commands, options, plans and other variants of unknown form: what can be read of them. */

import type { Json } from "./blocks.ts";

/** The members of a variant that are strings, which is all that we can show of it. */
export function stringsOf(received: Json): Map<string, string> {
  if (typeof received !== "object" || received === null || Array.isArray(received)) {
    return new Map();
  }
  const members = Object.entries(received);
  return new Map(members.filter((one): one is [string, string] => typeof one[1] === "string"));
}
