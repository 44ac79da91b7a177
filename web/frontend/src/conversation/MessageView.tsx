/* What somebody said: the user, another person, the agent, or the agent to itself. */

import type { ComponentChildren } from "preact";
import { CopyButton } from "../content/CopyButton.tsx";
import { ContentBlockView } from "../content/ContentBlockView.tsx";
import { titleText } from "../content/visible_text.ts";
import type { ContentBlock, Message, SessionMessage } from "../transcript/items.ts";
import { Icon } from "../content/icons.tsx";
import { useFold, useView } from "./view_state.ts";

export function MessageView({ message }: { message: Message }) {
  void message.revision.value;
  if (message.blocks.length === 0) return null;
  if (message.role === "thought") return <Thought message={message} />;
  const isRemark = message.meta["accord.remark"] === true;
  if (isRemark) {
    return (
      <div class="item remark">
        <Blocks blocks={message.blocks} />
      </div>
    );
  }
  const isUser = message.role === "user";
  return (
    <div class={`item message message-${message.role}`}>
      <header class="message-head">
        <h3 class={isUser ? "author" : "author hidden-text"}>
          {isUser ? <Author message={message} /> : "Agent"}
        </h3>
        <CopyButton text={() => message.text} what={isUser ? "prompt" : "answer"} />
      </header>
      <Blocks blocks={message.blocks} breaks={isUser} />
    </div>
  );
}

function Author({ message }: { message: Message }) {
  const { session } = useView();
  const author = message.meta["accord.author"] as
    { user?: unknown; displayName?: unknown } | undefined;
  const isYou = author === undefined ? message.isOwn : author?.user === session.you.value?.user;
  const name = titleText(author?.displayName ?? author?.user).slice(0, 80);
  return <>{isYou || name === "" ? "You" : name}</>;
}

export function Blocks({
  blocks,
  breaks = false,
}: {
  blocks: readonly ContentBlock[];
  breaks?: boolean;
}) {
  return (
    <div class="blocks">
      {blocks.map((block, index) => (
        <ContentBlockView key={index} block={block} breaks={breaks} />
      ))}
    </div>
  );
}

const PREVIEW_CHARS = 140;

function Thought({ message }: { message: Message }) {
  return (
    <Folded foldKey={message.key} icon="think" title="Thought" preview={preview(message.text)}>
      <div class="thought-text">
        <Blocks blocks={message.blocks} />
      </div>
    </Folded>
  );
}

/** The beginning of a text on one line, without the marks of Markdown. */
function preview(text: string): string {
  return titleText(text.slice(0, 2 * PREVIEW_CHARS).replace(/[*_`#>]+/g, "")).slice(
    0,
    PREVIEW_CHARS,
  );
}

/** A quiet line that unfolds. */
export function Folded(props: {
  foldKey: string;
  icon: string;
  title: string;
  preview: string;
  children: ComponentChildren;
}) {
  const [open, onToggle] = useFold(props.foldKey, false);
  return (
    <details class="item folded" open={open} onToggle={onToggle}>
      <summary>
        <Icon name={props.icon} />
        <span class="folded-title">{props.title}</span>
        {open ? null : (
          <span class="folded-preview" dir="auto">
            {props.preview}
          </span>
        )}
      </summary>
      {open ? <div class="folded-body">{props.children}</div> : null}
    </details>
  );
}

export function SessionMessageView({ message }: { message: SessionMessage }) {
  void message.revision.value;
  const from = titleText(message.senderSessionId).slice(0, 60);
  const to = titleText(message.recipientSessionId).slice(0, 60);
  const title = [from && `from ${from}`, to && `to ${to}`].filter(Boolean).join(" ");
  return (
    <Folded
      foldKey={message.key}
      icon="message"
      title={`Message ${title || "between sessions"}`}
      preview={preview(message.text)}
    >
      <Blocks blocks={message.blocks} />
    </Folded>
  );
}
