// The benchmark's agent on the official TypeScript SDK, without its transport, and the texts.
import { randomUUID } from "node:crypto";
import { agent, methods, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

const TEXT_40 = "the quick brown fox jumps over the lazy ";
const lines = (text) => Array.from({ length: 10 }, (_, i) => text(i)).join("");
const OLD_TEXT = lines((i) => `    value_${i} = compute(x, ${i})\n`);
const NEW_TEXT = lines((i) => `    value_${i} = compute(y, ${i} + 1)\n`);
const PLAN_STEPS = ["Read the code", "Write the change", "Run the tests", "Report"];
const EDITED_PATH = "/proj/src/module.py";

const SMALL_FILE = "print('hello')\n".repeat(8);
const BIG_LINE = '    value = "some text here"  # a comment of a source line\n';
const MEGABYTE = 1 << 20;

const repeated = (text, size) => text.repeat(Math.floor(size / text.length) + 1).slice(0, size);
const textBlock = (text) => ({ type: "text", text });

export const FIGURES = "_bench/figures";
export const BIG_PATH = "/big";
export const bigFile = (megabytes) => repeated(BIG_LINE, megabytes * MEGABYTE);
export const fileContent = (path, big) => (path === BIG_PATH ? big : SMALL_FILE);

export function cpuSeconds() {
  const usage = process.cpuUsage();
  return (usage.user + usage.system) / 1e6;
}

// The update at this place of a replayed session.
function replayed(index) {
  switch (index % 10) {
    case 6:
      return {
        sessionUpdate: "tool_call",
        toolCallId: `call_${index}`,
        title: "Edit file",
        kind: "edit",
        status: "pending",
        rawInput: { path: EDITED_PATH, line: index },
      };
    case 7:
      return {
        sessionUpdate: "tool_call_update",
        toolCallId: `call_${index - 1}`,
        status: "completed",
        content: [{ type: "diff", path: EDITED_PATH, oldText: OLD_TEXT, newText: NEW_TEXT }],
        locations: [{ path: EDITED_PATH, line: index }],
      };
    case 8:
      return { sessionUpdate: "agent_thought_chunk", content: textBlock(TEXT_40) };
    case 9:
      return {
        sessionUpdate: "plan",
        entries: PLAN_STEPS.map((content) => ({ content, priority: "medium", status: "pending" })),
      };
    default:
      return { sessionUpdate: "agent_message_chunk", content: textBlock(TEXT_40) };
  }
}

// What the work costs, from the first prompt until somebody asks.
let cpuBefore;
let figures = {};
function begin() {
  cpuBefore ??= cpuSeconds();
}

async function replay(ctx) {
  begin();
  const { sessionId } = ctx.params;
  const count = Number(process.env.BENCH_REPLAY_N ?? "20000");
  for (let index = 0; index < count; index++) {
    await ctx.client.notify(methods.client.session.update, { sessionId, update: replayed(index) });
  }
  return {};
}

async function stream(ctx, count, text) {
  const { sessionId } = ctx.params;
  for (let i = 0; i < count; i++) {
    await ctx.client.notify(methods.client.session.update, {
      sessionId,
      update: { sessionUpdate: "agent_message_chunk", content: textBlock(text) },
    });
  }
}

const readFile = (ctx, path) =>
  ctx.client.request(methods.client.fs.readTextFile, { sessionId: ctx.params.sessionId, path });

async function call(ctx, count) {
  const latencies = [];
  for (let i = 0; i < count; i++) {
    const started = performance.now();
    await readFile(ctx, EDITED_PATH);
    latencies.push(performance.now() - started);
  }
  latencies.sort((a, b) => a - b);
  const total = latencies.reduce((sum, latency) => sum + latency, 0);
  return {
    calls_per_s: (count / total) * 1000,
    p50_us: latencies[count >> 1] * 1000,
    p99_us: latencies[Math.floor(count * 0.99)] * 1000,
  };
}

async function read(ctx, path) {
  const started = performance.now();
  const answer = await readFile(ctx, path);
  return { read_s: (performance.now() - started) / 1000, bytes: answer.content.length };
}

// Does what the first words of a prompt say.
async function prompt(ctx) {
  begin();
  const [word, first, second] = ctx.params.prompt[0].text.split(" ");
  if (word === "stream") await stream(ctx, Number(first), repeated(TEXT_40, Number(second)));
  else if (word === "rpc") figures = await call(ctx, Number(first));
  else if (word === "read") figures = await read(ctx, first);
  return { stopReason: "end_turn" };
}

export function benchAgent() {
  return agent({ name: "bench" })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: { loadSession: true },
    }))
    .onRequest(methods.agent.session.new, () => ({ sessionId: randomUUID() }))
    .onRequest(methods.agent.session.load, replay)
    .onRequest(methods.agent.session.prompt, prompt)
    .onRequest(FIGURES, (params) => params, () => ({ ...figures, cpu_s: cpuSeconds() - cpuBefore }))
    .onNotification(methods.agent.session.cancel, () => {});
}
