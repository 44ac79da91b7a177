/* The answer for a screen reader: paragraph by paragraph, each when it is complete.

   A live region around the answer itself would be read again with every chunk. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Message } from "../transcript/items.ts";
import type { Transcript } from "../transcript/transcript.ts";

const SPOKEN_CHARS_MAX = 2_000;

export function AnswerSpoken({ transcript }: { transcript: Transcript }) {
  const [spoken, setSpoken] = useState("");
  const progress = useRef<{ message: Message | null; said: number }>({
    message: lastAnswer(transcript),
    said: Infinity,
  });
  const message = lastAnswer(transcript);
  const revision = message?.revision.value ?? 0;
  const isOver = transcript.state.value.confirmed !== "running";
  useEffect(() => {
    if (message === null) return;
    const state = progress.current;
    // What is there when the page opens was said before.
    if (state.message !== message) progress.current = { message, said: 0 };
    else if (state.said === Infinity) state.said = message.text.length;
    const { said } = progress.current;
    const end = isOver ? message.text.length : message.text.lastIndexOf("\n\n");
    if (end <= said) return;
    progress.current.said = end;
    setSpoken(
      message.text
        .slice(said, end)
        .slice(0, SPOKEN_CHARS_MAX)
        .replace(/[*_`#|]+/g, " "),
    );
  }, [message, revision, isOver]);
  return (
    <div class="hidden-text" aria-live="polite" aria-atomic="true">
      {spoken}
    </div>
  );
}

function lastAnswer(transcript: Transcript): Message | null {
  const timeline = transcript.timeline.value;
  for (let at = timeline.length - 1; at >= Math.max(0, timeline.length - 50); at -= 1) {
    const item = timeline[at]!;
    if (item.kind === "message" && item.role === "agent") return item;
  }
  return null;
}
