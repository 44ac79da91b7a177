// The scripted agents on the official TypeScript SDK, behind its WebSocket server.
//
//     websocket_server_ts.mjs VERSION
//
// Prints its port, and ends when its input does.

import http from "node:http";
import { createNodeHttpHandler } from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { ServerWebSocket } from "./websocket.mjs";

const [version] = process.argv.slice(2);
const { app } = await import(`./agent_ts_v${version}.mjs`);
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
