/* Finds words in the whole conversation. The browser's own search only knows rows that are drawn.

   Ctrl+F opens it, and in its field Ctrl+F is the browser's again. */

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Transcript } from "../transcript/transcript.ts";
import { findItems } from "./find_items.ts";

const HIGHLIGHT = "accord-find";
const FOUND = "row-found";
const RANGES_MAX = 500;

interface Props {
  transcript: Transcript;
  /** The element of the conversation. */
  section: RefObject<HTMLElement | null>;
  onShow: (key: string) => void;
}

export function FindBar({ transcript, section, onShow }: Props) {
  const [words, setWords] = useState<string | null>(null);
  const [found, setFound] = useState<{ keys: readonly string[]; at: number }>({ keys: [], at: -1 });
  const field = useRef<HTMLInputElement>(null);
  const isOpen = words !== null;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isFind =
        event.key.toLowerCase() === "f" &&
        (event.ctrlKey || event.metaKey) &&
        !event.altKey &&
        !event.shiftKey;
      if (!isFind || document.activeElement === field.current || !isHere(section.current)) return;
      event.preventDefault();
      setWords((before) => before ?? "");
      field.current?.select();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => {
    if (isOpen) field.current?.focus();
    else unmark();
  }, [isOpen]);
  useEffect(() => {
    if (words === null) return undefined;
    // When the row has been drawn.
    const timer = setTimeout(() => mark(section.current, words, found.keys[found.at]), 60);
    return () => clearTimeout(timer);
  }, [words, found]);
  if (words === null) return null;

  const search = (text: string) => {
    setWords(text);
    const keys = findItems(transcript.timeline.value, text);
    // From the end, where the reader is most likely to have seen it.
    show(keys, keys.length - 1);
  };
  const show = (keys: readonly string[], at: number) => {
    const index = keys.length === 0 ? -1 : (at + keys.length) % keys.length;
    setFound({ keys, at: index });
    if (index >= 0) onShow(keys[index]!);
  };
  const close = () => {
    setWords(null);
    section.current?.querySelector<HTMLElement>(".list-view")?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter") show(found.keys, found.at + (event.shiftKey ? 1 : -1));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const count =
    words === ""
      ? ""
      : found.keys.length === 0
        ? "nothing found"
        : `${found.at + 1} of ${found.keys.length}`;
  return (
    <div class="find" role="search" aria-label="Find in the conversation">
      <input
        ref={field}
        type="text"
        enterkeyhint="search"
        placeholder="Find in the conversation"
        aria-label="Words to find"
        value={words}
        onInput={(event) => search(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <span class="soft small" role="status">
        {count}
      </span>
      <button
        type="button"
        class="quiet small"
        aria-label="Earlier"
        disabled={found.keys.length < 2}
        onClick={() => show(found.keys, found.at - 1)}
      >
        ↑
      </button>
      <button
        type="button"
        class="quiet small"
        aria-label="Later"
        disabled={found.keys.length < 2}
        onClick={() => show(found.keys, found.at + 1)}
      >
        ↓
      </button>
      <button type="button" class="quiet small" aria-label="Close the search" onClick={close}>
        ✕
      </button>
    </div>
  );
}

/** Whether a key is meant for this conversation: the only one, or the one with the focus around it. */
function isHere(section: HTMLElement | null): boolean {
  if (section === null) return false;
  const all = document.querySelectorAll(".conversation");
  return all.length === 1 || (section.parentElement?.contains(document.activeElement) ?? false);
}

/** Colour the words in the rows that are drawn, without touching the rows. */
function mark(section: HTMLElement | null, words: string, key: string | undefined): void {
  unmark();
  if (section === null || key === undefined) return;
  section.querySelector(`[data-key="${CSS.escape(key)}"]`)?.classList.add(FOUND);
  if (typeof Highlight === "undefined") return;
  const wanted = words.toLowerCase();
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(
    section.querySelector(".list-view") ?? section,
    NodeFilter.SHOW_TEXT,
  );
  for (
    let node = walker.nextNode();
    node !== null && ranges.length < RANGES_MAX;
    node = walker.nextNode()
  ) {
    const text = (node.nodeValue ?? "").toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, Math.min(at + wanted.length, node.nodeValue!.length));
      ranges.push(range);
    }
  }
  CSS.highlights.set(HIGHLIGHT, new Highlight(...ranges));
}

function unmark(): void {
  for (const row of document.querySelectorAll(`.${FOUND}`)) row.classList.remove(FOUND);
  if (typeof Highlight !== "undefined") CSS.highlights.delete(HIGHLIGHT);
}
