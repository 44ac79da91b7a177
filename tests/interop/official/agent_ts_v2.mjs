// An agent on the official TypeScript SDK, ACP v2, that does what its prompt says.
//
// The commands are listed in tests/interop/README.md; every scripted agent here knows the same ones.
// In v2 an agent works on its own files and terminals, and a mode is a config option.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  agent,
  methods,
  ndJsonStream,
  RequestError,
} from "@agentclientprotocol/sdk/experimental/v2";

const CHOICES = { mode: ["ask", "code"], model: ["small", "large"] };
const PERMISSION_KINDS = ["allow_once", "allow_always", "reject_once", "reject_always"];
const CANCEL = -32800;
const FORM = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const ECHO = "_interop/echo";

const sessions = new Map();
const head = (text) => [text.split(" ")[0], text.split(" ").slice(1).join(" ")];
const textBlock = (text) => ({ type: "text", text });

class Session {
  constructor(sessionId, cwd) {
    const values = { mode: "ask", model: "small", verbose: false };
    Object.assign(this, { sessionId, cwd, values, history: [], made: 0 });
    this.stopping = new AbortController();
    this.stoppable = new Map();
  }

  newId = (kind) => `${kind}-${++this.made}`;

  get configOptions() {
    const selects = Object.entries(CHOICES).map(([key, choices]) => ({
      type: "select",
      configId: key,
      name: key,
      category: key,
      currentValue: this.values[key],
      options: choices.map((value) => ({ value, name: value })),
    }));
    const { verbose } = this.values;
    const flag = { type: "boolean", configId: "verbose", name: "verbose", currentValue: verbose };
    return [...selects, flag];
  }

  setConfig(configId, value) {
    if (!(CHOICES[configId] ?? [true, false]).includes(value)) {
      throw RequestError.invalidParams({ configId });
    }
    this.values[configId] = value;
    return { configOptions: this.configOptions };
  }
}

function find(sessionId) {
  if (!sessions.has(sessionId)) throw RequestError.resourceNotFound(sessionId);
  return sessions.get(sessionId);
}

/** One prompt's view of the session and its client. */
class Turn {
  constructor(session, client) {
    this.session = session;
    this.client = client;
    this.here = { sessionId: session.sessionId };
  }

  path = (name) => resolve(this.session.cwd, name);

  send(update) {
    return this.client.notify(methods.client.session.update, { ...this.here, update });
  }

  async record(update) {
    this.session.history.push(update);
    await this.send(update);
  }

  state(state, fields = {}) {
    return this.send({ sessionUpdate: "state_update", state, ...fields });
  }

  say(text) {
    const messageId = this.session.newId("message");
    const content = [textBlock(text)];
    return this.record({ sessionUpdate: "agent_message", messageId, content });
  }

  async announce(fields) {
    const toolCallId = this.session.newId("call");
    await this.progress(toolCallId, { status: "pending", ...fields });
    return toolCallId;
  }

  progress(toolCallId, fields) {
    return this.send({ sessionUpdate: "tool_call_update", toolCallId, ...fields });
  }

  async ask(toolCallId) {
    await this.state("requires_action");
    const request = {
      ...this.here,
      title: "May I?",
      description: "Because the prompt said so",
      subject: { type: "tool_call", toolCall: { toolCallId } },
      options: PERMISSION_KINDS.map((kind) => ({ optionId: kind, name: kind, kind })),
    };
    // A cancelled session takes its question back; the client then answers with -32800.
    const options = { cancellationSignal: this.session.stopping.signal };
    let chosen = null;
    try {
      const answer = await this.client.request(
        methods.client.session.requestPermission,
        request,
        options,
      );
      if (answer.outcome.outcome === "selected") chosen = answer.outcome.optionId;
    } catch (error) {
      if (error.code !== CANCEL) throw error;
    }
    await this.state("running");
    return chosen;
  }

  async openTerminal(line) {
    const terminalId = this.session.newId("terminal");
    const { cwd } = this.session;
    await this.send({ sessionUpdate: "terminal_update", terminalId, command: line, cwd });
    const [command, ...args] = line.split(" ");
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "inherit"] });
    const chunks = [];
    child.stdout.on("data", (data) => chunks.push(data));
    const closed = once(child, "close").then(async ([exitCode, signal]) => {
      const output = Buffer.concat(chunks);
      const data = output.toString("base64");
      if (data) await this.send({ sessionUpdate: "terminal_output_chunk", terminalId, data });
      const exitStatus = signal ? { signal } : { exitCode };
      await this.send({ sessionUpdate: "terminal_update", terminalId, exitStatus });
      return { exitCode, output: output.toString("utf-8") };
    });
    return { terminalId, child, closed };
  }
}

