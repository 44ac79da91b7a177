/** A server that continues connections, with a network between that delivers only when told. */

import type { Socket } from "../wire/resuming_socket.ts";

const extension = (method: string, params: object) =>
  JSON.stringify({ jsonrpc: "2.0", method: `_accord/${method}`, params });

export class FakeServer {
  /** What came, in order; frames of the extension are not in it. */
  readonly received: unknown[] = [];
  readonly acknowledged: number[] = [];
  closedWith: number | undefined;
  /** It takes nothing and says nothing. */
  isDeaf = false;
  /** New sockets get no greeting, until `refuse` closes them. */
  isDown = false;
  private readonly said: string[] = [];
  private socket: Socket | null = null;
  private toClient: string[] = [];
  private toServer: string[] = [];

  readonly open = (url: string): Socket => {
    const query = new URL(url).searchParams;
    const socket: Socket = {
      onmessage: null,
      onclose: null,
      bufferedAmount: 0,
      send: (text) => {
        if (this.socket === socket) this.toServer.push(text);
      },
      close: (code) => {
        if (this.socket === socket) this.socket = null;
        this.closedWith = code;
      },
    };
    this.socket = socket;
    this.toServer = [];
    this.toClient = [];
    if (this.isDown) return socket;
    const greeting = { connectionId: "c", received: this.received.length };
    const from = Number(query.get("accord-received") ?? 0);
    this.toClient = [extension("connection", greeting), ...this.said.slice(from)];
    return socket;
  };

  say(message: object): void {
    const text = JSON.stringify(message);
    this.said.push(text);
    if (this.socket !== null) this.toClient.push(text);
  }

  deliverToClient(): void {
    const text = this.isDeaf ? undefined : this.toClient.shift();
    if (text !== undefined) this.socket?.onmessage?.({ data: text });
  }

  deliverToServer(): void {
    const text = this.isDeaf ? undefined : this.toServer.shift();
    if (text === undefined) return;
    const message = JSON.parse(text) as { method: string; params: { count: number } };
    if (message.method === "_accord/received") {
      this.acknowledged.push(message.params.count);
      return;
    }
    this.received.push(message);
    if (this.socket !== null) {
      this.toClient.push(extension("received", { count: this.received.length }));
    }
  }

  deliverAll(): void {
    while (!this.isDeaf && (this.toClient.length > 0 || this.toServer.length > 0)) {
      this.deliverToClient();
      this.deliverToServer();
    }
  }

  /** Cut the socket; what is on its way is lost. */
  cut(code: number, reason: string): void {
    const socket = this.socket;
    this.socket = null;
    this.toClient = [];
    this.toServer = [];
    socket?.onclose?.({ code, reason });
  }

  refuse(): void {
    this.cut(1006, "");
  }
}
