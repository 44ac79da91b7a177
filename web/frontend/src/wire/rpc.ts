/** One end of a JSON-RPC 2.0 conversation, over whatever sends its frames.
 *
 * What always holds
 *   - A call ends exactly once: with its answer, or with an error when the connection ends.
 *   - Every request of the peer is answered once; what the peer takes back is not answered later.
 */

export class RpcError extends Error {
  constructor(
    readonly method: string,
    readonly code: number,
    message: string,
    readonly data: unknown,
  ) {
    super(message);
  }
}

/** A call whose connection ended before the answer came. */
export class ConnectionLost extends Error {}

export const METHOD_NOT_FOUND = -32601;
export const INTERNAL_ERROR = -32603;
export const CANCELLED = -32800;

type Id = string | number;

interface Pending {
  method: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** A request of the peer: exactly one of the first two counts, and the first time only. */
export interface Incoming {
  id: Id;
  method: string;
  params: unknown;
  answer(result: unknown): void;
  refuse(code: number, message: string): void;
  /** Set by whoever handles it: called when the peer wants no answer any more. */
  withdrawn: (() => void) | null;
}

export interface RpcHandlers {
  request(request: Incoming): void;
  notification(method: string, params: unknown): void;
}

export class Rpc {
  private nextId = 1;
  private readonly pending = new Map<Id, Pending>();
  private readonly incoming = new Map<Id, Incoming>();

  /** `send` returns false for a frame that cannot be sent. */
  constructor(
    private readonly send: (message: object) => boolean,
    private readonly handlers: RpcHandlers,
  ) {}

  call<T = unknown>(method: string, params: object, signal?: AbortSignal): Promise<T> {
    const id = this.nextId;
    this.nextId += 1;
    return new Promise<T>((resolve, reject) => {
      this.pending.set(id, { method, resolve: resolve as (result: unknown) => void, reject });
      if (!this.send({ jsonrpc: "2.0", id, method, params })) {
        this.pending.delete(id);
        reject(new ConnectionLost("This was not sent: the connection has ended, or is too slow."));
        return;
      }
      signal?.addEventListener("abort", () => {
        if (this.pending.has(id)) this.notify("$/cancel_request", { requestId: id });
      });
    });
  }

  notify(method: string, params: object): void {
    this.send({ jsonrpc: "2.0", method, params });
  }

  /** Whether calls wait for their answers. */
  get isWaiting(): boolean {
    return this.pending.size > 0;
  }

  /** The connection is gone: nothing is answered any more. */
  end(why: string): void {
    const pending = [...this.pending.values()];
    const incoming = [...this.incoming.values()];
    this.pending.clear();
    this.incoming.clear();
    for (const { reject } of pending) reject(new ConnectionLost(why));
    for (const request of incoming) request.withdrawn?.();
  }

  /** Take a message of the peer. */
  receive(message: unknown): void {
    if (typeof message !== "object" || message === null) return;
    const { id, method, params, result, error } = message as Record<string, unknown>;
    const isId = typeof id === "string" || typeof id === "number";
    if (typeof method !== "string") {
      if (isId) this.settle(id, result, error);
    } else if (isId) {
      this.take(id, method, params);
    } else if (method === "$/cancel_request") {
      this.withdraw((params as { requestId?: Id } | undefined)?.requestId);
    } else {
      this.handlers.notification(method, params);
    }
  }

  private settle(id: Id, result: unknown, error: unknown): void {
    const call = this.pending.get(id);
    if (call === undefined) return;
    this.pending.delete(id);
    if (error === undefined) {
      call.resolve(result);
      return;
    }
    const { code, message, data } = (error ?? {}) as Record<string, unknown>;
    const text = typeof message === "string" ? message : "The agent gave no reason.";
    call.reject(new RpcError(call.method, typeof code === "number" ? code : 0, text, data));
  }

  private take(id: Id, method: string, params: unknown): void {
    const reply = (fields: object) => {
      if (this.incoming.delete(id)) this.send({ jsonrpc: "2.0", id, ...fields });
    };
    const request: Incoming = {
      id,
      method,
      params,
      answer: (result) => reply({ result }),
      refuse: (code, message) => reply({ error: { code, message } }),
      withdrawn: null,
    };
    this.incoming.set(id, request);
    this.handlers.request(request);
  }

  private withdraw(id: Id | undefined): void {
    const request = id === undefined ? undefined : this.incoming.get(id);
    if (request === undefined) return;
    request.withdrawn?.();
    request.refuse(CANCELLED, "Request cancelled");
  }
}
