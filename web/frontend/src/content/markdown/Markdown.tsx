/* A message in Markdown. While it streams, only its last blocks are drawn again. */

import { memo } from "preact/compat";
import { useEffect, useState } from "preact/hooks";
import { block } from "./MarkdownTokens.tsx";
import { MarkdownBlocks, type MarkdownBlock } from "./markdown_blocks.ts";

// A longer text is rather the content of a file; the rest of it is shown on demand, plainly.
export const MARKDOWN_CHARS_MAX = 100_000;

const Block = memo(function Block({ block: shown }: { block: MarkdownBlock }) {
  return <>{block(shown.token)}</>;
});

export function Markdown({ text, breaks = false }: { text: string; breaks?: boolean }) {
  const blocks = useBlocks(text.slice(0, MARKDOWN_CHARS_MAX), breaks);
  return (
    <div class="markdown">
      {blocks.map((one) => (
        <Block key={one.start} block={one} />
      ))}
      {text.length > MARKDOWN_CHARS_MAX ? <Rest text={text} /> : null}
    </div>
  );
}

// At most this part of the time goes into reading a block that grows and grows.
const READING_SHARE = 0.2;

/** The blocks of a text; where reading them takes long, those of a moment ago. */
function useBlocks(text: string, breaks: boolean): readonly MarkdownBlock[] {
  const [reader] = useState(() => ({
    parser: new MarkdownBlocks(breaks),
    blocks: [] as readonly MarkdownBlock[],
    read: "",
    restUntil: 0,
  }));
  const [, redraw] = useState(0);
  const wait = reader.restUntil - performance.now();
  const isDue = wait <= 0 || !text.startsWith(reader.read);
  if (isDue && text !== reader.read) {
    const start = performance.now();
    reader.blocks = reader.parser.update(text);
    const took = performance.now() - start;
    reader.read = text;
    reader.restUntil = took < 4 ? 0 : start + took / READING_SHARE;
  }
  useEffect(() => {
    if (isDue) return undefined;
    const timer = setTimeout(() => redraw((count) => count + 1), wait);
    return () => clearTimeout(timer);
  });
  return reader.blocks;
}

function Rest({ text }: { text: string }) {
  const [shown, setShown] = useState(false);
  if (shown) return <pre class="rest">{text.slice(MARKDOWN_CHARS_MAX)}</pre>;
  const more = (text.length - MARKDOWN_CHARS_MAX).toLocaleString("en");
  return (
    <button type="button" onClick={() => setShown(true)}>
      Show {more} more characters
    </button>
  );
}
