/* Where a person writes: text, files, commands. Enter sends, Shift and Enter begin a line.

   The text is in `session.draft`, which the client keeps; this component holds nothing of it. */

import "./prompt.css";

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

import type { AccordClient, Attachment, OpenSession } from "../client/types.ts";
import { sizeText, titleText } from "../content/visible_text.ts";
import { Icon } from "../shell/Icon.tsx";
import { addFiles } from "./add_files.ts";
import { isMention, mentionOf, stillMentioned } from "./attachments.ts";
import { CompletionList } from "./completion/CompletionList.tsx";
import { replaceToken, tokenAt } from "./completion/completion_token.ts";
import { Pickers } from "./Pickers.tsx";
import { leavesText, PromptHistory } from "./prompt_history.ts";
import { PromptQueue } from "./PromptQueue.tsx";
import { sendAction, sendDraft } from "./send_prompt.ts";
import { useCompletions, type Completion } from "./completion/use_completions.ts";
import { useTypingNotice } from "./use_typing_notice.ts";

interface Props {
  client: AccordClient;
  session: OpenSession;
}

export function Composer({ client, session }: Props) {
  if (session.you.value?.role === "viewer") {
    return (
      <p class="composer watching soft" role="note">
        You are watching this session. Somebody who is an admin of it can let you write.
      </p>
    );
  }
  return <Editor client={client} session={session} />;
}

function Editor({ client, session }: Props) {
  const input = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const [caret, setCaret] = useState(0);
  const [dismissed, setDismissed] = useState<number | null>(null);
  const nextCaret = useRef<number | null>(null);
  const history = useRef(new PromptHistory()).current;
  const notice = useTypingNotice(session);
  const draft = session.draft.value;
  const running = session.running.value !== null;

  const found = tokenAt(draft.text, caret);
  const token = found !== null && found.start !== dismissed && !history.isWalking ? found : null;
  const completions = useCompletions(session, token);

  useLayoutEffect(() => fitHeight(input.current), [draft.text]);
  useLayoutEffect(() => {
    if (nextCaret.current === null) return;
    input.current?.setSelectionRange(nextCaret.current, nextCaret.current);
    setCaret(nextCaret.current);
    nextCaret.current = null;
  });

  const setText = (text: string, at: number | null, attachments: readonly Attachment[] = draft.attachments): void => {
    nextCaret.current = at;
    session.draft.value = { text, attachments: stillMentioned(text, attachments) };
  };
  const choose = (completion: Completion): void => {
    if (token === null) return;
    const replaced = replaceToken(draft.text, token, completion.inserted);
    const isKnown = draft.attachments.some((each) => each.id === `mention:${completion.path}`);
    const added = completion.path === null || isKnown ? [] : [mentionOf(completion.path, session.summary.value.cwd)];
    setText(replaced.text, replaced.caret, [...draft.attachments, ...added]);
    input.current?.focus();
  };
  const send = async (): Promise<void> => {
    history.leave();
    notice.idle();
    await sendDraft(session, client.connection.value);
  };
  const attach = async (files: readonly File[]): Promise<void> => {
    await addFiles(session, files, client.agent.value?.capabilities);
  };
  const walk = (direction: -1 | 1, event: KeyboardEvent): void => {
    const { selectionStart, selectionEnd } = input.current!;
    if (!history.isWalking && !leavesText(direction, draft.text, selectionStart, selectionEnd)) return;
    const text = history.step(direction, earlierPrompts(session), draft.text);
    if (text === null) return;
    event.preventDefault();
    setText(text, text.length);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    // An input method is composing a character: its keys are not ours.
    if (event.isComposing) return;
    if (completions.onKey(event, choose, () => setDismissed(token?.start ?? null))) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      if (!event.repeat) void send();
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      if (!event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey) walk(event.key === "ArrowUp" ? -1 : 1, event);
    } else if (event.key === "Escape" && running) {
      event.preventDefault();
      session.stop();
    }
  };
  const onInput = (event: { currentTarget: HTMLTextAreaElement }): void => {
    const { value, selectionStart } = event.currentTarget;
    history.leave();
    setDismissed(null);
    setCaret(selectionStart);
    setText(value, null);
    notice.typing();
  };
  const onPaste = (event: ClipboardEvent): void => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    void attach(files);
  };

  return (
    <div class="composer">
      <PromptQueue session={session} onEdited={() => input.current?.focus()} />
      <Problem session={session} />
      <Attachments session={session} />
      <div class="composer-field">
        {token !== null && <CompletionList id={listId} completions={completions} onChoose={choose} />}
        <textarea
          ref={input}
          class="composer-text"
          rows={1}
          value={draft.text}
          aria-label="Prompt"
          placeholder={running ? "Write the next prompt; it is queued until the agent is done" : "What would you like to do?"}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={completions.isOpen ? listId : undefined}
          aria-activedescendant={completions.isOpen ? `${listId}-${completions.selected}` : undefined}
          spellcheck
          enterkeyhint="send"
          onInput={onInput}
          onKeyDown={onKeyDown}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onPaste={onPaste}
          onFocus={() => session.tell("focus")}
          onBlur={() => (session.tell("blur"), notice.idle())}
        />
        <div class="composer-bar">
          <AttachButton onFiles={attach} />
          <Pickers session={session} />
          <SendButtons client={client} session={session} onSend={send} />
        </div>
      </div>
    </div>
  );
}

