/** A client without a server, for component tests, pictures and `?demo`. */

import { signal } from "@preact/signals";
import type {
  AccordClient,
  AgentInfo,
  Connection,
  OpenSession,
  SessionSummary,
  TrafficEntry,
} from "../client/types.ts";
import { FakeSession } from "./fake_session.ts";
import { FIXED_A_BUG } from "./scripts.ts";

const AGENTS: AgentInfo[] = [
  { name: "builtin", title: "Accord", path: "/agents/builtin", capabilities: {}, authMethods: [] },
  {
    name: "acme",
    title: "Acme Coder",
    path: "/agents/acme",
    capabilities: {},
    authMethods: [{ type: "agent", methodId: "browser", name: "Log in", description: null }],
  },
];

const BUG = "s1";

function summaryOf(sessionId: string, title: string, rest: Partial<SessionSummary> = {}) {
  const updatedAt = "2026-11-19T20:00:00Z";
  return {
    sessionId,
    agent: "builtin",
    cwd: "/home/ada/shop",
    title,
    updatedAt,
    owner: null,
    ...rest,
  };
}

export class FakeClient implements AccordClient {
  readonly connection = signal<Connection>({ state: "open", since: 0 });
  readonly agents = signal<readonly AgentInfo[]>(AGENTS);
  readonly agent = signal<AgentInfo | null>(AGENTS[0] ?? null);
  readonly folder = signal<string | null>("/home/ada/shop");
  readonly sessions = signal<readonly SessionSummary[]>([
    summaryOf(BUG, "Fix the failing test"),
    summaryOf("s2", "Describe the folders", { updatedAt: "2026-11-18T09:30:00Z" }),
    summaryOf("s3", "Release notes", { owner: "grace", updatedAt: null }),
  ]);
  readonly open = signal<readonly FakeSession[]>([]);
  readonly active = signal<FakeSession | null>(null);
  readonly problem = signal<string | null>(null);
  readonly traffic = {
    entries: signal<readonly TrafficEntry[]>([]),
    clear: () => {
      this.traffic.entries.value = [];
    },
  };
  readonly calls: [string, ...unknown[]][] = [];

  /** With a pace, prompts are answered, one update each time. */
  constructor(private readonly paceMs: number | null = null) {}

  async chooseAgent(name: string): Promise<void> {
    this.calls.push(["chooseAgent", name]);
    this.agent.value = this.agents.value.find((agent) => agent.name === name) ?? null;
  }

  async newSession(cwd: string): Promise<FakeSession> {
    this.calls.push(["newSession", cwd]);
    const summary = summaryOf(`new${this.sessions.value.length}`, "", { cwd });
    this.sessions.value = [summary, ...this.sessions.value];
    return this.show(summary, []);
  }

  async openSession(id: string): Promise<FakeSession> {
    this.calls.push(["openSession", id]);
    const open = this.open.value.find((session) => session.summary.value.sessionId === id);
    if (open !== undefined) {
      this.active.value = open;
      return open;
    }
    const summary = this.sessions.value.find((one) => one.sessionId === id);
    if (summary === undefined) throw new Error(`There is no session ${id} any more.`);
    return this.show(summary, id === BUG ? FIXED_A_BUG : []);
  }

  async join(code: string, sessionId: string): Promise<OpenSession> {
    this.calls.push(["join", code, sessionId]);
    return this.openSession(sessionId);
  }

  private show(summary: SessionSummary, updates: readonly unknown[]): FakeSession {
    const session = new FakeSession(summary, updates);
    session.paceMs = this.paceMs;
    this.open.value = [...this.open.value, session];
    this.active.value = session;
    return session;
  }

  async refreshSessions(more = false): Promise<void> {
    this.calls.push(["refreshSessions", more]);
  }

  async logIn(method: string, values?: Record<string, string>): Promise<void> {
    this.calls.push(["logIn", method, values]);
  }

  async logOut(): Promise<void> {
    this.calls.push(["logOut"]);
  }

  reload(): void {
    this.calls.push(["reload"]);
  }
}
