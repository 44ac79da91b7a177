/* The keys that work everywhere in the page.  All have Alt, so that none is typed by accident. */

export type ShortcutName = "answer" | "prompt" | "new" | "search" | "changes" | "previous" | "next" | "traffic" | "help";

export interface Shortcut {
  name: ShortcutName;
  /** Of the key's place, because Alt changes what a key types on some systems. */
  code: string;
  keys: string;
  does: string;
}

export const SHORTCUTS: readonly Shortcut[] = [
  { name: "answer", code: "KeyA", keys: "Alt+A", does: "Go to the question of the agent; then 1 to 9 answer" },
  { name: "prompt", code: "KeyP", keys: "Alt+P", does: "Go to the prompt" },
  { name: "new", code: "KeyN", keys: "Alt+N", does: "Start a session" },
  { name: "search", code: "KeyS", keys: "Alt+S", does: "Search the sessions" },
  { name: "changes", code: "KeyC", keys: "Alt+C", does: "Show or hide the changes of files" },
  { name: "previous", code: "ArrowUp", keys: "Alt+↑", does: "Go to the previous open session" },
  { name: "next", code: "ArrowDown", keys: "Alt+↓", does: "Go to the next open session" },
  { name: "traffic", code: "KeyT", keys: "Alt+T", does: "Show or hide the traffic" },
  { name: "help", code: "KeyH", keys: "Alt+H", does: "Show this list" },
];

/** Keys that work in one place. */
export const LOCAL_KEYS: readonly [keys: string, does: string][] = [
  ["Enter", "Send the prompt; while the agent works, queue it"],
  ["Shift+Enter", "Begin a new line"],
  ["↑ ↓", "Earlier prompts, from the first and the last line"],
  ["/", "At the beginning of the prompt: commands of the agent"],
  ["@", "Name a file"],
  ["Esc", "In the prompt: stop the agent. In a question: go back to the prompt"],
];

export function shortcutOf(event: KeyboardEvent): ShortcutName | null {
  if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.repeat) return null;
  return SHORTCUTS.find((shortcut) => shortcut.code === event.code)?.name ?? null;
}
