/* The lasting answers that were given in this page: what an agent was told to remember.

   The agent remembers them, not the page, and no method of the protocol takes one back. The list says
   so, and what can be done. It is kept by the browser, so that a reload does not empty it. */

import { signal, type ReadonlySignal } from "@preact/signals";

import type { PermissionQuestion } from "../client/types.ts";
import { titleText } from "../content/visible_text.ts";

export interface Grant {
  id: string;
  sessionId: string;
  agent: string;
  /** What was asked. */
  title: string;
  /** The name of the option that was chosen. */
  answer: string;
  allows: boolean;
  at: number;
}

export const GRANTS_MAX = 200;
const KEY = "accord.grants";

export class Grants {
  private readonly kept = signal<readonly Grant[]>(load());

  get list(): ReadonlySignal<readonly Grant[]> {
    return this.kept;
  }

  /** Note an answer, if it is one that lasts. */
  record(question: PermissionQuestion, optionId: string, agent: string): void {
    const option = question.options.find((each) => each.optionId === optionId);
    if (!option?.kind.endsWith("_always")) return;
    const grant: Grant = {
      id: crypto.randomUUID(),
      sessionId: question.sessionId,
      agent,
      title: titleText(question.title),
      answer: titleText(option.name),
      allows: option.kind.startsWith("allow"),
      at: Date.now(),
    };
    this.set([grant, ...this.kept.value].slice(0, GRANTS_MAX));
  }

  /** Take one from the list, when the agent no longer knows of it. */
  remove(id: string): void {
    this.set(this.kept.value.filter((grant) => grant.id !== id));
  }

  private set(grants: readonly Grant[]): void {
    this.kept.value = grants;
    try {
      localStorage.setItem(KEY, JSON.stringify(grants));
    } catch {
      // Storage is full or forbidden: the list is kept until the page is closed.
    }
  }
}

function load(): Grant[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isGrant).slice(0, GRANTS_MAX) : [];
  } catch {
    return [];
  }
}

function isGrant(value: unknown): value is Grant {
  const grant = (value ?? {}) as Record<string, unknown>;
  const texts = [grant.id, grant.sessionId, grant.agent, grant.title, grant.answer];
  return texts.every((text) => typeof text === "string") && typeof grant.at === "number";
}

/** The agent's own command for this, if it has one. */
export function commandForGrants(commands: readonly { name: string }[]): string | null {
  const named = commands.find(({ name }) => /^(permissions?|grants?|revoke|allowed[-_]tools)$/i.test(name));
  return named?.name ?? null;
}