function gitPatch(path, oldText, newText) {
  const side = (mark, text) => text.replace(/\n$/, "").split("\n").map((line) => mark + line);
  const [removed, added] = [side("-", oldText), side("+", newText)];
  const range = `@@ -1,${removed.length} +1,${added.length} @@`;
  const lines = [`diff --git ${path} ${path}`, `--- ${path}`, `+++ ${path}`, range];
  return [...lines, ...removed, ...added, ""].join("\n");
}

const commands = {
  say: (turn, text) => turn.say(text),
  async stream(turn, count) {
    const messageId = turn.session.newId("message");
    for (let number = 0; number < Number(count); number++) {
      const content = textBlock(`${number} `);
      await turn.record({ sessionUpdate: "agent_message_chunk", messageId, content });
    }
  },
  think: (turn, text) =>
    turn.send({
      sessionUpdate: "agent_thought_chunk",
      messageId: turn.session.newId("message"),
      content: textBlock(text),
    }),
  async plan(turn) {
    for (const status of ["in_progress", "completed"]) {
      const entries = [
        { content: "Look", priority: "high", status },
        { content: "Leap", priority: "low", status: "pending" },
      ];
      const plan = { type: "items", planId: "plan-1", entries };
      await turn.send({ sessionUpdate: "plan_update", plan });
    }
  },
  async tool(turn) {
    const toolCallId = await turn.announce({
      title: "Search the code",
      kind: "search",
      rawInput: { query: "needle" },
      locations: [{ path: turn.path("hay.py"), line: 3 }],
    });
    await turn.progress(toolCallId, { status: "in_progress" });
    const content = { type: "content", content: textBlock("1 match") };
    await turn.send({ sessionUpdate: "tool_call_content_chunk", toolCallId, content });
    await turn.progress(toolCallId, { status: "completed", rawOutput: { matches: 1 } });
  },
  async edit(turn, argument) {
    const [name, newText] = head(argument);
    const path = turn.path(name);
    const text = gitPatch(path, await readFile(path, "utf-8"), newText);
    const changes = [{ operation: "modify", path, fileType: "text" }];
    const content = [{ type: "diff", changes, patch: { format: "git_patch", text } }];
    const fields = { title: `Edit ${name}`, kind: "edit", content, locations: [{ path }] };
    const call = await turn.announce(fields);
    if (!(await turn.ask(call))?.startsWith("allow")) {
      await turn.progress(call, { status: "cancelled" });
      return void (await turn.say("not edited"));
    }
    await turn.progress(call, { status: "in_progress" });
    await writeFile(path, newText);
    await turn.progress(call, { status: "completed" });
    await turn.say("edited");
  },
  async permission(turn) {
    const call = await turn.announce({ title: "Deploy", kind: "execute" });
    const option = await turn.ask(call);
    await turn.say(`permission ${option ?? "cancelled"}`);
    const status = option?.startsWith("allow") ? "completed" : "cancelled";
    await turn.progress(call, { status });
    if (option === null) return "cancelled";
  },
  async terminal(turn, line) {
    const { terminalId, closed } = await turn.openTerminal(line);
    const content = [{ type: "terminal", terminalId }];
    const call = await turn.announce({ title: line, kind: "execute", content });
    const { exitCode, output } = await closed;
    await turn.progress(call, { status: "completed" });
    await turn.say(`exit=${exitCode} output=${output.trim()}`);
  },
  async kill(turn, line) {
    const { child, closed } = await turn.openTerminal(line);
    child.kill("SIGKILL");
    const { exitCode } = await closed;
    await turn.say(`killed=${exitCode === 0 ? "False" : "True"}`);
  },
  read: async (turn, name) => turn.say(await readFile(turn.path(name), "utf-8")),
  async write(turn, argument) {
    const [name, text] = head(argument);
    await writeFile(turn.path(name), text);
    await turn.say("written");
  },
  mode: (turn, mode) => commands.config(turn, `mode ${mode}`),
  config: (turn, argument) =>
    turn.send({
      sessionUpdate: "config_option_update",
      ...turn.session.setConfig(...argument.split(" ")),
    }),
  usage: (turn) =>
    turn.send({
      sessionUpdate: "usage_update",
      used: 10,
      size: 100,
      cost: { amount: 0.5, currency: "USD" },
    }),
  title: (turn, title) => turn.send({ sessionUpdate: "session_info_update", title }),
  commands(turn) {
    const input = { type: "text", hint: "file" };
    const command = { type: "command", name: "run", description: "Run a file", input };
    return turn.send({ sessionUpdate: "available_commands_update", availableCommands: [command] });
  },
  async long(turn) {
    const { signal } = turn.session.stopping;
    const stopped = once(signal, "abort");
    await turn.say("working");
    if (!signal.aborted) await stopped;
    return "cancelled";
  },
  async blocks(turn, _argument, prompt) {
    await turn.say(prompt.map((block) => block.type).join(" "));
  },
  async form(turn) {
    const request = { ...turn.here, mode: "form", message: "Who?", requestedSchema: FORM };
    const answer = await turn.client.request(methods.client.elicitation.create, request);
    await turn.say(["form", answer.action, ...Object.values(answer.content ?? {})].join(" "));
  },
  async echo(turn, value) {
    await turn.say(`echo ${(await turn.client.request(ECHO, { value })).value}`);
  },
  async slow(turn) {
    const capabilities = { cancel: {} };
    const call = await turn.announce({ title: "Slow", kind: "other", capabilities });
    await turn.progress(call, { status: "in_progress" });
    await new Promise((resolve) => turn.session.stoppable.set(call, resolve));
    await turn.progress(call, { status: "cancelled", capabilities: null });
    await turn.say("stopped");
  },
  refuse: () => "refusal",
  fail(_turn, text) {
    throw new RequestError(-32603, text || "failed on request");
  },
};

