/** When a client that lost its connection tries again. */

const LEAST_MS = 500;
const MOST_MS = 15_000;

/** The first attempt is made at once, further ones after a doubling delay, half of it chance. */
export function reconnectDelay(attempt: number, chance: number): number {
  if (attempt === 0) return 0;
  const whole = Math.min(MOST_MS, LEAST_MS * 2 ** Math.min(attempt - 1, 30));
  return whole * (0.5 + 0.5 * chance);
}
