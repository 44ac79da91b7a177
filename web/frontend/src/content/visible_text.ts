/* Text of an agent where the reader must see what is really there: commands, paths, titles.

   A right-to-left override or a zero-width character can make one command look like another, so
   such characters are shown by their number. Prose is isolated by the style sheet instead. */

export const TITLE_CHARS_MAX = 1_000;

const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** The text with control and direction characters written as `‹U+202E›`. */
export function visibleText(text: string): string {
  return text.replace(
    HIDDEN,
    (found) => `‹U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}›`,
  );
}

/** One line for a title: visible, without line breaks, and of bounded length. */
export function titleText(text: unknown, otherwise = ""): string {
  const line = asText(text).slice(0, TITLE_CHARS_MAX).replace(/\s+/g, " ").trim();
  return visibleText(line) || otherwise;
}

/** A value that should be a string as one; agents send whatever they like. */
export function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

/** Indented JSON of any value, cut where it gets too long to be read. */
export function prettyJson(value: unknown, charsMax = 20_000): string {
  let text: string;
  try {
    text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  } catch {
    text = String(value);
  }
  return visibleText(
    text.length > charsMax
      ? `${text.slice(0, charsMax)}\n… ${text.length - charsMax} characters more`
      : text,
  );
}

/** `1.2 MB`: a size for people. */
export function sizeText(bytes: number): string {
  if (!Number.isFinite(bytes) || bytes < 0) return "";
  const units = ["bytes", "kB", "MB", "GB"];
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** `3.2 s`, `2 min 5 s`: a duration for people. */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes} min ${whole % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
