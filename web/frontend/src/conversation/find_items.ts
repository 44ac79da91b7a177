/* Where words occur in a conversation, also in rows that are not drawn. */

import type { Item, ToolContent } from "../transcript/items.ts";

/** The keys of all items that have the words, in order; upper and lower case count as the same. */
export function findItems(timeline: readonly Item[], words: string): string[] {
  const wanted = words.toLowerCase();
  if (wanted === "") return [];
  return timeline
    .filter((item) => partsOf(item).some((part) => part.toLowerCase().includes(wanted)))
    .map((item) => item.key);
}

function partsOf(item: Item): string[] {
  switch (item.kind) {
    case "message":
    case "sessionMessage":
    case "compaction":
      return [item.text];
    case "toolCall":
      return [
        item.title,
        ...item.content.map(textOfContent),
        ...item.locations.map((place) => place.path),
        ...item.diffs.flatMap((diff) => [diff.path, diff.patch ?? diff.newText ?? ""]),
      ];
    case "terminal":
      return [item.command ?? "", item.text];
    case "plan":
      return [item.markdown ?? "", ...item.entries.map((entry) => String(entry.content))];
    case "subagent":
    case "notice":
      return [item.title ?? "", item.description ?? ""];
    case "unknown":
      return [item.tag];
  }
}

function textOfContent(content: ToolContent): string {
  return content.type === "content" && content.content?.type === "text"
    ? String(content.content.text)
    : "";
}
