/* How full the agent's context is, and what the session has cost so far. */

import type { Transcript } from "../transcript/transcript.ts";
import { titleText } from "../content/visible_text.ts";

// From here on, agents begin to summarise or to fail.
const NEARLY_FULL = 0.85;

export function UsageMeter({ transcript }: { transcript: Transcript }) {
  const { used, size, cost } = transcript.usage.value;
  const share = used !== null && size !== null && size > 0 ? Math.min(1, used / size) : null;
  if (share === null && !cost) return null;
  return (
    <span class="usage small soft">
      {share === null ? null : (
        <span
          class={share >= NEARLY_FULL ? "usage-context usage-full" : "usage-context"}
          title={`${tokens(used!)} of ${tokens(size!)} tokens are used`}
        >
          <progress
            max={1}
            value={share}
            aria-label="Context used"
            aria-valuetext={`${Math.round(100 * share)} percent of ${tokens(size!)} tokens`}
          />
          {Math.round(100 * share)}%
        </span>
      )}
      {cost ? (
        <span title="Cost of this session so far">{money(cost.amount, cost.currency)}</span>
      ) : null}
    </span>
  );
}

function tokens(count: number): string {
  if (count >= 1_000_000) return `${(count / 1_000_000).toFixed(1)} M`;
  return count >= 1_000 ? `${Math.round(count / 1_000)} k` : String(count);
}

function money(amount: number, currency: string): string {
  const digits = amount !== 0 && Math.abs(amount) < 0.1 ? 4 : 2;
  try {
    return new Intl.NumberFormat("en", {
      style: "currency",
      currency,
      minimumFractionDigits: 2,
      maximumFractionDigits: digits,
    }).format(amount);
  } catch {
    // Not every unit is a currency: `credits`, say.
    return `${amount.toFixed(digits)} ${titleText(currency).slice(0, 20)}`;
  }
}
