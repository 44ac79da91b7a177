/* What a tool call would change or say, as the permission panel shows it: its diffs first. */

import type { ToolCall } from "../transcript/items.ts";

export function SubjectContent({ call }: { call: ToolCall }) {
  void call.revision.value;
  return (
    <>
      {call.diffs.map((diff) => (
        <pre key={diff.path}>{diff.patch ?? diff.newText}</pre>
      ))}
    </>
  );
}
