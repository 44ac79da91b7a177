/* Decides whether a key answers a permission request.  Pure.

   A key that was meant for something else must never answer: it counts only while the panel has the
   focus, without a modifier, not as a repetition, and not before the panel has been there for a
   moment. Enter and the space bar on a button, and a click, wait for the same moment. */

/** Somebody who types does not notice a new panel sooner. */
export const QUIET_MS = 500;

export interface Pressed {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  repeat: boolean;
}

/** The place of the option that the key chooses; null if it chooses none. */
export function optionOfKey(pressed: Pressed, options: number, shownForMs: number): number | null {
  if (shownForMs < QUIET_MS || pressed.repeat || pressed.ctrlKey || pressed.altKey || pressed.metaKey) return null;
  if (!/^[1-9]$/.test(pressed.key)) return null;
  const place = Number(pressed.key) - 1;
  return place < options ? place : null;
}
