/* A button that opens a list of actions. */

import { useEffect, useRef, useState } from "preact/hooks";

import { Icon, type IconName } from "./Icon.tsx";

export interface Action {
  name: string;
  icon: IconName;
  danger?: boolean;
  run(): void;
}

export function Menu({ label, actions }: { label: string; actions: readonly Action[] }) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const items = (): HTMLElement[] => [...(root.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];

  useEffect(() => {
    if (!isOpen) return;
    items()[0]?.focus();
    const onPress = (event: Event): void => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", onPress);
    return () => document.removeEventListener("pointerdown", onPress);
  }, [isOpen]);

  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const all = items();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined) all[to % all.length]?.focus();
    else if (event.key === "Escape") close();
    else if (event.key === "Tab") return setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="menu" ref={root}>
      <button
        ref={button}
        type="button"
        class="quiet icon"
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="more" />
      </button>
      {isOpen && (
        <div class="menu-list" role="menu" aria-label={label} onKeyDown={onKeyDown}>
          {actions.map((action) => (
            <button
              key={action.name}
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={action.danger ? "quiet danger-text" : "quiet"}
              onClick={() => {
                close();
                action.run();
              }}
            >
              <Icon name={action.icon} /> {action.name}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
