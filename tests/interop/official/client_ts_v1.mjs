// A scripted client on the official TypeScript SDK, ACP v1.
//
//     node client_ts_v1.mjs STEP... -- AGENT COMMAND...
//
// The steps and what is printed are described in tests/interop/README.md.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";
import { AS_IS, BLOCKS, ECHO, main, Script } from "./script.mjs";
import { choose } from "./seen.mjs";

const script = new Script();
const terminals = new Map();
const exitFields = ([code, signal]) => (signal ? { signal } : { exitCode: code });

const app = client({ name: "official-ts-v1" })
  .onNotification(methods.client.session.update, ({ params }) => script.fold(params.update))
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    const chosen = choose(params.options, script.answer);
    const kinds = params.options.map((option) => option.kind);
    script.seen.add("permissions", { tool: params.toolCall.toolCallId, kinds, chosen });
    const outcome = chosen ? { outcome: "selected", optionId: chosen } : { outcome: "cancelled" };
    return { outcome };
  })
  .onRequest(methods.client.fs.readTextFile, async ({ params }) => {
    script.seen.add("reads", params.path);
    const lines = (await readFile(params.path, "utf-8")).split(/(?<=\n)/);
    const first = Math.max(params.line ?? 1, 1) - 1;
    return { content: lines.slice(first, params.limit && first + params.limit).join("") };
  })
  .onRequest(methods.client.fs.writeTextFile, async ({ params }) => {
    script.seen.add("writes", { path: params.path, content: params.content });
    await writeFile(params.path, params.content);
    return {};
  })
  .onRequest(methods.client.terminal.create, ({ params }) => {
    const child = spawn(params.command, params.args ?? [], {
      cwd: params.cwd ?? process.cwd(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const terminal = { child, output: "", closed: once(child, "close") };
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (data) => (terminal.output += data));
    const terminalId = `terminal-${terminals.size + 1}`;
    terminals.set(terminalId, terminal);
    return { terminalId };
  })
  .onRequest(methods.client.terminal.waitForExit, async ({ params }) =>
    exitFields(await terminals.get(params.terminalId).closed),
  )
  .onRequest(methods.client.terminal.output, async ({ params }) => {
    const { output, closed } = terminals.get(params.terminalId);
    const exitStatus = exitFields(await closed);
    script.seen.add("terminals", { output, exit: exitStatus.exitCode ?? null });
    return { output, truncated: false, exitStatus };
  })
  .onRequest(methods.client.terminal.kill, ({ params }) => {
    script.seen.add("killed", params.terminalId);
    terminals.get(params.terminalId).child.kill("SIGKILL");
    return {};
  })
  .onRequest(methods.client.terminal.release, ({ params }) => {
    script.seen.add("released", params.terminalId);
    return {};
  })
  .onRequest(methods.client.elicitation.create, ({ params }) => script.fillIn(params))
  .onRequest(ECHO, AS_IS, ({ params }) => params);

const place = () => ({ cwd: process.cwd(), mcpServers: [] });
const here = () => ({ sessionId: script.session });

function keepState(answer) {
  script.seen.keepConfig(answer.configOptions);
  if (!answer.modes) return;
  script.seen.facts.mode = answer.modes.currentModeId;
  script.seen.facts.modes = answer.modes.availableModes.map((mode) => mode.id);
}

const steps = {
  async start(agent) {
    const answer = await agent.request(methods.agent.initialize, {
      protocolVersion: 1,
      clientInfo: { name: "official-ts-v1", version: "1.0.0" },
      clientCapabilities: {
        fs: { readTextFile: true, writeTextFile: true },
        terminal: true,
        elicitation: { form: {} },
      },
    });
    script.seen.facts.version = answer.protocolVersion;
    script.seen.facts.agent = answer.agentInfo?.name ?? null;
    script.seen.facts.capabilities = answer.agentCapabilities ?? {};
  },
  async new(agent) {
    const made = await agent.request(methods.agent.session.new, place());
    script.session = made.sessionId;
    keepState(made);
  },
  prompt: (agent, text) => steps.send(agent, [{ type: "text", text }]),
  blocks: (agent) => steps.send(agent, BLOCKS),
  async send(agent, prompt) {
    const answer = await agent.request(methods.agent.session.prompt, { ...here(), prompt });
    script.seen.facts.stop = answer.stopReason;
  },
  async cancel(agent, text) {
    const turn = steps.prompt(agent, text);
    await script.until(() => script.hasSpoken());
    await agent.notify(methods.agent.session.cancel, here());
    await turn;
  },
  async mode(agent, modeId) {
    await agent.request(methods.agent.session.setMode, { ...here(), modeId });
  },
  async config(agent, argument) {
    const [configId, value] = argument.split("=");
    const request = { ...here(), configId, value };
    keepState(await agent.request(methods.agent.session.setConfigOption, request));
  },
  async load(agent) {
    keepState(await agent.request(methods.agent.session.load, { ...here(), ...place() }));
  },
  async resume(agent) {
    keepState(await agent.request(methods.agent.session.resume, { ...here(), ...place() }));
  },
  async list(agent) {
    const answer = await agent.request(methods.agent.session.list, {});
    script.seen.facts.sessions = answer.sessions.map((info) => info.sessionId);
  },
  async close(agent) {
    await agent.request(methods.agent.session.close, here());
  },
  async delete(agent) {
    await agent.request(methods.agent.session.delete, here());
  },
  async login(agent, methodId) {
    await agent.request(methods.agent.authenticate, { methodId });
  },
  async echo(agent, value) {
    script.seen.facts.echo = await agent.request(ECHO, { value });
  },
  async form(_agent, action) {
    script.formAnswer = action;
  },
  async permission(_agent, kind) {
    script.answer = kind;
  },
};

await main(script, app, steps, ndJsonStream);
