/* The list above the prompt: commands or files.  The keys are in `use_completions.ts`. */

import { useEffect, useRef } from "preact/hooks";

import { Icon } from "../../shell/Icon.tsx";
import type { Completion, Completions } from "./use_completions.ts";

interface Props {
  id: string;
  completions: Completions;
  onChoose(completion: Completion): void;
}

export function CompletionList({ id, completions, onChoose }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const { selected } = completions;
  useEffect(() => list.current?.children[selected]?.scrollIntoView?.({ block: "nearest" }), [selected]);
  const label = completions.kind === "command" ? "Commands" : "Files";
  if (!completions.isOpen) {
    return completions.note === null ? null : (
      <p class="completions note soft" role="status">
        {completions.note}
      </p>
    );
  }
  return (
    <ul ref={list} id={id} class="completions" role="listbox" aria-label={label}>
      {completions.list.map((each, place) => (
        <li
          key={each.inserted}
          id={`${id}-${place}`}
          role="option"
          aria-selected={place === selected}
          // The focus stays in the text.
          onMouseDown={(event) => event.preventDefault()}
          onMouseMove={() => completions.select(place)}
          onClick={() => onChoose(each)}
        >
          {each.path !== null && <Icon name={each.isFolder ? "folder" : "file"} />}
          <span class="completion-label" dir="auto">
            {each.label}
          </span>
          <span class="completion-detail soft" dir="auto">
            {each.detail}
          </span>
        </li>
      ))}
    </ul>
  );
}
