/** What an agent asks people, and their answers.
 *
 * What always holds: a question leaves the list once it is answered, here or elsewhere, and
 * nothing is answered twice.
 */

import { signal } from "@preact/signals";
import type { ToolCall } from "../transcript/items.ts";
import type { Transcript } from "../transcript/transcript.ts";
import { Invalid } from "../wire/invalid.ts";
import { read } from "../wire/reader.ts";
import type { Incoming } from "../wire/rpc.ts";
import type { FormQuestion, PermissionQuestion, Question } from "./types.ts";

const INVALID_PARAMS = -32602;
/** So long is shown who else has answered. */
const SETTLED_MS = 8_000;

interface ReceivedPermission {
  title: string;
  description?: string | null;
  subject?: { type: string; toolCall?: unknown } | null;
  toolCall?: unknown;
  options: { optionId: string; name: string; kind: string }[];
}

type ReceivedForm =
  | { mode: "form"; message: string; requestedSchema: unknown }
  | { mode: "url"; message: string; url: string }
  | { type: "unknown"; mode?: undefined };

let nextId = 1;

export class SessionQuestions {
  readonly questions = signal<readonly Question[]>([]);
  /** Those that were taken back, until the gateway says who has answered them. */
  private takenBack: Question[] = [];

  constructor(
    private readonly sessionId: string,
    private readonly transcript: Transcript,
  ) {}

  /** Show a request of the agent, or refuse one that cannot be read. */
  ask(request: Incoming): void {
    try {
      const question = this.questionOf(request);
      if (question === null) return;
      request.withdrawn = () => {
        this.remove(question.id);
        this.takenBack.push(question);
      };
      this.questions.value = [...this.open(), question];
    } catch (error) {
      if (!(error instanceof Invalid)) throw error;
      request.refuse(INVALID_PARAMS, error.message);
    }
  }

  /** Somebody, whose name is given if it is known, or nobody, has settled what was taken back. */
  settled(by: string | null): void {
    const question = this.takenBack.shift();
    if (question === undefined || by === null) return;
    this.questions.value = [...this.open(), { ...question, settledBy: by }];
    setTimeout(() => this.remove(question.id), SETTLED_MS);
  }

  private open(): Question[] {
    return this.questions.value.filter((question) => question.settledBy === null);
  }

  private questionOf(request: Incoming): Question | null {
    return request.method === "session/request_permission"
      ? this.permission(request)
      : this.form(request);
  }

  private permission(request: Incoming): PermissionQuestion {
    const asked = read<ReceivedPermission>("RequestPermissionRequest", request.params);
    const raw = (request.params ?? {}) as { toolCall?: unknown; subject?: { toolCall?: unknown } };
    const patch = asked.subject?.type === "tool_call" ? raw.subject?.toolCall : raw.toolCall;
    const toolCall: ToolCall | null =
      patch === undefined ? null : this.transcript.applyPermissionSubject(patch);
    const common = this.common();
    const settle = (outcome: object) => this.settle(common.id, request, { outcome });
    return {
      ...common,
      kind: "permission",
      title: asked.title || toolCall?.title || "May the agent go on?",
      toolCall,
      options: asked.options,
      reason: asked.description ?? null,
      raw: request.params,
      answer: (optionId) => settle({ outcome: "selected", optionId }),
      cancel: () => settle({ outcome: "cancelled" }),
    };
  }

  private form(request: Incoming): FormQuestion | null {
    const asked = read<ReceivedForm>("CreateElicitationRequest", request.params);
    if (asked.mode === undefined) {
      // What cannot be shown cannot be answered.
      request.answer({ action: "cancel" });
      return null;
    }
    const common = this.common();
    const settle = (result: object) => this.settle(common.id, request, result);
    return {
      ...common,
      kind: "form",
      message: asked.message,
      mode: asked.mode,
      schema: asked.mode === "form" ? asked.requestedSchema : null,
      url: asked.mode === "url" ? asked.url : null,
      accept: (content) =>
        settle(asked.mode === "form" ? { action: "accept", content } : { action: "accept" }),
      decline: () => settle({ action: "decline" }),
      cancel: () => settle({ action: "cancel" }),
    };
  }

  private common() {
    const id = `question${nextId}`;
    nextId += 1;
    return { id, sessionId: this.sessionId, settledBy: null };
  }

  private settle(id: string, request: Incoming, result: object): void {
    this.remove(id);
    request.answer(result);
  }

  private remove(id: string): void {
    this.questions.value = this.questions.value.filter((question) => question.id !== id);
  }

  /** The session is over, or is loaded again: what is still open is asked again then. */
  clear(): void {
    this.questions.value = this.takenBack = [];
  }
}
