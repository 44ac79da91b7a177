/** What the page asks its gateway over HTTP: to log in, and which agents there are. */

import type { AgentInfo } from "./types.ts";

export class NotLoggedIn extends Error {
  constructor() {
    super("You are not logged in here. Log in with your token.");
  }
}

export interface Listing {
  agents: AgentInfo[];
  folder: string | null;
}

export class GatewayHttp {
  constructor(
    readonly origin: string,
    private readonly fetcher: typeof fetch = fetch.bind(globalThis),
  ) {}

  /** Exchange a token for a cookie, which scripts cannot read. */
  async logIn(token: string): Promise<void> {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await this.ask("/login", { method: "POST", headers });
    if (response.status === 401) {
      throw new Error("The token was refused. Copy it again from where the server was started.");
    }
    if (!response.ok) throw refusal("The login", response);
  }

  async logOut(): Promise<void> {
    const response = await this.ask("/logout", { method: "POST" });
    if (!response.ok) throw refusal("The logout", response);
  }

  async listing(): Promise<Listing> {
    const response = await this.ask("/.well-known/acp-agents.json", {});
    if (response.status === 401) throw new NotLoggedIn();
    if (!response.ok) throw refusal("The list of agents", response);
    const { agents, folder } = (await response.json()) as { agents?: unknown; folder?: unknown };
    return {
      agents: Array.isArray(agents) ? agents.flatMap(agentOf) : [],
      folder: typeof folder === "string" ? folder : null,
    };
  }

  /** Where an agent is reached over WebSocket. */
  socketUrl(agent: AgentInfo): string {
    return new URL(agent.path, this.origin).href.replace(/^http/, "ws");
  }

  private async ask(path: string, options: RequestInit): Promise<Response> {
    try {
      return await this.fetcher(new URL(path, this.origin), {
        ...options,
        credentials: "same-origin",
        cache: "no-store",
      });
    } catch {
      throw new Error("The server cannot be reached. Is it running, and are you online?");
    }
  }
}

function refusal(what: string, response: Response): Error {
  const advice = response.status >= 500 ? "Try again in a moment." : "Look at the server's log.";
  return new Error(`${what} was refused with status ${response.status}. ${advice}`);
}

function agentOf(listed: unknown): AgentInfo[] {
  const { id, path, title, name } = (listed ?? {}) as Record<string, unknown>;
  if (typeof id !== "string" || typeof path !== "string") return [];
  const shown = [title, name].find((one) => typeof one === "string" && one !== "");
  return [{ name: id, title: (shown as string) ?? id, path, capabilities: null, authMethods: [] }];
}
