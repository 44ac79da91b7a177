import { Dialog } from "./Dialog.tsx";
import { LOCAL_KEYS, SHORTCUTS } from "./shortcuts.ts";

/** The keys, from the tables that bind them. */
export function KeyboardHelp({ onClose }: { onClose(): void }) {
  const rows: [string, string][] = [...LOCAL_KEYS.map(([keys, does]): [string, string] => [keys, does]), ...SHORTCUTS.map(({ keys, does }): [string, string] => [keys, does])];
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="key-list">
        {rows.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
