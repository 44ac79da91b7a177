/** Folds updates about the session as a whole, its plans, and its child sessions. */

import type { UnknownVariant } from "./blocks.ts";
import { optionOf, type ReceivedOption } from "./config_options.ts";
import { canCancel } from "./fold_conversation.ts";
import { patchMeta } from "./meta.ts";
import type { Plan } from "./items.ts";
import type { Command } from "./session_facts.ts";
import type {
  ReceivedCommand,
  ReceivedPlan,
  SessionMessagePatch,
  SubagentPatch,
  Updates,
} from "./updates.ts";
import { stringsOf } from "./unknown_variants.ts";
import type { View } from "./view.ts";

type SessionTag =
  | "state_update"
  | "plan_update"
  | "plan_removed"
  | "available_commands_update"
  | "config_option_update"
  | "session_info_update"
  | "usage_update"
  | "notice"
  | "compaction_update"
  | "compaction_summary_chunk"
  | "subagent_update"
  | "session_message"
  | "session_message_chunk";

export const SESSION_FOLDS: {
  [Tag in SessionTag]: (view: View, update: Updates[Tag]) => void;
} = {
  state_update: (view, update) => view.state.report(update),
  plan_update: (view, update) => planUpdate(view, update.plan),
  plan_removed: (view, update) => view.removePlan(update.planId),
  available_commands_update: (view, update) => takeCommands(view, update.availableCommands),
  config_option_update: (view, update) => takeOptions(view, update.configOptions),
  session_info_update: (view, { title, updatedAt, _meta }) => {
    const meta = patchMeta(view.info.meta, _meta);
    view.info = {
      title: title === undefined ? view.info.title : title,
      updatedAt: updatedAt === undefined ? view.info.updatedAt : updatedAt,
      meta,
    };
  },
  usage_update: (view, { used, size, cost }) => {
    const kept = cost === undefined ? view.usage.cost : cost;
    view.usage = { used, size, cost: kept && { amount: kept.amount, currency: kept.currency } };
  },
  notice: (view, { severity, title, description }) =>
    view.addNotice(severity, title, description ?? null),
  compaction_update: (view, update) => {
    const compaction = view.compaction(update.compactionId);
    compaction.status = update.status;
    if (update.error !== undefined) compaction.error = update.error;
    compaction.content.patch(update.summary);
    compaction.content.patchMeta(update._meta);
  },
  compaction_summary_chunk: (view, update) =>
    view.compaction(update.compactionId).content.append(update.content),
  subagent_update: subagent,
  session_message: sessionMessage,
  session_message_chunk: (view, update) =>
    view.sessionMessage(update.messageId).content.append(update.content),
};

/** Make these the slash commands of the session, where any are given. */
export function takeCommands(view: View, commands: ReceivedCommand[] | undefined): void {
  if (commands !== undefined) view.commands = commands.map(commandOf);
}

/** Make these the config options of the session, where any are given. */
export function takeOptions(view: View, options: ReceivedOption[] | undefined): void {
  if (options !== undefined) view.options.replace(options.map(optionOf));
}

function commandOf(received: ReceivedCommand): Command {
  if (received.type === "unknown") {
    const fields = stringsOf(received.received);
    const [name, description] = [fields.get("name"), fields.get("description")];
    return { name: name ?? "", description: description ?? "", hint: null };
  }
  const { name, description, input } = received;
  // Input of a kind that we do not know has no hint.
  return { name, description, hint: input?.type === "text" ? input.hint : null };
}

function planUpdate(view: View, received: ReceivedPlan): void {
  if (received.type === "unknown") {
    unknownPlan(view, received);
    return;
  }
  const plan = view.plan(received.planId);
  become(plan, received.type);
  if (received.type === "items") {
    plan.entries = received.entries.map(({ content, priority, status }) => ({
      content,
      priority,
      status,
    }));
  } else if (received.type === "markdown") {
    plan.markdown = received.content;
  } else {
    plan.uri = received.uri;
  }
}

function unknownPlan(view: View, received: UnknownVariant): void {
  const fields = stringsOf(received.received);
  const planId = fields.get("planId") ?? fields.get("id");
  if (planId === undefined) {
    view.addUnknown(received);
    return;
  }
  const plan = view.plan(planId);
  become(plan, received.tag);
  plan.received = received.received;
}

function become(plan: Plan, form: string): void {
  Object.assign(plan, { form, entries: [], markdown: null, uri: null, received: null });
}

function subagent(view: View, update: SubagentPatch): void {
  const child = view.subagent(update.sessionId);
  if (update.title !== undefined) child.title = update.title;
  if (update.description !== undefined) child.description = update.description;
  if (update.cwd !== undefined) child.cwd = update.cwd;
  if (update.additionalDirectories !== undefined) {
    child.additionalDirectories = update.additionalDirectories;
  }
  child.meta = patchMeta(child.meta, update._meta);
  if (update.capabilities !== undefined) child.cancellable = canCancel(update.capabilities);
  const state = view.stateOf(child);
  if (update.state === null) state.forget();
  else if (update.state !== undefined) state.report(update.state);
  child.state = state.shown;
}

function sessionMessage(view: View, update: SessionMessagePatch): void {
  const message = view.sessionMessage(update.messageId);
  if (update.senderSessionId !== undefined) message.senderSessionId = update.senderSessionId;
  if (update.recipientSessionId !== undefined) {
    message.recipientSessionId = update.recipientSessionId;
  }
  if (update.senderMessageId !== undefined) message.senderMessageId = update.senderMessageId;
  if (update.recipientMessageId !== undefined) {
    message.recipientMessageId = update.recipientMessageId;
  }
  message.content.patch(update.content);
  message.content.patchMeta(update._meta);
}
