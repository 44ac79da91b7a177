/** The core of a transcript: all items, in order and by id.  Only the folds change it.
 *
 * What always holds
 *   - Every item is in `timeline` once, at the place of its first sight.
 *   - A role and a message id name at most one message; two roles may use the same id.
 *   - No operation looks through what is already there, except from the end for a few entries.
 */

import type { ContentBlock, UnknownVariant } from "./blocks.ts";
import { ConfigOptions } from "./config_options.ts";
import { Content } from "./content.ts";
import {
  Compaction,
  Message,
  Notice,
  Plan,
  SessionMessage,
  Subagent,
  TerminalItem,
  ToolCall,
  UnknownItem,
  type Item,
  type Role,
} from "./items.ts";
import { SentPrompts } from "./prompt_echoes.ts";
import type { Command, SessionInfo, Usage } from "./session_facts.ts";
import { State } from "./session_state.ts";
import { TerminalOutput } from "./terminal_output.ts";

export class View {
  readonly timeline: Item[] = [];
  readonly toolCalls: ToolCall[] = [];
  commands: readonly Command[] = [];
  readonly options = new ConfigOptions();
  usage: Usage = { used: null, size: null, cost: null };
  info: SessionInfo = { title: null, updatedAt: null, meta: {} };
  readonly state = new State();
  /** The plans that were not removed, in the order of first sight. */
  readonly plans = new Map<string, Plan>();
  latestPlanId = "";
  /** Where the current turn begins in `toolCalls`. */
  turnStart = 0;
  readonly messages: Record<Role, Map<string, Message>> = {
    user: new Map(),
    agent: new Map(),
    thought: new Map(),
  };
  readonly toolCallsById = new Map<string, ToolCall>();
  readonly terminalsById = new Map<string, TerminalItem>();
  private readonly compactions = new Map<string, Compaction>();
  private readonly subagents = new Map<string, Subagent>();
  private readonly states = new Map<string, State>();
  private readonly sessionMessages = new Map<string, SessionMessage>();
  private readonly prompts = new SentPrompts();
  private nextKey = 0;
  /** How often an item came or went. */
  arrangements = 0;

  /** `touch` is called with each item that changed. */
  constructor(readonly touch: (item: Item) => void) {}

  // Messages

  /** The message with this id, new if it is not there yet. */
  message(role: Role, messageId: string): Message {
    return this.messages[role].get(messageId) ?? this.addMessage(role, messageId);
  }

  addMessage(role: Role, messageId: string | null): Message {
    const message = this.add((key) => new Message(key, role, messageId, new Content()));
    if (messageId !== null) this.messages[role].set(messageId, message);
    return message;
  }

  /** Take a user message out again; it is looked for from the end, where it should be. */
  discardMessage(message: Message): void {
    const index = this.timeline.lastIndexOf(message);
    if (index >= 0) this.timeline.splice(index, 1);
    this.arrangements += 1;
    if (message.messageId !== null) this.messages.user.delete(message.messageId);
    this.prompts.drop(message);
    this.touch(message);
  }

  // Prompts and their echoes

  /** Show a prompt of our own. */
  sendPrompt(blocks: readonly ContentBlock[]): Message {
    const message = this.addMessage("user", null);
    message.isOwn = true;
    message.content.replace(blocks);
    this.prompts.add(message);
    return message;
  }

  /** Note the agent's id for our prompt; its echo under that id is the prompt. */
  namePrompt(message: Message, messageId: string): void {
    const other = this.messages.user.get(messageId);
    if (other !== message) {
      if (message.messageId !== null) {
        // What we took for its echo was another message with the same words.
        this.addMessage("user", message.messageId).content.replace(message.blocks);
        this.prompts.drop(message);
        this.prompts.add(message);
      }
      if (other !== undefined) this.takeOver(message, other);
      message.messageId = messageId;
      this.messages.user.set(messageId, message);
    }
    const prompt = this.prompts.of(message);
    if (prompt !== undefined) prompt.isConfirmed = true;
    this.touch(message);
  }

  private takeOver(message: Message, other: Message): void {
    this.prompts.drop(message);
    if (other.isOwn) {
      // Two prompts with the same words: the echo was the other one's, which still waits.
      other.messageId = null;
      this.prompts.add(other);
      return;
    }
    if (other.blocks.length > 0) message.content.replace(other.blocks);
    message.content.patchMeta(other.meta);
    this.discardMessage(other);
  }

