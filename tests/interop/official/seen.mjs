// What a scripted client saw in one step, folded from updates as they are on the wire.
//
// The twin of seen.py: takes v1 and v2 alike and reports the same keys.

const role = (kind) =>
  kind.startsWith("user") ? "user" : kind.includes("thought") ? "thought" : "agent";
const planOf = (entries) => entries.map((entry) => [entry.content, entry.status]);
const decode = (data) => Buffer.from(data, "base64").toString("utf-8");

export class Seen {
  constructor(step) {
    this.step = step;
    this.kinds = [];
    this.facts = {};
    this.text = { agent: new Map(), thought: new Map(), user: new Map() };
    this.tools = new Map();
    this.terminals = new Map();
  }

  /** Append to a list of facts, such as permissions that were asked. */
  add(key, item) {
    (this.facts[key] ??= []).push(item);
  }

  /** Remember the current values; in v2 the mode is one of them. */
  keepConfig(options) {
    if (!options) return;
    const values = options.map((option) => [option.configId ?? option.id, option.currentValue]);
    this.facts.config = Object.fromEntries(values);
    if (this.facts.config.mode) this.facts.mode = this.facts.config.mode;
  }

  fold(update) {
    const { sessionUpdate: kind, ...fields } = update;
    this.kinds.push(kind);
    switch (kind) {
      case "agent_message_chunk":
      case "agent_thought_chunk":
      case "user_message_chunk": {
        const texts = this.text[role(kind)];
        const message = fields.messageId ?? "";
        texts.set(message, (texts.get(message) ?? "") + (fields.content.text ?? ""));
        break;
      }
      case "agent_message":
      case "agent_thought":
      case "user_message": {
        const parts = (fields.content ?? []).map((block) => block.text ?? "");
        this.text[role(kind)].set(fields.messageId, parts.join(""));
        break;
      }
      case "tool_call":
      case "tool_call_update":
        Object.assign(this.tool(fields.toolCallId), fields);
        break;
      case "tool_call_content_chunk": {
        const tool = this.tool(fields.toolCallId);
        tool.content = [...(tool.content ?? []), fields.content];
        break;
      }
      case "terminal_update":
      case "terminal_output_chunk":
        this.foldTerminal(fields);
        break;
      default:
        this.foldState(kind, fields);
    }
  }

  foldState(kind, fields) {
    switch (kind) {
      case "plan":
        this.facts.plan = planOf(fields.entries);
        break;
      case "plan_update":
        this.facts.plan = planOf(fields.plan.entries);
        break;
      case "current_mode_update":
        this.facts.mode = fields.currentModeId;
        break;
      case "config_option_update":
        this.keepConfig(fields.configOptions);
        break;
      case "usage_update":
        this.facts.usage = { used: fields.used, size: fields.size };
        break;
      case "session_info_update":
        this.facts.title = fields.title;
        break;
      case "available_commands_update":
        this.facts.commands = fields.availableCommands.map((command) => command.name);
        break;
      case "state_update":
        this.add("states", fields.state);
        if (fields.state === "idle") this.facts.stop = fields.stopReason ?? null;
        break;
      default:
        this.add("unknown", kind);
    }
  }

  tool(id) {
    if (!this.tools.has(id)) this.tools.set(id, {});
    return this.tools.get(id);
  }

  foldTerminal(fields) {
    if (!this.terminals.has(fields.terminalId)) {
      this.terminals.set(fields.terminalId, { output: "" });
    }
    const terminal = this.terminals.get(fields.terminalId);
    if (fields.data) terminal.output += decode(fields.data);
    if (fields.output) terminal.output = decode(fields.output.data);
    if (fields.exitStatus) terminal.exit = fields.exitStatus.exitCode ?? null;
    if (fields.command !== undefined) terminal.command = fields.command;
  }

  report() {
    const { terminals = [], ...facts } = this.facts;
    const texts = Object.entries(this.text).map(([who, parts]) => [
      `${who}_text`,
      [...parts.values()].join(""),
    ]);
    return {
      step: this.step,
      kinds: this.kinds,
      messages: [...this.text.agent.values()],
      tools: [...this.tools.values()],
      terminals: [...this.terminals.values(), ...terminals],
      ...Object.fromEntries(texts),
      ...facts,
    };
  }
}

/** The id of the offered option of that kind; null for `cancelled` or when there is none. */
export const choose = (options, kind) =>
  options.find((option) => option.kind === kind)?.optionId ?? null;