function SendButtons({ client, session, onSend }: Props & { onSend(): Promise<void> }) {
  const action = sendAction(session, client.connection.value);
  const running = session.running.value !== null;
  return (
    <div class="composer-send">
      {running && (
        <button type="button" class="danger" onClick={() => session.stop()} title="Stop the agent (Esc)">
          <Icon name="stop" /> Stop
        </button>
      )}
      {(!running || action === "queue") && (
        <button
          type="button"
          class="primary"
          disabled={action === "nothing" || action === "offline"}
          title={running ? "Send when the agent is done (Enter)" : "Send (Enter)"}
          onClick={() => void onSend()}
        >
          <Icon name="send" /> {running ? "Queue" : "Send"}
        </button>
      )}
    </div>
  );
}

function AttachButton({ onFiles }: { onFiles(files: readonly File[]): Promise<void> }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class="quiet icon" aria-label="Attach files" title="Attach files" onClick={() => input.current?.click()}>
        <Icon name="attach" />
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={(event) => {
          void onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}

function Attachments({ session }: { session: OpenSession }) {
  const { text, attachments } = session.draft.value;
  if (attachments.length === 0) return null;
  const remove = (id: string): void => {
    session.draft.value = { text, attachments: attachments.filter((each) => each.id !== id) };
  };
  return (
    <ul class="attachments" aria-label="Attachments">
      {attachments.map((each) => (
        <li key={each.id}>
          {each.preview ? <img src={each.preview} alt="" /> : <Icon name={isMention(each) ? "file" : "attach"} />}
          <span class="attachment-name" dir="auto">
            {titleText(each.name)}
          </span>
          <span class="soft">{isMention(each) ? "file" : [each.mimeType, sizeText(each.size)].filter(Boolean).join(", ")}</span>
          <button type="button" class="quiet icon" aria-label={`Remove ${titleText(each.name)}`} onClick={() => remove(each.id)}>
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The last thing with this session that failed. */
function Problem({ session }: { session: OpenSession }) {
  const problem = session.problem.value;
  return (
    <div role="alert">
      {problem !== null && (
        <div class="composer-problem problem">
          <p>{problem}</p>
          <button type="button" class="quiet icon" aria-label="Close this message" onClick={() => (session.problem.value = null)}>
            <Icon name="close" />
          </button>
        </div>
      )}
    </div>
  );
}

/** What the user has sent in this session, oldest first; two alike in a row are one. */
function earlierPrompts(session: OpenSession): string[] {
  const you = session.you.value?.user ?? null;
  const texts: string[] = [];
  for (const item of session.transcript.timeline.value) {
    if (item.kind !== "message" || item.role !== "user" || item.meta["accord.remark"] === true) continue;
    const author = (item.meta["accord.author"] as { user?: unknown } | undefined)?.user;
    if (!item.isOwn && author !== undefined && author !== you) continue;
    const text = item.text.trim();
    if (text !== "" && text !== texts.at(-1)) texts.push(text);
  }
  return texts;
}

/** For browsers that do not know `field-sizing`. */
function fitHeight(input: HTMLTextAreaElement | null): void {
  if (input === null || CSS.supports?.("field-sizing", "content")) return;
  input.style.height = "auto";
  input.style.height = `${input.scrollHeight + 2}px`;
}
