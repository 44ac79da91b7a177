/* The open questions of a session, one at a time; it stands between the conversation and the prompt. */

import "./questions.css";

import { useEffect, useRef } from "preact/hooks";

import type { OpenSession, PermissionQuestion, Question } from "../client/types.ts";
import { titleText } from "../content/visible_text.ts";
import { FormPanel } from "./forms/FormPanel.tsx";
import type { Grants } from "./grants.ts";
import { PermissionPanel } from "./PermissionPanel.tsx";

interface Props {
  session: OpenSession;
  agent: string;
  grants: Grants;
  /** Give the focus back to the prompt. */
  onLeave(): void;
}

export const openQuestions = (session: OpenSession): Question[] =>
  session.questions.value.filter((question) => question.settledBy === null);

export const questionTitle = (question: Question): string =>
  titleText(question.kind === "permission" ? question.title : question.message, "The agent asks something");

export function QuestionQueue({ session, agent, grants, onLeave }: Props) {
  const area = useRef<HTMLDivElement>(null);
  const hadFocus = useRef(false);
  const open = openQuestions(session);
  const front = open[0];
  const settled = session.questions.value.filter((question) => question.settledBy !== null);

  // Whoever answers by keyboard stays in the queue until it is empty.
  useEffect(() => {
    if (!hadFocus.current) return;
    const panel = area.current?.querySelector<HTMLElement>("section");
    if (panel) panel.focus();
    else onLeave();
  }, [front?.id]);

  const answer = (question: PermissionQuestion, optionId: string): void => {
    grants.record(question, optionId, agent);
    question.answer(optionId);
  };
  return (
    <div
      ref={area}
      class="questions"
      onFocusIn={() => (hadFocus.current = true)}
      onFocusOut={(event) => {
        // A panel that goes takes the focus with it, and that is not leaving.
        if (event.relatedTarget !== null) hadFocus.current = area.current?.contains(event.relatedTarget as Node) ?? false;
      }}
    >
      <div role="status">
        {settled.map((question) => (
          <p key={question.id} class="soft settled">
            {titleText(question.settledBy)} answered: {questionTitle(question)}
          </p>
        ))}
      </div>
      {open.length > 1 && <p class="soft question-count">1 of {open.length} questions</p>}
      {front?.kind === "permission" && (
        <PermissionPanel
          key={front.id}
          question={front}
          agent={agent}
          folder={session.summary.value.cwd}
          onAnswer={(optionId) => answer(front, optionId)}
          onLeave={onLeave}
        />
      )}
      {front?.kind === "form" && <FormPanel key={front.id} question={front} agent={agent} onLeave={onLeave} />}
    </div>
  );
}
