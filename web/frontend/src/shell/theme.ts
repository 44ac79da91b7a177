/* Which colours the page has: the system's, or those that the user chose. */

import { effect, signal } from "@preact/signals";

export const THEMES = ["system", "light", "dark", "contrast"] as const;
export type Theme = (typeof THEMES)[number];

export const THEME_NAMES: Record<Theme, string> = {
  system: "As the system",
  light: "Light",
  dark: "Dark",
  contrast: "High contrast",
};

const KEY = "accord.theme";

const isTheme = (value: unknown): value is Theme => THEMES.includes(value as Theme);

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return isTheme(value) ? value : "system";
  } catch {
    return "system";
  }
}

export const theme = signal<Theme>(stored());

effect(() => {
  const chosen = theme.value;
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
});
