// The scripted agents on the official TypeScript SDK, behind its HTTP and WebSocket server.
//
//     server_ts.mjs VERSION (http/1.1 | h2c | ws)
//
// Prints its port, and ends when its input does.  HTTP/1.1 is the SDK's own adapter for node; those
// for HTTP/2 and for a WebSocket are here, around the same server.

import http from "node:http";
import http2 from "node:http2";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createNodeHttpHandler } from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { ServerWebSocket } from "./websocket.mjs";

const [version, protocol] = process.argv.slice(2);
const { app } = await import(`./agent_ts_v${version}.mjs`);
const acp = new AcpServer({ agent: app });

async function handleStream(stream, headers) {
  const names = Object.keys(headers).filter((name) => !name.startsWith(":"));
  const gone = new AbortController();
  stream.on("close", () => gone.abort());
  stream.on("error", () => gone.abort());
  const method = headers[":method"];
  const chunks = [];
  if (method === "POST") for await (const chunk of stream) chunks.push(chunk);
  const response = await acp.handleRequest(
    new Request(`http://localhost${headers[":path"]}`, {
      method,
      headers: names.map((name) => [name, headers[name]]),
      body: method === "POST" ? Buffer.concat(chunks) : undefined,
      signal: gone.signal,
    }),
  );
  if (stream.destroyed) return void response.body?.cancel();
  const sent = [...response.headers].filter(([name]) => name !== "connection");
  stream.respond({ ":status": response.status, ...Object.fromEntries(sent) });
  if (response.body === null) return void stream.end();
  await pipeline(Readable.fromWeb(response.body), stream).catch(() => undefined);
}

const server =
  protocol === "h2c" ? http2.createServer() : http.createServer(createNodeHttpHandler(acp));
if (protocol === "h2c") {
  server.on("stream", (stream, headers) => {
    handleStream(stream, headers).catch(() => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR));
  });
}
server.on("upgrade", (request, socket) => {
  const prepared = acp.prepareWebSocketUpgrade();
  const headers = { "Acp-Connection-Id": prepared.connectionId };
  prepared.accept(new ServerWebSocket(request, socket, headers));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
