// A scripted client on the official TypeScript SDK, ACP v2.
//
//     node client_ts_v2.mjs STEP... -- AGENT COMMAND...
//
// The steps and what is printed are described in tests/interop/README.md.

import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk/experimental/v2";
import { AS_IS, BLOCKS, ECHO, main, Script } from "./script.mjs";
import { choose } from "./seen.mjs";

const script = new Script();

const app = client({ name: "official-ts-v2" })
  .onNotification(methods.client.session.update, ({ params }) => script.fold(params.update))
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    const chosen = choose(params.options, script.answer);
    const kinds = params.options.map((option) => option.kind);
    const tool = params.subject?.toolCall?.toolCallId ?? null;
    script.seen.add("permissions", { title: params.title, tool, kinds, chosen });
    const outcome = chosen ? { outcome: "selected", optionId: chosen } : { outcome: "cancelled" };
    return { outcome };
  })
  .onRequest(methods.client.elicitation.create, ({ params }) => script.fillIn(params))
  .onRequest(ECHO, AS_IS, ({ params }) => params);

const place = () => ({ cwd: process.cwd(), mcpServers: [] });
const here = () => ({ sessionId: script.session });
const resume = async (agent, extra) => {
  const request = { ...here(), ...place(), ...extra };
  const answer = await agent.request(methods.agent.session.resume, request);
  script.seen.keepConfig(answer.configOptions);
};

const steps = {
  async start(agent) {
    const answer = await agent.request(methods.agent.initialize, {
      protocolVersion: 2,
      info: { name: "official-ts-v2", version: "1.0.0" },
      capabilities: { elicitation: { form: {} } },
    });
    script.seen.facts.version = answer.protocolVersion;
    script.seen.facts.agent = answer.info.name;
    script.seen.facts.capabilities = answer.capabilities ?? {};
  },
  async new(agent) {
    const made = await agent.request(methods.agent.session.new, place());
    script.session = made.sessionId;
    script.seen.keepConfig(made.configOptions);
  },
  prompt: (agent, text) => steps.send(agent, [{ type: "text", text }]),
  blocks: (agent) => steps.send(agent, BLOCKS),
  async send(agent, prompt) {
    const answer = await agent.request(methods.agent.session.prompt, { ...here(), prompt });
    script.seen.facts.message = answer.messageId;
    await script.until(() => "stop" in script.seen.facts);
  },
  async cancel(agent, text) {
    const turn = steps.prompt(agent, text);
    await script.until(() => script.hasSpoken());
    await agent.notify(methods.agent.session.cancel, here());
    await turn;
  },
  async stop(agent, text) {
    const turn = steps.prompt(agent, text);
    const stoppable = () => [...script.seen.tools.values()].find((tool) => tool.capabilities?.cancel);
    await script.until(stoppable);
    const { toolCallId } = stoppable();
    await agent.request(methods.agent.toolCall.cancel, { ...here(), toolCallId });
    await turn;
  },
  mode: (agent, mode) => steps.config(agent, `mode=${mode}`),
  async config(agent, argument) {
    const [configId, text] = argument.split("=");
    const isFlag = text === "true" || text === "false";
    const value = isFlag ? { type: "boolean", value: text === "true" } : { type: "id", value: text };
    const request = { ...here(), configId, ...value };
    const answer = await agent.request(methods.agent.session.setConfigOption, request);
    script.seen.keepConfig(answer.configOptions);
  },
  load: (agent) => resume(agent, { replayFrom: { type: "start" } }),
  resume: (agent) => resume(agent, {}),
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
    await agent.request(methods.agent.auth.login, { methodId });
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
