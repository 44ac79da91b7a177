/* The side of the page: the sessions, and what concerns the whole page. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { allowNotifications, notificationState } from "./attention.ts";
import { Icon, type IconName } from "./Icon.tsx";
import { Menu, type Action } from "./Menu.tsx";
import { theme, THEME_NAMES, THEMES, type Theme } from "./theme.ts";

interface Props {
  onNew(): void;
  onGrants(): void;
  onTraffic(): void;
  onHelp(): void;
  onLogOut(): void;
  onClose(): void;
  children: ComponentChildren;
}

export function Sidebar({ onNew, onGrants, onTraffic, onHelp, onLogOut, onClose, children }: Props) {
  return (
    <nav class="sidebar" aria-label="Sessions and settings">
      <div class="sidebar-head">
        <span class="brand">
          <Icon name="accord" /> Accord
        </span>
        <button type="button" class="primary" title="Start a session (Alt+N)" onClick={onNew}>
          <Icon name="plus" /> New
        </button>
        <button type="button" class="quiet icon phone-only" aria-label="Close the list" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div class="sidebar-sessions">{children}</div>
      <div class="sidebar-foot">
        <Menu label="Colours" icon="theme" actions={THEMES.map(themeAction)} />
        <NotificationButton />
        <FootButton icon="key" label="Lasting answers" onClick={onGrants} />
        <FootButton icon="wire" label="Traffic" keys="Alt+T" onClick={onTraffic} />
        <FootButton icon="help" label="Keys" keys="Alt+H" onClick={onHelp} />
        <FootButton icon="logout" label="Log out" onClick={onLogOut} />
      </div>
    </nav>
  );
}

const themeAction = (each: Theme): Action => {
  const chosen = theme.value === each;
  return { name: THEME_NAMES[each], icon: chosen ? "check" : "none", chosen, run: () => (theme.value = each) };
};

function FootButton({ icon, label, keys, onClick }: { icon: IconName; label: string; keys?: string; onClick(): void }) {
  return (
    <button type="button" class="quiet icon" aria-label={label} title={keys ? `${label} (${keys})` : label} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

function NotificationButton() {
  const [state, setState] = useState(notificationState);
  if (state === "unsupported" || state === "granted") return null;
  const label = state === "denied" ? "Notifications are blocked; allow them in the settings of the browser" : "Notify me when an answer is needed";
  return (
    <button
      type="button"
      class="quiet icon"
      aria-label={label}
      title={label}
      disabled={state === "denied"}
      onClick={() => void allowNotifications().then(setState)}
    >
      <Icon name="bell" />
    </button>
  );
}
