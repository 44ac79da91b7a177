/* What a tool call would change or says about itself, as the permission panel shows it. */

import { ContentBlockView, Unknown } from "../content/ContentBlockView.tsx";
import { titleText } from "../content/visible_text.ts";
import { DiffSummary } from "../review/DiffSummary.tsx";
import type { ToolCall } from "../transcript/items.ts";

export function SubjectContent({ call, folder }: { call: ToolCall; folder: string }) {
  void call.revision.value;
  return (
    <>
      {call.diffs.map((diff, index) => (
        <DiffSummary key={index} diff={diff} folder={folder} />
      ))}
      {call.content.map((content, index) => {
        if (content.type === "content") return <ContentBlockView key={index} block={content.content} />;
        if (content.type === "unknown") return <Unknown key={index} name={`part "${titleText(content.tag)}"`} value={content.received} />;
        return null;
      })}
    </>
  );
}
