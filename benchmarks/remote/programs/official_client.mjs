// The official TypeScript SDK's client: URL COUNT; prints seconds and CPU seconds.
import { client, methods } from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";

const [url, words] = process.argv.slice(2);
const wanted = Number(words);
let count = 0;
const app = client({ name: "bench" }).onNotification(methods.client.session.update, () => {
  count++;
});
const cpuSeconds = () => {
  const usage = process.cpuUsage();
  return (usage.user + usage.system) / 1e6;
};

await app.connectWith(
  url.startsWith("http") ? createHttpStream(url) : createWebSocketStream(url),
  async (ctx) => {
    await ctx.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await ctx.request(methods.agent.session.new, {
      cwd: "/tmp",
      mcpServers: [],
    });
    const ask = async (messages) => {
      const before = count;
      const prompt = [{ type: "text", text: String(messages) }];
      await ctx.request(methods.agent.session.prompt, { sessionId, prompt });
      while (count < before + messages) await new Promise((resume) => setImmediate(resume));
    };
    await ask(100);
    const wall = performance.now();
    const cpu = cpuSeconds();
    await ask(wanted);
    console.log((performance.now() - wall) / 1000, cpuSeconds() - cpu);
  },
);
process.exit(0);
