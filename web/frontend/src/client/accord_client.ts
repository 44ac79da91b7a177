/** The page's client: agents, sessions and what is open, over one connection for each agent. */

import { effect, signal } from "@preact/signals";
import type { SocketParts } from "../wire/resuming_socket.ts";
import { METHOD_NOT_FOUND, RpcError, type Incoming } from "../wire/rpc.ts";
import { read } from "../wire/reader.ts";
import { Traffic } from "../wire/traffic.ts";
import { AgentConnection } from "./agent_connection.ts";
import { GatewayHttp, NotLoggedIn } from "./gateway_http.ts";
import { LOGIN_NEEDED, sentenceOf } from "./sentences.ts";
import { Session, type SessionOwner } from "./session.ts";
import type { AccordClient, AgentInfo, Connection, OpenSession, SessionSummary } from "./types.ts";

export const TOKEN_METHOD = "token";
const AGENT_KEY = "accord.agent";
/** Updates of sessions whose opening is not answered yet; more are dropped. */
const EARLY_UPDATES_MAX = 1_024;
/** So many sessions that were closed here are still followed; the gateway cannot be told. */
const BEHIND_MAX = 16;

export interface Invitation {
  code: string;
  sessionId: string;
  agent: string | null;
}

export interface ClientParts {
  /** The address of the page. */
  address: string;
  fetcher?: typeof fetch;
  storage?: Storage | null;
  socket?: SocketParts;
}

interface Listed {
  sessions: {
    sessionId: string;
    cwd: string;
    title?: string | null;
    updatedAt?: string | null;
    _meta?: Record<string, unknown> | null;
  }[];
  nextCursor?: string | null;
}

export class GatewayClient implements AccordClient {
  readonly connection = signal<Connection>({ state: "connecting" });
  readonly agents = signal<readonly AgentInfo[]>([]);
  readonly agent = signal<AgentInfo | null>(null);
  readonly folder = signal<string | null>(null);
  readonly sessions = signal<readonly SessionSummary[]>([]);
  readonly open = signal<readonly Session[]>([]);
  readonly active = signal<OpenSession | null>(null);
  readonly problem = signal<string | null>(null);
  private readonly log = new Traffic();
  readonly traffic = { entries: this.log.entries, clear: () => this.log.clear() };
  private readonly http: GatewayHttp;
  private readonly storage: Storage | null;
  private readonly connections = new Map<string, AgentConnection>();
  private readonly early = new Map<string, unknown[]>();
  /** Sessions that were closed here and go on; their history need not be read again. */
  private behind: readonly Session[] = [];
  private invitation: Invitation | null = null;
  private cursor: string | null = null;
  private stopFollowing = () => {};

  constructor(private readonly parts: ClientParts) {
    this.http = new GatewayHttp(new URL(parts.address).origin, parts.fetcher);
    this.storage = parts.storage ?? null;
  }

  /** Log in with the token, if there is one, connect to an agent, and accept the invitation. */
  async start(token: string | null = null, invitation: Invitation | null = null): Promise<void> {
    this.invitation = invitation ?? this.invitation;
    this.connection.value = { state: "connecting" };
    try {
      if (token !== null) await this.http.logIn(token);
      const { agents, folder } = await this.http.listing();
      this.agents.value = agents;
      this.folder.value = folder;
      const names = [
        this.invitation?.agent,
        this.agent.value?.name,
        this.storage?.getItem(AGENT_KEY),
      ];
      const chosen = names.find((name) => agents.some((agent) => agent.name === name));
      const name = chosen ?? agents[0]?.name;
      if (name === undefined) {
        throw new Error("You may use none of the agents here. Ask whoever runs the server.");
      }
      await this.chooseAgent(name);
    } catch (error) {
      const canLogIn = error instanceof NotLoggedIn || token !== null;
      this.connection.value = { state: "refused", why: sentenceOf(error), canLogIn };
    }
  }

  async chooseAgent(name: string): Promise<void> {
    const agent = this.agents.value.find((one) => one.name === name);
    if (agent === undefined) throw new Error(`There is no agent ${name} here.`);
    this.agent.value = agent;
    this.storage?.setItem(AGENT_KEY, name);
    this.sessions.value = [];
    this.cursor = null;
    const known = this.connections.get(name);
    const connection = known ?? this.connectionTo(agent);
    this.stopFollowing();
    this.stopFollowing = effect(() => {
      this.connection.value = connection.state.value;
    });
    const { state } = connection.state.value;
    if (known === undefined || state === "refused" || state === "lost") connection.start();
    else if (state === "open") await this.refreshSessions();
  }

  private connectionTo(agent: AgentInfo): AgentConnection {
    const connection: AgentConnection = new AgentConnection(agent, this.http.socketUrl(agent), {
      traffic: this.log,
      parts: this.parts.socket,
      initialized: (initialized, isAgain) => this.initialized(initialized, isAgain),
      request: (request) => this.requested(agent.name, request),
      notification: (method, params) => this.notified(agent.name, method, params),
      isLoggedIn: () => this.isLoggedIn(),
    });
    this.connections.set(agent.name, connection);
    return connection;
  }

