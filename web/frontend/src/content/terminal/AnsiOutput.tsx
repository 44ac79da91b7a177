/* The output of a command, coloured; a live one is only read on from where it was. */

import { memo } from "preact/compat";
import { useRef, useState } from "preact/hooks";
import { AnsiScreen, type Run, type Style } from "./ansi_screen.ts";

// A longer output starts with a button.
export const LINES_SHOWN = 400;
// Older output is not read at all; tools that print more are read from a file.
const CHARS_READ = 400_000;

export class AnsiReader {
  screen = new AnsiScreen();
  cut = false;
  private text = "";

  /** Take the whole output as it is now. */
  read(text: string): AnsiScreen {
    if (text === this.text) return this.screen;
    if (!text.startsWith(this.text) || text.length - this.text.length > CHARS_READ) {
      this.screen = new AnsiScreen();
      this.cut = text.length > CHARS_READ;
      this.screen.write(
        text.slice(this.cut ? text.indexOf("\n", text.length - CHARS_READ) + 1 : 0),
      );
    } else {
      this.screen.write(text.slice(this.text.length));
    }
    this.text = text;
    return this.screen;
  }
}

export function AnsiOutput({
  text,
  truncated = false,
  label = "Output",
}: {
  text: string;
  truncated?: boolean;
  label?: string;
}) {
  const reader = useRef<AnsiReader | null>(null);
  reader.current ??= new AnsiReader();
  const [all, setAll] = useState(false);
  const screen = reader.current.read(text);
  const height =
    screen.height > 1 && screen.runs(screen.height - 1).length === 0
      ? screen.height - 1
      : screen.height;
  const first = all ? 0 : Math.max(0, height - LINES_SHOWN);
  const rows = Array.from({ length: height - first }, (_, index) => first + index);
  const isCut = truncated || reader.current.cut || screen.dropped > 0;
  return (
    <div class="ansi">
      {isCut && first === 0 ? <p class="soft small">The start of the output is not kept.</p> : null}
      {first > 0 ? (
        <button type="button" class="quiet small" onClick={() => setAll(true)}>
          Show {first.toLocaleString("en")} earlier lines
        </button>
      ) : null}
      <pre tabIndex={0} role="group" aria-label={label} dir="ltr">
        {rows.map((row) => (
          <LineRuns key={screen.dropped + row} runs={screen.runs(row)} />
        ))}
      </pre>
    </div>
  );
}

const LineRuns = memo(function LineRuns({ runs }: { runs: readonly Run[] }) {
  return (
    <>
      {runs.map(({ text, style }, index) => {
        const names = classes(style);
        return names === "" ? (
          text
        ) : (
          <span key={index} class={names}>
            {text}
          </span>
        );
      })}
      {"\n"}
    </>
  );
});

function classes(style: Style): string {
  const names: string[] = [];
  const { colour, background } = style;
  if (colour !== null) names.push(`ansi-${colour % 8}`, ...(colour >= 8 ? ["ansi-bright"] : []));
  if (background !== null) names.push(`ansi-on-${background % 8}`);
  for (const name of ["bold", "faint", "italic", "underline", "inverse", "struck"] as const) {
    if (style[name]) names.push(`ansi-${name}`);
  }
  return names.join(" ");
}
