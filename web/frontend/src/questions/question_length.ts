/** More characters than this may need scrolling, and so a place in the order of the Tab key. */
const SHORT_CHARS = 300;

/** Whether the words of a question may be longer than the room for them. */
export function isLong(...texts: (string | null)[]): boolean {
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0) > SHORT_CHARS;
}
