/** How `_meta` of an item changes: by its top-level keys, never deeper. */

import type { Meta } from "./blocks.ts";

/** Absent keeps all, null clears all, an object sets its keys and removes those that are null. */
export function patchMeta(meta: Meta, patch: Meta | null | undefined): Meta {
  if (patch === undefined) return meta;
  if (patch === null) return {};
  const kept = Object.entries({ ...meta, ...patch }).filter(([, value]) => value !== null);
  return Object.fromEntries(kept);
}
