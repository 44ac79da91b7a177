// The benchmark's client on the official TypeScript SDK.
// Usage: client.mjs SCENARIO NUMBER... -- COMMAND...; prints one line of JSON.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { BIG_PATH, bigFile, cpuSeconds, FIGURES, fileContent } from "./workload.mjs";

// A client that has waited this long for updates after the answer calls them lost.
const SETTLE_MS_MAX = 5000;

const end = process.argv.indexOf("--");
const [scenario, ...words] = process.argv.slice(2, end);
const numbers = words.map(Number);
const [program, ...programArguments] = process.argv.slice(end + 1);

const EXPECTED = { stream: numbers[0], replay: numbers[0], conc: numbers[0] * numbers[1] };
const PROMPTS = { conc: `stream ${numbers[1]} 40`, read: `read ${BIG_PATH}` };
const expected = EXPECTED[scenario] ?? 0;
const promptText = PROMPTS[scenario] ?? [scenario, ...words].join(" ");

let count = 0;
const big = scenario === "read" ? bigFile(numbers[0]) : "";
const app = client({ name: "bench-client" })
  .onNotification(methods.client.session.update, () => {
    count++;
  })
  .onRequest(methods.client.fs.readTextFile, (ctx) => ({
    content: fileContent(ctx.params.path, big),
  }));

async function openSessions(ctx, wanted) {
  const sessions = [];
  for (let i = 0; i < wanted; i++) {
    const opened = await ctx.request(methods.agent.session.new, { cwd: "/", mcpServers: [] });
    sessions.push(opened.sessionId);
  }
  return sessions;
}

function ask(ctx, sessionId) {
  if (scenario === "replay") {
    return ctx.request(methods.agent.session.load, { cwd: "/", sessionId, mcpServers: [] });
  }
  const prompt = [{ type: "text", text: promptText }];
  return ctx.request(methods.agent.session.prompt, { sessionId, prompt });
}

async function measure(ctx) {
  await ctx.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: true } },
  });
  const sessions = await openSessions(ctx, scenario === "conc" ? numbers[0] : 1);
  const cpuBefore = cpuSeconds();
  const started = performance.now();
  await Promise.all(sessions.map((session) => ask(ctx, session)));
  const deadline = performance.now() + SETTLE_MS_MAX;
  while (count < expected && performance.now() < deadline) {
    await new Promise((resume) => setImmediate(resume));
  }
  const result = {
    elapsed_s: (performance.now() - started) / 1000,
    cpu_client_s: cpuSeconds() - cpuBefore,
    count,
    expected,
    peak_client_mb: process.resourceUsage().maxRSS / 1024,
  };
  return { ...result, agent: await ctx.request(FIGURES, {}) };
}

const child = spawn(program, programArguments, { stdio: ["pipe", "pipe", "inherit"] });
const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
let result;
await app.connectWith(stream, async (ctx) => {
  result = await measure(ctx);
});
console.log(JSON.stringify(result));
child.stdin.end();
child.kill();
process.exit(0);
