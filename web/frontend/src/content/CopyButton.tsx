/* A button that copies a text and says that it did. */

import { useEffect, useState } from "preact/hooks";

const TOLD_MILLISECONDS = 1_500;

export function CopyButton({ text, what }: { text: string | (() => string); what: string }) {
  const [told, setTold] = useState<"copied" | "failed" | null>(null);
  useEffect(() => {
    if (told === null) return undefined;
    const timer = setTimeout(() => setTold(null), TOLD_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [told]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setTold("copied");
    } catch {
      setTold("failed");
    }
  };
  return (
    <button type="button" class="quiet small copy" aria-label={`Copy ${what}`} onClick={copy}>
      <span aria-live="polite">
        {told === "copied" ? "Copied" : told === "failed" ? "Not allowed" : "Copy"}
      </span>
    </button>
  );
}
