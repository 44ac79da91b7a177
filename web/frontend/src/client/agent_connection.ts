/** The connection to one agent: it comes back when it was cut, and starts anew after a gap.
 *
 * What always holds
 *   - A call waits until the agent is initialized, and fails when the connection has ended.
 *   - After a gap, all sessions that are open are loaded again; what they show stays until then.
 */

import { signal, type Signal } from "@preact/signals";
import { ResumingSocket, type SocketParts, type SocketState } from "../wire/resuming_socket.ts";
import { ConnectionLost, Rpc, type Incoming } from "../wire/rpc.ts";
import { read } from "../wire/reader.ts";
import type { Traffic } from "../wire/traffic.ts";
import type { AgentLink } from "./agent_link.ts";
import { sentenceOf } from "./sentences.ts";
import type { AgentInfo, AuthMethod, Connection } from "./types.ts";

const PROTOCOL_VERSION = 2;
const UNDERSTOOD = ["closed", "members", "presence", "primary", "settled"].map(
  (word) => `_accord.session/${word}`,
);
const INITIALIZE = {
  protocolVersion: PROTOCOL_VERSION,
  info: { name: "accord-web", title: "Accord", version: "1" },
  capabilities: {
    elicitation: { form: {}, url: {} },
    _meta: { "accord.extensions": { methods: UNDERSTOOD } },
  },
};
/** After so many starts that were forgotten at once, the user is asked. */
const STARTS_MAX = 3;

export interface ConnectionOwner {
  traffic: Traffic;
  parts: SocketParts | undefined;
  /** The agent has answered `initialize`; after a gap, sessions are to be loaded again. */
  initialized(agent: AgentInfo, isAgain: boolean): void;
  request(request: Incoming): void;
  notification(method: string, params: unknown): void;
  /** Whether the user is logged in, as far as the gateway can be asked. */
  isLoggedIn(): Promise<boolean>;
}

export class AgentConnection implements AgentLink {
  readonly state: Signal<Connection> = signal({ state: "connecting" });
  private socket: ResumingSocket | null = null;
  private rpc: Rpc | null = null;
  private ready: Promise<void> = Promise.resolve();
  private extensions: ReadonlySet<string> = new Set();
  private starts = 0;
  private wasInitialized = false;
  /** Whether the agent was initialized over the connection that there is now. */
  private isReady = false;
  private isChecking = false;

  constructor(
    private agent: AgentInfo,
    private readonly url: string,
    private readonly owner: ConnectionOwner,
  ) {}

  start(): void {
    this.stop("The connection is started anew.");
    this.isReady = false;
    this.state.value = { state: "connecting" };
    const socket = new ResumingSocket(
      this.url,
      {
        received: (message, text) => {
          this.owner.traffic.note("received", message, text);
          if (this.socket === socket) rpc.receive(message);
        },
        changed: (state) => {
          if (this.socket === socket) this.changed(state);
        },
      },
      this.owner.parts,
    );
    const rpc = new Rpc(
      (message) => {
        const text = JSON.stringify(message);
        this.owner.traffic.note("sent", message, text);
        return socket.send(text);
      },
      {
        request: (request) => this.owner.request(request),
        notification: (method, params) => this.owner.notification(method, params),
      },
    );
    this.socket = socket;
    this.rpc = rpc;
    this.ready = this.initialize(rpc);
    // Whoever calls is told; without a call, the state says it.
    this.ready.catch(() => {});
    socket.start();
  }

  /** End the connection, also at the gateway. */
  stop(why: string): void {
    const { socket, rpc } = this;
    this.socket = this.rpc = null;
    socket?.close();
    rpc?.end(why);
  }

  /** The way to the server may have changed: find out now. */
  wake(why: string): void {
    this.socket?.wake(why);
  }

  refuse(why: string): void {
    this.stop(why);
    this.state.value = { state: "refused", why, canLogIn: true };
  }

  async call<T = unknown>(method: string, params: object): Promise<T> {
    await this.ready;
    if (this.rpc === null) throw new ConnectionLost("There is no connection to the agent.");
    return this.rpc.call<T>(method, params);
  }

  notify(method: string, params: object): void {
    this.rpc?.notify(method, params);
  }

  offers(method: string): boolean {
    return this.extensions.has(method);
  }

  private async initialize(rpc: Rpc): Promise<void> {
    try {
      const answer = await rpc.call("initialize", INITIALIZE);
      const { capabilities = {}, authMethods = [] } = read<Initialized>(
        "InitializeResponse",
        answer,
      );
      this.extensions = new Set(extensionsIn(capabilities));
      this.agent = { ...this.agent, capabilities, authMethods: authMethods.flatMap(methodOf) };
      this.starts = 0;
      this.isReady = true;
      this.owner.initialized(this.agent, this.wasInitialized);
      this.wasInitialized = true;
      this.state.value = { state: "open", since: Date.now() };
    } catch (error) {
      // An end that the socket has reported is known already.
      if (!(error instanceof ConnectionLost)) this.fail(sentenceOf(error));
      throw error;
    }
  }

  private changed(state: SocketState): void {
    const before = this.state.value.state;
    if (state.state === "open") {
      // At first the agent has to be initialized.
      if (this.isReady) this.state.value = { state: "open", since: Date.now() };
    } else if (state.state === "waiting") {
      const { why, retryAt } = state;
      this.state.value = { state: "waiting", why, retryAt, offline: isOffline() };
      // A browser does not say why a socket was refused.
      if (before !== "open") void this.check();
    } else if (state.state === "ended") {
      this.ended(state.why, state.isForgotten);
    }
  }

  private ended(why: string, isForgotten: boolean): void {
    this.starts += 1;
    if (isForgotten && this.starts <= STARTS_MAX) {
      this.rpc?.end(
        "The server has lost the connection, and it is not known whether this arrived.",
      );
      this.start();
      this.state.value = { state: "waiting", why, retryAt: Date.now(), offline: false };
      return;
    }
    this.fail(why);
  }

  private fail(why: string): void {
    this.stop(why);
    this.state.value = { state: "lost", why, missed: this.wasInitialized };
  }

  private async check(): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    try {
      if (!(await this.owner.isLoggedIn()) && this.socket !== null) {
        this.refuse("Your login here has ended. Log in again to go on.");
      }
    } finally {
      this.isChecking = false;
    }
  }
}

interface Initialized {
  capabilities?: Record<string, unknown>;
  authMethods?: unknown[];
}

function extensionsIn(capabilities: Record<string, unknown>): string[] {
  const meta = (capabilities["_meta"] ?? {}) as Record<string, { methods?: unknown } | undefined>;
  const methods = meta["accord.extensions"]?.methods;
  return Array.isArray(methods) ? methods.filter((one) => typeof one === "string") : [];
}

function methodOf(received: unknown): AuthMethod[] {
  const { type, methodId, name, description } = received as Record<string, unknown>;
  if (typeof methodId !== "string" || typeof name !== "string") return [];
  const said = typeof description === "string" ? description : null;
  return [{ type: String(type), methodId, name, description: said }];
}

function isOffline(): boolean {
  return typeof navigator !== "undefined" && navigator.onLine === false;
}
