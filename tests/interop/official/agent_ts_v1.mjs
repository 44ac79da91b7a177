// An agent on the official TypeScript SDK, ACP v1, that does what its prompt says.
//
// The commands are listed in tests/interop/README.md; every scripted agent here knows the same ones.

import { once } from "node:events";
import { resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { agent, methods, ndJsonStream, RequestError } from "@agentclientprotocol/sdk";

const MODES = ["ask", "code"];
const MODELS = ["small", "large"];
const PERMISSION_KINDS = ["allow_once", "allow_always", "reject_once", "reject_always"];
const TERMINAL_OUTPUT_BYTES = 65536;
const FORM = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const ECHO = "_interop/echo";

const sessions = new Map();
const named = (key) => (id) => ({ [key]: id, name: id });
const chunk = (sessionUpdate, text) => ({ sessionUpdate, content: { type: "text", text } });

class Session {
  constructor(sessionId, cwd) {
    Object.assign(this, { sessionId, cwd, mode: "ask", model: "small", history: [], calls: 0 });
    this.stopping = new AbortController();
  }

  get state() {
    const modes = { currentModeId: this.mode, availableModes: MODES.map(named("id")) };
    const model = { type: "select", id: "model", name: "Model", category: "model" };
    const options = MODELS.map(named("value"));
    return { modes, configOptions: [{ ...model, currentValue: this.model, options }] };
  }

  setConfig(configId, value) {
    if (configId !== "model" || !MODELS.includes(value)) {
      throw RequestError.invalidParams({ configId });
    }
    this.model = value;
    return { configOptions: this.state.configOptions };
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

  async say(text) {
    const update = chunk("agent_message_chunk", text);
    this.session.history.push(update);
    await this.send(update);
  }

  async announce(fields) {
    const toolCallId = `call-${++this.session.calls}`;
    await this.send({ sessionUpdate: "tool_call", toolCallId, status: "pending", ...fields });
    return toolCallId;
  }

  progress(toolCallId, fields) {
    return this.send({ sessionUpdate: "tool_call_update", toolCallId, ...fields });
  }

  async ask(toolCallId) {
    const { outcome } = await this.client.request(methods.client.session.requestPermission, {
      ...this.here,
      toolCall: { toolCallId },
      options: PERMISSION_KINDS.map((kind) => ({ optionId: kind, name: kind, kind })),
    });
    return outcome.outcome === "selected" ? outcome.optionId : null;
  }

  openTerminal(line) {
    const [command, ...args] = line.split(" ");
    const outputByteLimit = TERMINAL_OUTPUT_BYTES;
    const where = { ...this.here, cwd: this.session.cwd };
    return this.client.createTerminal({ ...where, command, args, outputByteLimit });
  }

  async readFile(name) {
    const request = { ...this.here, path: this.path(name) };
    return (await this.client.request(methods.client.fs.readTextFile, request)).content;
  }

  writeFile(name, content) {
    const request = { ...this.here, path: this.path(name), content };
    return this.client.request(methods.client.fs.writeTextFile, request);
  }

  async changeMode(mode) {
    if (!MODES.includes(mode)) throw RequestError.invalidParams({ modeId: mode });
    this.session.mode = mode;
    await this.send({ sessionUpdate: "current_mode_update", currentModeId: mode });
  }
}

const head = (text) => [text.split(" ")[0], text.split(" ").slice(1).join(" ")];

const commands = {
  say: (turn, text) => turn.say(text),
  async stream(turn, count) {
    for (let number = 0; number < Number(count); number++) await turn.say(`${number} `);
  },
  think: (turn, text) => turn.send(chunk("agent_thought_chunk", text)),
  async plan(turn) {
    for (const status of ["in_progress", "completed"]) {
      const entries = [
        { content: "Look", priority: "high", status },
        { content: "Leap", priority: "low", status: "pending" },
      ];
      await turn.send({ sessionUpdate: "plan", entries });
    }
  },
  async tool(turn) {
    const call = await turn.announce({
      title: "Search the code",
      kind: "search",
      rawInput: { query: "needle" },
      locations: [{ path: turn.path("hay.py"), line: 3 }],
    });
    await turn.progress(call, { status: "in_progress" });
    const content = [{ type: "content", content: { type: "text", text: "1 match" } }];
    await turn.progress(call, { status: "completed", content, rawOutput: { matches: 1 } });
  },
  async edit(turn, argument) {
    const [name, newText] = head(argument);
    const path = turn.path(name);
    const content = [{ type: "diff", path, oldText: await turn.readFile(name), newText }];
    const fields = { title: `Edit ${name}`, kind: "edit", content, locations: [{ path }] };
    const call = await turn.announce(fields);
    if (!(await turn.ask(call))?.startsWith("allow")) {
      await turn.progress(call, { status: "failed" });
      return void (await turn.say("not edited"));
    }
    await turn.progress(call, { status: "in_progress" });
    await turn.writeFile(name, newText);
    await turn.progress(call, { status: "completed" });
    await turn.say("edited");
  },
  async permission(turn) {
    const call = await turn.announce({ title: "Deploy", kind: "execute" });
    const option = await turn.ask(call);
    await turn.say(`permission ${option ?? "cancelled"}`);
    const status = option?.startsWith("allow") ? "completed" : "failed";
    await turn.progress(call, { status });
    if (option === null) return "cancelled";
  },
  async terminal(turn, line) {
    const terminal = await turn.openTerminal(line);
    const content = [{ type: "terminal", terminalId: terminal.id }];
    const call = await turn.announce({ title: line, kind: "execute", content });
    const { exitCode } = await terminal.waitForExit();
    const { output } = await terminal.currentOutput();
    await turn.progress(call, { status: "completed" });
    await terminal.release();
    await turn.say(`exit=${exitCode} output=${output.trim()}`);
  },
  async kill(turn, line) {
    const terminal = await turn.openTerminal(line);
    await terminal.kill();
    const { exitCode } = await terminal.waitForExit();
    await terminal.release();
    await turn.say(`killed=${exitCode === 0 ? "False" : "True"}`);
  },
  read: async (turn, name) => turn.say(await turn.readFile(name)),
  async write(turn, argument) {
    await turn.writeFile(...head(argument));
    await turn.say("written");
  },
  mode: (turn, mode) => turn.changeMode(mode),
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
  commands: (turn) =>
    turn.send({
      sessionUpdate: "available_commands_update",
      availableCommands: [{ name: "run", description: "Run a file", input: { hint: "file" } }],
    }),
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
  refuse: () => "refusal",
  fail(_turn, text) {
    throw new RequestError(-32603, text || "failed on request");
  },
};

const STOPS = ["cancelled", "refusal"];

export const app = agent({ name: "official-ts-v1" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: 1,
    agentInfo: { name: "official-ts-v1", version: "1.0.0" },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, embeddedContext: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
    },
    authMethods: [{ id: "key", name: "Key" }],
  }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    const session = new Session(`session-${sessions.size + 1}`, params.cwd);
    sessions.set(session.sessionId, session);
    return { sessionId: session.sessionId, ...session.state };
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    const turn = new Turn(find(params.sessionId), client);
    for (const update of turn.session.history) await turn.send(update);
    return turn.session.state;
  })
  .onRequest(methods.agent.session.resume, ({ params }) => find(params.sessionId).state)
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
  .onRequest(methods.agent.authenticate, ({ params }) => {
    if (params.methodId !== "key") throw RequestError.invalidParams(params);
    return {};
  })
  .onRequest(ECHO, { parse: (params) => params }, ({ params }) => params)
  .onRequest(methods.agent.session.setMode, async ({ params, client }) => {
    await new Turn(find(params.sessionId), client).changeMode(params.modeId);
    return {};
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) =>
    find(params.sessionId).setConfig(params.configId, params.value),
  )
  .onNotification(methods.agent.session.cancel, ({ params }) =>
    find(params.sessionId).stopping.abort(),
  )
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const session = find(params.sessionId);
    session.stopping = new AbortController();
    const { text } = params.prompt[0];
    session.history.push(chunk("user_message_chunk", text));
    const [verb, argument] = head(text);
    if (!(verb in commands)) throw RequestError.invalidParams({ command: verb });
    const stop = await commands[verb](new Turn(session, client), argument, params.prompt);
    return { stopReason: STOPS.includes(stop) ? stop : "end_turn" };
  });

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
}
