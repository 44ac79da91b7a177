// A WebSocket of a node server, as far as the SDK's server needs one: text frames both ways, pings,
// and closing.  Messages of a client come in one frame each.

import { createHash } from "node:crypto";
import { EventEmitter } from "node:events";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const [TEXT, CLOSE, PING, PONG] = [1, 8, 9, 10];

export class ServerWebSocket extends EventEmitter {
  constructor(request, socket, headers) {
    super();
    const key = request.headers["sec-websocket-key"];
    const accept = createHash("sha1").update(key + GUID).digest("base64");
    const lines = [
      "HTTP/1.1 101 Switching Protocols",
      "Upgrade: websocket",
      "Connection: Upgrade",
      `Sec-WebSocket-Accept: ${accept}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    socket.setNoDelay(true);
    socket.on("data", (data) => this.read(data));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.emit("close"));
    this.socket = socket;
    this.held = Buffer.alloc(0);
  }

  get bufferedAmount() {
    return this.socket.writableLength;
  }

  send(text) {
    this.write(TEXT, Buffer.from(text));
  }

  close(code = 1000, reason = "") {
    if (this.socket.destroyed || this.closing) return;
    this.closing = true;
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    this.write(CLOSE, Buffer.concat([payload, Buffer.from(reason)]));
    this.socket.end();
  }

  write(opcode, payload) {
    if (this.socket.destroyed) return;
    const long = payload.length > 65535;
    const header = Buffer.alloc(payload.length < 126 ? 2 : long ? 10 : 4);
    header[0] = 0x80 | opcode;
    header[1] = payload.length < 126 ? payload.length : long ? 127 : 126;
    if (long) header.writeBigUInt64BE(BigInt(payload.length), 2);
    else if (payload.length > 125) header.writeUInt16BE(payload.length, 2);
    this.socket.write(Buffer.concat([header, payload]));
  }

  read(data) {
    this.held = Buffer.concat([this.held, data]);
    for (;;) {
      if (this.held.length < 2) return;
      let length = this.held[1] & 127;
      let at = 2;
      if (length === 126) at = 4;
      if (length === 127) at = 10;
      if (this.held.length < at + 4) return;
      if (length === 126) length = this.held.readUInt16BE(2);
      else if (length === 127) length = Number(this.held.readBigUInt64BE(2));
      if (this.held.length < at + 4 + length) return;
      const mask = this.held.subarray(at, at + 4);
      const payload = Buffer.from(this.held.subarray(at + 4, at + 4 + length));
      for (let index = 0; index < length; index += 1) payload[index] ^= mask[index % 4];
      const opcode = this.held[0] & 15;
      this.held = this.held.subarray(at + 4 + length);
      if (opcode === TEXT) this.emit("message", payload, false);
      else if (opcode === PING) this.write(PONG, payload);
      else if (opcode === CLOSE) this.close();
    }
  }
}