const STOPS = ["cancelled", "refusal"];

async function work(turn, verb, argument, prompt) {
  await turn.state("running");
  let end;
  try {
    const stop = await commands[verb](turn, argument, prompt);
    end = { stopReason: STOPS.includes(stop) ? stop : "end_turn" };
  } catch ({ code = -32603, message }) {
    // The prompt is inserted: what breaks from here on is a stop reason, never an error.
    end = { stopReason: "error", error: { code: Number.isInteger(code) ? code : -32603, message } };
  }
  await turn.state("idle", end);
}

export const app = agent({ name: "official-ts-v2" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: 2,
    info: { name: "official-ts-v2", version: "1.0.0" },
    capabilities: { session: { prompt: { image: {}, embeddedContext: {} }, delete: {} } },
    authMethods: [{ type: "agent", methodId: "key", name: "Key" }],
  }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    const session = new Session(`session-${sessions.size + 1}`, params.cwd);
    sessions.set(session.sessionId, session);
    return { sessionId: session.sessionId, configOptions: session.configOptions };
  })
  .onRequest(methods.agent.session.resume, async ({ params, client }) => {
    const turn = new Turn(find(params.sessionId), client);
    for (const update of params.replayFrom ? turn.session.history : []) await turn.send(update);
    await turn.state("idle");
    return { configOptions: turn.session.configOptions };
  })
  .onRequest(methods.agent.session.list, () => ({
    sessions: [...sessions.values()].map(({ sessionId, cwd }) => ({ sessionId, cwd })),
  }))
  .onRequest(methods.agent.session.close, ({ params }) => {
    find(params.sessionId).stopping.abort();
    return {};
  })
  .onRequest(methods.agent.session.delete, ({ params }) => {
    sessions.delete(params.sessionId);
    return {};
  })
  .onRequest(methods.agent.auth.login, ({ params }) => {
    if (params.methodId !== "key") throw RequestError.invalidParams(params);
    return {};
  })
  .onRequest(methods.agent.toolCall.cancel, ({ params }) => {
    find(params.sessionId).stoppable.get(params.toolCallId)();
    return {};
  })
  .onRequest(ECHO, { parse: (params) => params }, ({ params }) => params)
  .onRequest(methods.agent.session.setConfigOption, ({ params }) =>
    find(params.sessionId).setConfig(params.configId, params.value),
  )
  .onNotification(methods.agent.session.cancel, ({ params }) =>
    find(params.sessionId).stopping.abort(),
  )
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const session = find(params.sessionId);
    const [verb, argument] = head(params.prompt[0].text);
    if (!(verb in commands)) throw RequestError.invalidParams({ command: verb });
    session.stopping = new AbortController();
    const turn = new Turn(session, client);
    const messageId = session.newId("message");
    await turn.record({ sessionUpdate: "user_message", messageId, content: params.prompt });
    void work(turn, verb, argument, params.prompt);
    return { messageId };
  });

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
}
