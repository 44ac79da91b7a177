// The official TypeScript SDK's agent: prints its port, and ends with its input.  HTTP is HTTP/1.1,
// which is what the SDK's own adapter for node speaks.
import http from "node:http";
import { agent, methods } from "@agentclientprotocol/sdk";
import { createNodeHttpHandler } from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { ServerWebSocket } from "../../../tests/interop/official/websocket.mjs";

const app = agent({ name: "bench" })
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: 1, agentCapabilities: {} }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: "s" }))
  .onRequest(methods.agent.session.prompt, async (ctx) => {
    const { sessionId, prompt } = ctx.params;
    const content = { type: "text", text: "x".repeat(40) };
    for (let left = Number(prompt[0].text); left > 0; left--) {
      const update = { sessionUpdate: "agent_message_chunk", content };
      await ctx.client.notify(methods.client.session.update, { sessionId, update });
    }
    return { stopReason: "end_turn" };
  });
const acp = new AcpServer({ agent: app });
const server = http.createServer(createNodeHttpHandler(acp));
server.on("upgrade", (request, socket) => {
  const prepared = acp.prepareWebSocketUpgrade();
  const headers = { "Acp-Connection-Id": prepared.connectionId };
  prepared.accept(new ServerWebSocket(request, socket, headers));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