  private initialized(agent: AgentInfo, isAgain: boolean): void {
    this.agents.value = this.agents.value.map((one) => (one.name === agent.name ? agent : one));
    if (this.agent.value?.name === agent.name) {
      this.agent.value = agent;
      const fail = (error: unknown) => {
        this.problem.value = sentenceOf(error);
        this.failed(agent.name, error);
      };
      this.refreshSessions().catch(fail);
      const { invitation } = this;
      this.invitation = null;
      if (invitation !== null) this.join(invitation.code, invitation.sessionId).catch(fail);
    }
    this.behind = this.behind.filter((session) => session.summary.value.agent !== agent.name);
    if (!isAgain) return;
    for (const session of this.openOf(agent.name)) session.load().catch(() => {});
  }

  private async isLoggedIn(): Promise<boolean> {
    try {
      await this.http.listing();
      return true;
    } catch (error) {
      return !(error instanceof NotLoggedIn);
    }
  }

  // Sessions

  async refreshSessions(more = false): Promise<void> {
    if (more && this.cursor === null) return;
    const { name } = this.currentAgent();
    const params = more ? { cursor: this.cursor } : {};
    const answer = await this.link(name).call("session/list", params);
    const { sessions, nextCursor } = read<Listed>("ListSessionsResponse", answer);
    if (this.agent.value?.name !== name) return;
    const found = sessions.map((session) => summaryOf(name, session));
    const known = more ? this.sessions.value : [];
    const ids = new Set(found.map((session) => session.sessionId));
    this.sessions.value = [...known.filter((one) => !ids.has(one.sessionId)), ...found];
    this.cursor = nextCursor ?? null;
  }

  async newSession(folder: string): Promise<OpenSession> {
    const { name } = this.currentAgent();
    const cwd = folder.trim() || this.folder.value;
    if (cwd === null) throw new Error("Name the folder that the agent works in.");
    const call = this.link(name).call<{ sessionId?: unknown }>("session/new", {
      cwd,
      mcpServers: [],
    });
    const answer = await call.catch((error: unknown) => {
      this.failed(name, error);
      throw new Error(sentenceOf(error));
    });
    const sessionId = answer?.sessionId;
    if (typeof sessionId !== "string") throw new Error("The agent opened a session without an id.");
    return this.opened(name, sessionId, cwd, answer);
  }

  private opened(agent: string, sessionId: string, cwd: string, answer: unknown): Session {
    const updatedAt = new Date().toISOString();
    const summary = { sessionId, agent, cwd, title: "", updatedAt, owner: null };
    const session = this.sessionOf(summary);
    for (const update of this.early.get(sessionId) ?? []) session.update(update);
    this.early.delete(sessionId);
    session.transcript.sessionSetup("NewSessionResponse", answer);
    this.sessions.value = [session.summary.value, ...this.sessions.value];
    this.show(session);
    void session.readMembers();
    return session;
  }

  async openSession(id: string): Promise<OpenSession> {
    const known = this.open.value.find((session) => session.id === id);
    if (known !== undefined) {
      this.active.value = known;
      return known;
    }
    const followed = this.behind.find((session) => session.id === id);
    if (followed !== undefined) {
      this.behind = this.behind.filter((session) => session !== followed);
      followed.keepTyped();
      this.show(followed);
      return followed;
    }
    const listed = this.sessions.value.find((session) => session.sessionId === id);
    const cwd = this.folder.value ?? "/";
    const { name } = this.currentAgent();
    const unlisted = { sessionId: id, agent: name, cwd, title: "", updatedAt: null, owner: null };
    const session = this.sessionOf(listed ?? unlisted);
    this.show(session);
    try {
      await session.load();
    } catch (error) {
      this.left(session, false);
      this.behind = this.behind.filter((one) => one !== session);
      throw new Error(sentenceOf(error));
    }
    return session;
  }

  async join(code: string, sessionId: string): Promise<OpenSession> {
    const { name } = this.currentAgent();
    const call = this.link(name).call("_accord.session/join", { code, sessionId });
    await call.catch((error: unknown) => {
      const why = sentenceOf(error);
      throw new Error(`The invitation cannot be used: ${why} It may be old, or used already.`);
    });
    await this.refreshSessions();
    return this.openSession(sessionId);
  }

  private sessionOf(summary: SessionSummary): Session {
    const { agent } = summary;
    const owner: SessionOwner = {
      storage: this.storage,
      pageAddress: this.parts.address.split("#", 1)[0] ?? "",
      changed: (session) => this.summaryChanged(session.summary.value),
      left: (session, isDeleted) => this.left(session, isDeleted),
      opened: (sessionId, cwd, answer) => this.opened(agent, sessionId, cwd, answer),
      failed: (error) => this.failed(agent, error),
    };
    return new Session(summary, this.link(agent), owner);
  }

  private show(session: Session): void {
    this.open.value = [...this.open.value, session];
    this.active.value = session;
  }

