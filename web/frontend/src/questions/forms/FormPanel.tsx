/* A question of the agent that is answered by a form, or by a page that it names. */

import { signal, type Signal } from "@preact/signals";
import { useId, useMemo, useRef, useState } from "preact/hooks";

import type { FormQuestion } from "../../client/types.ts";
import { titleText, visibleText } from "../../content/visible_text.ts";
import { problemWith, readForm, valuesOf, type Entry, type Field } from "./form_schema.ts";
import { isLong } from "../question_length.ts";
import { FormField } from "./FormField.tsx";

type Entries = ReadonlyMap<string, Entry>;

/** Forms whose entries are kept; the oldest goes first. */
const FORMS_KEPT_MAX = 50;

// What was entered survives a look at another session, and a connection that was cut: the agent's
// question is another object then.
const entered = new Map<string, Signal<Entries>>();

function entriesOf(question: FormQuestion): Signal<Entries> {
  const key = JSON.stringify([question.sessionId, question.message, question.schema]);
  const known = entered.get(key) ?? signal<Entries>(new Map());
  entered.delete(key);
  entered.set(key, known);
  for (const oldest of entered.keys()) {
    if (entered.size <= FORMS_KEPT_MAX) break;
    entered.delete(oldest);
  }
  return known;
}

interface Props {
  question: FormQuestion;
  agent: string;
  onLeave(): void;
}

export function FormPanel({ question, agent, onLeave }: Props) {
  const title = useId();
  return (
    <section
      class="form-question"
      aria-labelledby={title}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onLeave();
      }}
    >
      <header class="question-head" tabIndex={isLong(question.message) ? 0 : undefined}>
        <p class="permission-asker">{titleText(agent, "The agent")} asks</p>
        <h3 id={title} class="form-message" dir="auto">
          {visibleText(question.message)}
        </h3>
      </header>
      {question.mode === "url" ? <PageRequest question={question} /> : <Fields question={question} />}
    </section>
  );
}

function Fields({ question }: { question: FormQuestion }) {
  const form = useRef(readForm(question.schema)).current;
  const entries = useMemo(() => entriesOf(question), [question]);
  const element = useRef<HTMLFormElement>(null);
  const [checked, setChecked] = useState(false);
  const entryOf = (field: Field): Entry => entries.value.get(field.name) ?? field.initial;
  const problems = form.fields.map((field) => (checked ? problemWith(field, entryOf(field)) : null));

  const submit = (event: Event): void => {
    event.preventDefault();
    setChecked(true);
    const wrong = form.fields.findIndex((field) => problemWith(field, entryOf(field)) !== null);
    if (wrong < 0) {
      const values = valuesOf(form.fields, entries.value);
      // The same question may come again, and has another answer then.
      entries.value = new Map();
      return question.accept(values);
    }
    element.current?.querySelectorAll<HTMLElement>(".field")[wrong]?.querySelector<HTMLElement>("input, select, textarea")?.focus();
  };

  return (
    <form ref={element} noValidate onSubmit={submit}>
      {form.title && <h4 dir="auto">{titleText(form.title)}</h4>}
      {form.description && (
        <p class="soft" dir="auto">
          {visibleText(form.description)}
        </p>
      )}
      <div class="fields">
        {form.fields.map((field, index) => (
          <FormField
            key={field.name}
            field={field}
            entry={entryOf(field)}
            problem={problems[index] ?? null}
            onEntry={(entry) => (entries.value = new Map(entries.value).set(field.name, entry))}
          />
        ))}
      </div>
      <Answers question={question}>
        <button type="submit" class="primary">
          Send answers
        </button>
      </Answers>
    </form>
  );
}

function Answers({ question, children }: { question: FormQuestion; children: preact.ComponentChildren }) {
  return (
    <div class="form-answers">
      {children}
      <button type="button" onClick={() => question.decline()}>
        Decline
      </button>
      <button type="button" class="quiet" onClick={() => question.cancel()}>
        Dismiss
      </button>
    </div>
  );
}

/** The whole address is shown before anybody agrees to open it. */
function PageRequest({ question }: { question: FormQuestion }) {
  const url = question.url !== null && URL.canParse(question.url) ? new URL(question.url) : null;
  const isWeb = url !== null && /^https?:$/.test(url.protocol);
  return (
    <div class="page-request">
      <dl class="facts">
        {isWeb && (
          <div class="fact">
            <dt>Site</dt>
            <dd>
              <strong>{url.host}</strong>
            </dd>
          </div>
        )}
        <div class="fact command">
          <dt>Address</dt>
          <dd>
            <pre>{visibleText(url?.href ?? question.url ?? "none")}</pre>
          </dd>
        </div>
      </dl>
      {!isWeb && <p class="problem">This page opens only addresses that begin with https:// or http://.</p>}
      {isWeb && url.protocol === "http:" && <p class="problem">The connection to this site is not encrypted.</p>}
      <Answers question={question}>
        {isWeb && (
          <a class="button primary" href={url.href} target="_blank" rel="noopener noreferrer" onClick={() => question.accept({})}>
            Open in a new tab
          </a>
        )}
      </Answers>
    </div>
  );
}