  /** Take one block of a user message, which may be a part of an echo. */
  userChunk(messageId: string, block: ContentBlock): Message {
    let message = this.messages.user.get(messageId);
    if (message === undefined) {
      const prompt = this.prompts.unnamed().find((one) => one.takes(block));
      if (prompt !== undefined) {
        this.bind(prompt.message, messageId);
        this.endEchoIfComplete(prompt.message);
        return prompt.message;
      }
      message = this.addMessage("user", messageId);
    }
    const expected = this.prompts.of(message);
    if (expected === undefined) {
      message.content.append(block);
    } else if (expected.takes(block)) {
      this.endEchoIfComplete(message);
    } else {
      // It is not the text that we sent.  With the id of our prompt, the agent's text counts; if
      // we only guessed, it is another message, from its first block on.
      this.prompts.drop(message);
      if (!expected.isConfirmed) {
        message.messageId = null;
        this.prompts.add(message);
        this.touch(message);
        message = this.addMessage("user", messageId);
      }
      message.content.replace([...expected.seen, block]);
    }
    this.touch(message);
    return message;
  }

  /** Take a whole user message, which may be an echo. */
  userMessage(messageId: string, blocks: readonly ContentBlock[]): Message {
    let message = this.messages.user.get(messageId);
    if (message === undefined) {
      const prompt = this.prompts.unnamed().find((one) => one.equals(blocks));
      if (prompt === undefined) {
        message = this.addMessage("user", messageId);
      } else {
        message = prompt.message;
        this.bind(message, messageId);
      }
    }
    this.prompts.drop(message);
    message.content.replace(blocks);
    this.touch(message);
    return message;
  }

  private bind(message: Message, messageId: string): void {
    message.messageId = messageId;
    this.messages.user.set(messageId, message);
    this.touch(message);
  }

  private endEchoIfComplete(message: Message): void {
    if (this.prompts.of(message)?.isComplete) this.prompts.drop(message);
  }

  // Everything else that has an id: what is there, or new

  toolCall(toolCallId: string): ToolCall {
    return this.found(this.toolCallsById, toolCallId, (key) => {
      const call = new ToolCall(key, toolCallId);
      this.toolCalls.push(call);
      return call;
    });
  }

  terminal(terminalId: string): TerminalItem {
    return this.found(
      this.terminalsById,
      terminalId,
      (key) => new TerminalItem(key, terminalId, new TerminalOutput()),
    );
  }

  /** It is the latest plan from now on. */
  plan(planId: string): Plan {
    this.latestPlanId = planId;
    return this.found(this.plans, planId, (key) => new Plan(key, planId));
  }

  /** The plan is gone; it keeps its place in the timeline, marked. */
  removePlan(planId: string): void {
    const plan = this.plans.get(planId);
    if (plan === undefined) return;
    this.plans.delete(planId);
    plan.removed = true;
    this.touch(plan);
  }

  compaction(compactionId: string): Compaction {
    return this.found(
      this.compactions,
      compactionId,
      (key) => new Compaction(key, compactionId, new Content()),
    );
  }

  subagent(sessionId: string): Subagent {
    return this.found(this.subagents, sessionId, (key) => {
      const state = new State();
      this.states.set(sessionId, state);
      return new Subagent(key, sessionId, state.shown);
    });
  }

  /** The state of a child that is there. */
  stateOf(child: Subagent): State {
    return this.states.get(child.sessionId) as State;
  }

  sessionMessage(messageId: string): SessionMessage {
    return this.found(
      this.sessionMessages,
      messageId,
      (key) => new SessionMessage(key, messageId, new Content()),
    );
  }

  addNotice(severity: string, title: string, description: string | null): void {
    this.add((key) => new Notice(key, severity, title, description));
  }

  addUnknown(variant: UnknownVariant): void {
    this.add((key) => new UnknownItem(key, variant));
  }

  /** The item under this id, which counts as changed. */
  private found<T extends Item>(items: Map<string, T>, id: string, make: (key: string) => T): T {
    let item = items.get(id);
    if (item === undefined) {
      item = this.add(make);
      items.set(id, item);
    } else {
      this.touch(item);
    }
    return item;
  }

  private add<T extends Item>(make: (key: string) => T): T {
    const item = make(String((this.nextKey += 1)));
    this.timeline.push(item);
    this.arrangements += 1;
    this.touch(item);
    return item;
  }
}
