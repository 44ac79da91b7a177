/** A connection over WebSocket that continues when it was cut.
 *
 * The server says with its first frame that it can; from then on both sides number their frames,
 * and a new socket continues where the old one ended.
 *
 * What always holds
 *   - No frame is lost, repeated or reordered, whatever happens to the network; where that is
 *     impossible, the connection ends and says so.
 *   - A server that says nothing although it should is left and asked again.
 */

import {
  CLOSE_CODE,
  GAP,
  readExtension,
  receivedFrame,
  resumeQuery,
  TAKEN_OVER,
  UNKNOWN_CONNECTION,
} from "./extension_frames.ts";
import { parseFrame } from "./json_text.ts";
import { KEPT_CHARS_MAX, ReceivedFrames, SentFrames } from "./numbered_frames.ts";
import { reconnectDelay } from "./reconnect_delay.ts";

/** What is used of a WebSocket. */
export interface Socket {
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  readonly bufferedAmount: number;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}

export type SocketState =
  | { state: "connecting" }
  | { state: "open" }
  | { state: "waiting"; why: string; retryAt: number }
  /** `isForgotten`: the server does not have the connection, or not all of it. */
  | { state: "ended"; why: string; isForgotten: boolean };

export interface SocketOwner {
  received(message: unknown, text: string): void;
  changed(state: SocketState): void;
}

export interface SocketParts {
  open(url: string): Socket;
  now(): number;
  chance(): number;
}

const BROWSER: SocketParts = {
  open: (url) => new WebSocket(url) as Socket,
  now: () => Date.now(),
  chance: () => Math.random(),
};

export const ACKNOWLEDGE_MS = 2_000;
/** A server acknowledges within 2 s; a socket on which nothing moves for so long is dead. */
export const SILENCE_MS_MAX = 15_000;
const NORMAL_CLOSURE = 1000;
// Any code but 1000 leaves the connection for the next socket.
const LEFT_CODE = 4000;
// Close codes after which it makes sense to come back: the server or the way to it failed.
const COME_BACK = new Set([1001, 1005, 1006, 1011, 1012, 1013, 1014]);