  private left(session: Session, isDeleted: boolean): void {
    this.open.value = this.open.value.filter((one) => one !== session);
    if (this.active.value === session) this.active.value = this.open.value.at(-1) ?? null;
    if (!isDeleted) {
      this.behind = [...this.behind, session].slice(-BEHIND_MAX);
      return;
    }
    this.sessions.value = this.sessions.value.filter((one) => one.sessionId !== session.id);
  }

  private summaryChanged(summary: SessionSummary): void {
    this.sessions.value = this.sessions.value.map((one) =>
      one.sessionId === summary.sessionId ? summary : one,
    );
  }

  private openOf(agent: string): Session[] {
    return this.open.value.filter((session) => session.summary.value.agent === agent);
  }

  /** The session of an id, open or followed. */
  private found(agent: string, sessionId: unknown): Session | undefined {
    const isIt = (one: Session) => one.id === sessionId && one.summary.value.agent === agent;
    return this.open.value.find(isIt) ?? this.behind.find(isIt);
  }

  // What agents say

  private requested(agent: string, request: Incoming): void {
    const isQuestion =
      request.method === "session/request_permission" || request.method === "elicitation/create";
    if (!isQuestion) {
      request.refuse(METHOD_NOT_FOUND, `a page does not have ${request.method}`);
      return;
    }
    const sessionId = (request.params as { sessionId?: unknown } | null)?.sessionId;
    // A question about a request of ours belongs to what the user looks at.
    const session =
      sessionId === undefined
        ? this.openOf(agent).sort((one) => (one === this.active.value ? -1 : 0))[0]
        : this.found(agent, sessionId);
    // Without a session nobody would see it; another client may answer, or the view comes back.
    session?.ask(request);
  }

  private notified(agent: string, method: string, params: unknown): void {
    const { sessionId, update } = (params ?? {}) as { sessionId?: unknown; update?: unknown };
    if (typeof sessionId !== "string") return;
    const session = this.found(agent, sessionId);
    if (method !== "session/update") session?.notified(method, params);
    else if (session !== undefined) session.update(update);
    else this.keepEarly(sessionId, update);
  }

  private keepEarly(sessionId: string, update: unknown): void {
    const kept = this.early.get(sessionId) ?? [];
    kept.push(update);
    this.early.delete(sessionId);
    this.early.set(sessionId, kept);
    let count = [...this.early.values()].reduce((sum, updates) => sum + updates.length, 0);
    for (const [id, updates] of this.early) {
      if (count <= EARLY_UPDATES_MAX) break;
      count -= updates.length;
      this.early.delete(id);
    }
  }

  // Logins and the connection

  async logIn(method: string, values: Record<string, string> = {}): Promise<void> {
    if (method === TOKEN_METHOD) {
      await this.http.logIn((values["token"] ?? "").trim());
      await this.start();
      return;
    }
    const { name } = this.currentAgent();
    const call = this.link(name).call("auth/login", { methodId: method });
    await call.catch((error: unknown) => {
      throw new Error(sentenceOf(error));
    });
    this.link(name).state.value = { state: "open", since: Date.now() };
    await this.refreshSessions();
  }

  async logOut(): Promise<void> {
    await this.http.logOut();
    this.close();
    this.open.value = this.behind = [];
    this.active.value = null;
    this.sessions.value = [];
    for (const connection of this.connections.values()) connection.refuse("You are logged out.");
  }

  private failed(agent: string, error: unknown): void {
    if (!(error instanceof RpcError) || error.code !== LOGIN_NEEDED) return;
    const why = sentenceOf(error);
    this.link(agent).state.value = { state: "refused", why, canLogIn: true };
  }

  reload(): void {
    const name = this.agent.value?.name;
    const connection = name === undefined ? undefined : this.connections.get(name);
    if (connection === undefined) void this.start();
    else connection.start();
  }

  /** The network is back, or the computer woke up: what is open may be dead, and is left. */
  wake(why: string): void {
    if (this.connections.size === 0) void this.start();
    for (const connection of this.connections.values()) {
      const { state } = connection.state.value;
      if (state === "open" || state === "waiting") connection.wake(why);
    }
  }

  /** Somebody looks at the page: do not wait for the next attempt. */
  retry(): void {
    for (const connection of this.connections.values()) {
      if (connection.state.value.state === "waiting") connection.wake("the connection was cut");
    }
  }

  /** The page goes: keep what was typed, and end the connections. */
  close(): void {
    for (const session of this.open.value) session.keep();
    for (const connection of this.connections.values()) connection.stop("The page was closed.");
  }

  private currentAgent(): AgentInfo {
    if (this.agent.value === null) throw new Error("There is no connection to the server yet.");
    return this.agent.value;
  }

  private link(agent: string): AgentConnection {
    return this.connections.get(agent) as AgentConnection;
  }
}

function summaryOf(agent: string, session: Listed["sessions"][number]): SessionSummary {
  const { sessionId, cwd, title, updatedAt, _meta } = session;
  const owner = _meta?.["accord.owner"];
  return {
    sessionId,
    agent,
    cwd,
    title: title ?? "",
    updatedAt: updatedAt ?? null,
    owner: typeof owner === "string" ? owner : null,
  };
}
