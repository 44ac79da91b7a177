/* A message in Markdown. While it streams, only its last blocks are drawn again. */

import { memo } from "preact/compat";
import { useRef, useState } from "preact/hooks";
import { block } from "./MarkdownTokens.tsx";
import { MarkdownBlocks, type MarkdownBlock } from "./markdown_blocks.ts";

// A longer text is rather the content of a file; the rest of it is shown on demand, plainly.
export const MARKDOWN_CHARS_MAX = 300_000;

const Block = memo(function Block({ block: shown }: { block: MarkdownBlock }) {
  return <>{block(shown.token)}</>;
});

export function Markdown({ text, breaks = false }: { text: string; breaks?: boolean }) {
  const parser = useRef<MarkdownBlocks | null>(null);
  parser.current ??= new MarkdownBlocks(breaks);
  const blocks = parser.current.update(text.slice(0, MARKDOWN_CHARS_MAX));
  return (
    <div class="markdown">
      {blocks.map((one) => (
        <Block key={one.start} block={one} />
      ))}
      {text.length > MARKDOWN_CHARS_MAX ? <Rest text={text} /> : null}
    </div>
  );
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
