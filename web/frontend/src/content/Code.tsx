/* Code with colours, a copy button and the name of its language. */

import { memo } from "preact/compat";
import { useState } from "preact/hooks";
import { languageNamed, useHighlight, type Segment } from "./highlight.ts";
import { CopyButton } from "./CopyButton.tsx";

/** Segments of code as spans; their colours are in content.css. */
export function Segments({ segments }: { segments: readonly Segment[] }) {
  return (
    <>
      {segments.map(({ text, scope }, index) =>
        scope === null ? (
          text
        ) : (
          <span key={index} class={`hl-${scope}`}>
            {text}
          </span>
        ),
      )}
    </>
  );
}

// More is drawn on demand: text of this size takes the browser a moment to lay out.
const CODE_CHARS_SHOWN = 100_000;

export const Code = memo(function Code({
  code,
  info,
}: {
  code: string;
  info?: string | undefined;
}) {
  const [all, setAll] = useState(false);
  const isCut = !all && code.length > CODE_CHARS_SHOWN;
  const segments = useHighlight(
    isCut ? code.slice(0, CODE_CHARS_SHOWN) : code,
    languageNamed(info),
  );
  const label = /^[\w+#.-]{1,20}/.exec(info ?? "")?.[0] ?? "";
  return (
    <div class="code">
      <div class="code-head">
        <span class="code-language">{label || "text"}</span>
        <CopyButton text={code} what="code" />
      </div>
      {/* Reachable by keyboard, because wide code is scrolled sideways. */}
      <pre tabIndex={0} role="group" aria-label={label ? `Code, ${label}` : "Code"} dir="ltr">
        <code>
          <Segments segments={segments} />
        </code>
      </pre>
      {isCut ? (
        <button type="button" class="small" onClick={() => setAll(true)}>
          Show {(code.length - CODE_CHARS_SHOWN).toLocaleString("en")} more characters
        </button>
      ) : null}
    </div>
  );
});