export class ResumingSocket {
  private socket: Socket | null = null;
  private connectionId: string | null = null;
  private isGreeted = false;
  private hasEnded = false;
  private attempts = 0;
  /** When something last came, or went out of the buffer. */
  private movedAt = 0;
  private buffered = 0;
  private readonly sent = new SentFrames();
  private readonly handled = new ReceivedFrames();
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private acknowledgeTimer: ReturnType<typeof setTimeout> | undefined;
  private silenceTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly url: string,
    private readonly owner: SocketOwner,
    private readonly parts: SocketParts = BROWSER,
  ) {}

  start(): void {
    this.owner.changed({ state: "connecting" });
    this.connect();
  }

  /** Send a frame, now or when there is a socket; false where too much waits already. */
  send(text: string): boolean {
    if (this.hasEnded || this.sent.keptChars + text.length > KEPT_CHARS_MAX) return false;
    this.sent.append(text);
    if (this.isGreeted) this.flush();
    return true;
  }

  /** End the connection, also at the server. */
  close(): void {
    this.end();
    const socket = this.detach();
    socket?.close(NORMAL_CLOSURE);
  }

  /** Leave the socket, which may be dead, and come back at once: after sleep or being offline. */
  wake(why: string): void {
    if (this.hasEnded) return;
    this.detach()?.close(LEFT_CODE);
    this.attempts = 0;
    this.comeBack(why);
  }

  private connect(): void {
    clearTimeout(this.retryTimer);
    this.isGreeted = false;
    const query = resumeQuery(this.connectionId, this.handled.count);
    const socket = this.parts.open(`${this.url}${this.url.includes("?") ? "&" : "?"}${query}`);
    this.socket = socket;
    socket.onmessage = ({ data }) => {
      if (this.socket === socket && typeof data === "string") this.receive(data);
    };
    socket.onclose = ({ code, reason }) => {
      if (this.socket === socket) this.lost(code, reason);
    };
    this.expectWord();
  }

  private receive(text: string): void {
    this.movedAt = this.parts.now();
    let message: unknown;
    try {
      message = parseFrame(text);
    } catch {
      // It still counts: the server has numbered it.
      message = null;
    }
    const said = readExtension(message);
    if (!this.isGreeted) {
      this.greet(said);
    } else if (said === null) {
      this.attempts = 0;
      try {
        this.owner.received(message, text);
      } finally {
        this.count(text.length);
      }
    } else if (said.what === "received") {
      this.attempts = 0;
      if (!this.sent.acknowledge(said.count)) {
        this.fail("the server acknowledged a message that was never sent", false);
      }
      this.expectWord();
    }
  }

  private greet(said: ReturnType<typeof readExtension>): void {
    if (said?.what !== "connection") {
      this.fail("the server cannot continue connections that were cut", false);
      return;
    }
    const isNew = this.connectionId === null;
    if (!isNew && said.connectionId !== this.connectionId) {
      this.fail("the server does not continue the connection", true);
      return;
    }
    if (!this.sent.rewind(said.received)) {
      this.fail("messages were lost while the connection was cut", true);
      return;
    }
    this.connectionId = said.connectionId;
    this.isGreeted = true;
    this.flush();
    this.acknowledge();
    this.owner.changed({ state: "open" });
  }

  private flush(): void {
    let frame: string | null;
    while (this.socket !== null && (frame = this.sent.take()) !== null) this.socket.send(frame);
    if (this.silenceTimer === undefined) this.expectWord();
  }

  private count(chars: number): void {
    if (this.hasEnded) return;
    if (this.handled.add(chars)) this.acknowledge();
    else this.acknowledgeTimer ??= setTimeout(() => this.acknowledge(), ACKNOWLEDGE_MS);
  }

  private acknowledge(): void {
    clearTimeout(this.acknowledgeTimer);
    this.acknowledgeTimer = undefined;
    if (this.socket !== null && this.isGreeted && this.handled.isOwing) {
      this.socket.send(receivedFrame(this.handled.acknowledged()));
    }
  }

  /** Leave the socket when the server owes a word on it and nothing moves. */
  private expectWord(): void {
    clearTimeout(this.silenceTimer);
    this.silenceTimer = undefined;
    if (this.socket === null || (this.isGreeted && !this.sent.isUnacknowledged)) return;
    this.buffered = this.socket.bufferedAmount;
    this.movedAt = this.parts.now();
    this.silenceTimer = setTimeout(() => this.checkSilence(), SILENCE_MS_MAX);
  }

  private checkSilence(): void {
    const { parts, socket } = this;
    // A large message on a slow line takes longer, and is on its way.
    if (socket !== null && socket.bufferedAmount < this.buffered) this.movedAt = parts.now();
    this.buffered = socket?.bufferedAmount ?? 0;
    const left = this.movedAt + SILENCE_MS_MAX - parts.now();
    if (left > 0) {
      this.silenceTimer = setTimeout(() => this.checkSilence(), left);
      return;
    }
    this.detach()?.close(LEFT_CODE);
    this.comeBack("the server does not answer");
  }

  private lost(code: number, reason: string): void {
    this.detach();
    if (code === CLOSE_CODE && (reason === GAP || reason === UNKNOWN_CONNECTION)) {
      const why = reason === GAP ? "messages were lost" : "the server no longer has the connection";
      this.fail(why, true);
    } else if (COME_BACK.has(code) || (code === CLOSE_CODE && reason === TAKEN_OVER)) {
      this.comeBack("the connection was cut");
    } else {
      const said = reason === "" ? "" : `: ${reason}`;
      this.fail(`the server closed the connection (code ${code}${said})`, false);
    }
  }

  /** Try at once, then after growing delays. */
  private comeBack(why: string): void {
    const delay = reconnectDelay(this.attempts, this.parts.chance());
    this.attempts += 1;
    clearTimeout(this.retryTimer);
    this.retryTimer = setTimeout(() => this.connect(), delay);
    this.owner.changed({ state: "waiting", why, retryAt: this.parts.now() + delay });
  }

  private fail(why: string, isForgotten: boolean): void {
    this.detach()?.close(LEFT_CODE);
    this.end();
    this.owner.changed({ state: "ended", why, isForgotten });
  }

  private end(): void {
    this.hasEnded = true;
    clearTimeout(this.retryTimer);
    clearTimeout(this.acknowledgeTimer);
    clearTimeout(this.silenceTimer);
  }

  private detach(): Socket | null {
    const socket = this.socket;
    this.socket = null;
    this.isGreeted = false;
    clearTimeout(this.silenceTimer);
    this.silenceTimer = undefined;
    clearTimeout(this.acknowledgeTimer);
    this.acknowledgeTimer = undefined;
    return socket;
  }
}
