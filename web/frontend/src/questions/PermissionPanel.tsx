/* One permission request: why, what exactly would happen, and the answers.

   It never takes the focus, so whoever writes goes on writing. `key_guard.ts` says when a key counts. */

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

import type { PermissionQuestion } from "../client/types.ts";
import { titleText } from "../content/visible_text.ts";
import { optionOfKey, QUIET_MS } from "./key_guard.ts";
import { factsOf, reasonOf, type Fact } from "./permission_facts.ts";
import { isLong } from "./question_length.ts";
import { SubjectContent } from "./SubjectContent.tsx";

interface Props {
  question: PermissionQuestion;
  agent: string;
  folder: string;
  onAnswer(optionId: string): void;
  onLeave(): void;
}

export function PermissionPanel({ question, agent, folder, onAnswer, onLeave }: Props) {
  const title = useId();
  const [armed, setArmed] = useState(false);
  const { options, toolCall } = question;
  // The agent may change its call while the question is open.
  void toolCall?.revision.value;
  const facts = factsOf(question, folder);
  const guard = useQuietMoment(JSON.stringify([facts, toolCall?.diffs]));

  const answer = (place: number): void => {
    const option = options[place];
    if (option && guard.shownForMs() >= QUIET_MS) onAnswer(option.optionId);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape") return void (event.stopPropagation(), onLeave());
    const place = optionOfKey(event, options.length, guard.shownForMs());
    if (place === null) return;
    event.preventDefault();
    answer(place);
  };

  return (
    <section
      class={armed ? "permission armed" : "permission"}
      aria-labelledby={title}
      tabIndex={-1}
      onKeyDown={onKeyDown}
      onFocusIn={() => setArmed(true)}
      onFocusOut={(event) => setArmed((event.currentTarget as Node).contains(event.relatedTarget as Node | null))}
    >
      {/* It scrolls if it is long: what would happen must not be pushed out of sight. */}
      <header class="question-head" tabIndex={isLong(question.title, question.reason) ? 0 : undefined}>
        <p class="permission-asker">{titleText(agent, "The agent")} asks for permission</p>
        <h3 id={title} dir="auto">
          {titleText(question.title, "Permission request")}
        </h3>
        <Reason question={question} />
      </header>
      {/* Scrollable, so it can be reached by keyboard. */}
      <div class="permission-subject" tabIndex={0} role="group" aria-label="What would happen">
        <Facts facts={facts} />
        {toolCall && <SubjectContent call={toolCall} folder={folder} />}
      </div>
      <ol class="permission-options">
        {options.map((option, place) => (
          <li key={option.optionId}>
            <button
              type="button"
              class={kindClass(option.kind)}
              aria-disabled={!guard.isOver}
              aria-keyshortcuts={place < 9 ? String(place + 1) : undefined}
              onClick={() => answer(place)}
            >
              {place < 9 && <kbd aria-hidden="true">{place + 1}</kbd>}
              <span dir="auto">{titleText(option.name, option.optionId)}</span>
            </button>
          </li>
        ))}
      </ol>
      <footer>
        <span class="soft key-hint">{armed ? keysText(options.length) : <ArmHint />}</span>
        <button type="button" class="quiet" onClick={() => guard.shownForMs() >= QUIET_MS && question.cancel()}>
          Dismiss without an answer
        </button>
      </footer>
    </section>
  );
}

const ArmHint = () => (
  <>
    <kbd>Alt</kbd>+<kbd>A</kbd> to answer by key
  </>
);

const keysText = (options: number): string =>
  `${options > 1 ? `Keys 1 to ${Math.min(options, 9)} answer` : "Key 1 answers"}, Esc goes back to the prompt.`;

const kindClass = (kind: string): string => (kind.startsWith("allow") ? "allow" : kind.startsWith("reject") ? "reject" : "");

function Reason({ question }: { question: PermissionQuestion }) {
  const reason = reasonOf(question);
  return reason === null ? null : (
    <p class="permission-reason" dir="auto">
      {reason}
    </p>
  );
}

function Facts({ facts }: { facts: readonly Fact[] }) {
  return facts.length === 0 ? null : (
    <dl class="facts">
      {facts.map((fact, index) => (
        <div key={index} class={`fact ${fact.form}`}>
          <dt>{fact.label}</dt>
          <dd dir="auto">
            {fact.form === "command" || fact.form === "json" ? <pre>{fact.text}</pre> : fact.form === "path" ? <code>{fact.text}</code> : fact.text}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** How long this has been seen: it starts again when it changes, and when a hidden tab is shown. */
function useQuietMoment(shown: string): { isOver: boolean; shownForMs(): number } {
  const since = useRef(performance.now());
  const [isOver, setOver] = useState(false);
  useLayoutEffect(() => {
    since.current = performance.now();
    setOver(false);
    let timer = setTimeout(() => setOver(true), QUIET_MS);
    const onVisibility = (): void => {
      if (document.hidden) return;
      since.current = performance.now();
      setOver(false);
      clearTimeout(timer);
      timer = setTimeout(() => setOver(true), QUIET_MS);
    };
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisibility);
    };
  }, [shown]);
  return { isOver, shownForMs: () => performance.now() - since.current };
}
