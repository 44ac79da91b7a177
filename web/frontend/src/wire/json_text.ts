/** JSON text as it comes from agents. */

// Every backslash of JSON text starts an escape of two or six characters, so a scan from left to
// right over escapes cannot mistake an escaped backslash for the start of another one.
const ESCAPE =
  /\\(?:u[dD][89abAB][0-9a-fA-F]{2}(?:(\\u[dD][c-fC-F][0-9a-fA-F]{2}))?|(u[dD][c-fC-F][0-9a-fA-F]{2})|[^])/g;
const HALF = /\\u[dD][89abAB]/;
const SURROGATE = /\\u[dD][89a-fA-F]/;

/** The value of a frame; half a character counts as U+FFFD, so that all strings can be encoded. */
export function parseFrame(text: string): unknown {
  if (!SURROGATE.test(text)) return JSON.parse(text);
  const repaired = text.replace(ESCAPE, (escape, partner?: string, alone?: string) =>
    (HALF.test(escape) && partner === undefined) || alone !== undefined ? "\\ufffd" : escape,
  );
  return JSON.parse(repaired);
}
