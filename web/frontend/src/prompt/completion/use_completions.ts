/* What fits the token at the caret, and the keys that choose among it. */

import { useEffect, useState } from "preact/hooks";

import type { OpenSession } from "../../client/types.ts";
import { titleText } from "../../content/visible_text.ts";
import { commandsFor, type CompletionToken } from "./completion_token.ts";

export interface Completion {
  label: string;
  detail: string;
  inserted: string;
  /** Of a file; null for a command. */
  path: string | null;
  isFolder: boolean;
}

export interface Completions {
  kind: CompletionToken["kind"];
  list: readonly Completion[];
  selected: number;
  isOpen: boolean;
  /** Something is sought, or could not be. */
  note: string | null;
  select(place: number): void;
  /** Whether the key was one of the list's. */
  onKey(event: KeyboardEvent, choose: (completion: Completion) => void, dismiss: () => void): boolean;
}

export const SHOWN_MAX = 50;
/** People type faster than this; each pause is one search. */
const PAUSE_MS = 60;

export function useCompletions(session: OpenSession, token: CompletionToken | null): Completions {
  const files = useFiles(session, token?.kind === "file" ? token.query : null);
  const [chosen, setChosen] = useState({ among: "", place: 0 });
  const kind = token?.kind ?? "command";
  const query = token?.query ?? "";
  const list = token === null ? [] : kind === "command" ? commands(session, query) : files.list;
  // What was chosen in another list does not count in this one.
  const among = `${kind} ${query} ${list.length}`;
  const place = chosen.among === among ? chosen.place : 0;
  const select = (to: number): void => setChosen({ among, place: to });
  const isOpen = list.length > 0;

  const onKey: Completions["onKey"] = (event, choose, dismiss) => {
    if (token === null || (!isOpen && files.note === null)) return false;
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
    if (event.key === "Escape") dismiss();
    else if (!isOpen || !plain) return false;
    else if (event.key === "ArrowDown") select((place + 1) % list.length);
    else if (event.key === "ArrowUp") select((place + list.length - 1) % list.length);
    else if (event.key === "Tab") choose(list[place]!);
    else if (event.key === "Enter" && list[place]!.inserted !== `/${query}`) choose(list[place]!);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return { kind, list, selected: place, isOpen, note: kind === "file" ? files.note : null, select, onKey };
}

function commands(session: OpenSession, query: string): Completion[] {
  const fitting = commandsFor(query, session.transcript.commands.value).slice(0, SHOWN_MAX);
  return fitting.map(({ name, description, hint }) => ({
    label: titleText(hint === null ? `/${name}` : `/${name} ${hint}`),
    detail: titleText(description),
    inserted: `/${name}`,
    path: null,
    isFolder: false,
  }));
}

interface Files {
  list: readonly Completion[];
  note: string | null;
}

const NONE: Files = { list: [], note: null };

function useFiles(session: OpenSession, query: string | null): Files {
  const [files, setFiles] = useState(NONE);
  useEffect(() => {
    if (query === null) return setFiles(NONE);
    let isCurrent = true;
    const show = (found: Files): void => {
      if (isCurrent) setFiles(found);
    };
    const timer = setTimeout(() => {
      session.search(query).then(
        (found) => show({ list: found.slice(0, SHOWN_MAX).map(fileCompletion), note: found.length > 0 ? null : "No file fits." }),
        (error: unknown) => show({ list: [], note: error instanceof Error ? error.message : String(error) }),
      );
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [session, query]);
  return query === null ? NONE : files;
}

function fileCompletion({ path, kind }: { path: string; kind: "file" | "folder" }): Completion {
  const name = path.split("/").filter(Boolean).at(-1) ?? path;
  const folder = path.slice(0, path.length - name.length);
  const isFolder = kind === "folder";
  return { label: titleText(isFolder ? `${name}/` : name), detail: titleText(folder), inserted: `@${path}`, path, isFolder };
}
