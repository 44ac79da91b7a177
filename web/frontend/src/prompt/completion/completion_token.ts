/* Finds what is being completed at the caret: a `/` command or an `@` file.  Pure. */

import type { Command } from "../../transcript/session_facts.ts";

export interface CompletionToken {
  kind: "command" | "file";
  /** What was typed behind the sign, up to the caret. */
  query: string;
  /** Where the sign is. */
  start: number;
  /** Behind the last character that a choice replaces. */
  end: number;
}

/** The token at the caret; null if nothing is to be completed there. */
export function tokenAt(text: string, caret: number): CompletionToken | null {
  const command = /^\/(\S*)$/.exec(text.slice(0, caret));
  if (command) return { kind: "command", query: command[1]!, start: 0, end: endOfWord(text, caret) };
  // Not in the middle of a word: an e-mail address names no file.
  const file = /(?:^|[\s("'`[])@(\S*)$/.exec(text.slice(0, caret));
  if (!file) return null;
  const query = file[1]!;
  return { kind: "file", query, start: caret - query.length - 1, end: endOfWord(text, caret) };
}

function endOfWord(text: string, caret: number): number {
  return caret + (/^\S*/.exec(text.slice(caret))?.[0].length ?? 0);
}

/** The text with the token replaced, and where the caret is then. */
export function replaceToken(text: string, token: CompletionToken, replacement: string): { text: string; caret: number } {
  const rest = text.slice(token.end);
  const gap = /^\s/.test(rest) ? "" : " ";
  const before = text.slice(0, token.start) + replacement;
  return { text: before + gap + rest, caret: before.length + 1 };
}

/** The commands that fit a query: those that begin with it first, then those that contain it. */
export function commandsFor(query: string, commands: readonly Command[]): Command[] {
  const sought = query.toLowerCase();
  const rank = ({ name }: Command): number => {
    const at = name.toLowerCase().indexOf(sought);
    return at === 0 ? 0 : at > 0 ? 1 : 2;
  };
  return commands.filter((command) => rank(command) < 2).sort((one, other) => rank(one) - rank(other));
}
