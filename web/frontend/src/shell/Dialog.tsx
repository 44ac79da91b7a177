/* A modal dialog: the browser keeps the focus inside and gives it back. Esc closes it. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

import { Icon } from "./Icon.tsx";

interface Props {
  title: string;
  wide?: boolean;
  onClose(): void;
  children: ComponentChildren;
}

export function Dialog({ title, wide = false, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? "dialog wide" : "dialog"}
      aria-labelledby={id}
      onClose={onClose}
      // A press beside the dialog closes it, unless text was being selected.
      onMouseDown={(event) => event.target === event.currentTarget && onClose()}
    >
      <div class="dialog-body">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="quiet icon" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** Ask before something that cannot be undone. */
export function Confirm({ title, text, action, onConfirm, onClose }: Omit<Props, "children"> & { text: string; action: string; onConfirm(): void }) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <div class="dialog-actions">
        <button type="button" onClick={onClose}>
          Keep it
        </button>
        <button
          type="button"
          class="danger"
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {action}
        </button>
      </div>
    </Dialog>
  );
}
