/* A button that opens a list of actions. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { Icon, type IconName } from "./Icon.tsx";

export interface Action {
  name: string;
  icon: IconName;
  danger?: boolean;
  /** One of several, of which one is chosen. */
  chosen?: boolean;
  run(): void;
}

export function Menu({ label, actions, icon = "more" }: { label: string; actions: readonly Action[]; icon?: IconName }) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const items = (): HTMLElement[] => [...(root.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];

  useLayoutEffect(() => {
    if (isOpen && list.current && button.current) placeBelow(list.current, button.current);
  }, [isOpen]);
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
        <Icon name={icon} />
      </button>
      {isOpen && (
        <div ref={list} class="menu-list" role="menu" aria-label={label} onKeyDown={onKeyDown}>
          {actions.map((action) => (
            <button
              key={action.name}
              type="button"
              role={action.chosen === undefined ? "menuitem" : "menuitemradio"}
              aria-checked={action.chosen}
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

const GAP = 4;

/** Put the list at the button, inside the window: a list that scrolls must not cut it off. */
function placeBelow(list: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  const fitsBelow = at.bottom + GAP + height <= innerHeight;
  move(list, Math.max(GAP, at.right - width), fitsBelow ? at.bottom + GAP : Math.max(GAP, at.top - GAP - height));
}

function move(list: HTMLElement, left: number, top: number): void {
  list.style.left = "0px";
  list.style.top = "0px";
  // An element with containment around it is what "fixed" counts from.
  const origin = list.getBoundingClientRect();
  list.style.left = `${left - origin.left}px`;
  list.style.top = `${top - origin.top}px`;
}
