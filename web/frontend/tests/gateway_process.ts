/** `accord serve` with an example agent, as a process of its own. */

import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import WebSocket from "ws";
import { GatewayClient } from "../src/client/accord_client.ts";
import type { Socket } from "../src/wire/resuming_socket.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PYTHON = join(ROOT, ".venv/bin/python");
export const HAS_PYTHON = existsSync(PYTHON);
/** Of both users. */
export const TOKENS = { ada: "a-token-that-nobody-guesses", bob: "another-token-that-is-long" };

export class GatewayProcess {
  readonly folder = mkdtempSync(join(tmpdir(), "accord-page-"));
  origin = "";
  private port = "0";
  private process: ChildProcess | null = null;

  constructor(private readonly agent: string) {}

  /** Write a file in the folder that agents work in. */
  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  async start(): Promise<void> {
    const lines = Object.entries(TOKENS).map(([user, token]) => `${user} ${token}\n`);
    const [tokens, data] = [join(this.folder, "tokens"), join(this.folder, "data")];
    writeFileSync(tokens, lines.join(""), { mode: 0o600 });
    const target = [join(ROOT, "examples", this.agent), "--data", data, "--token-file", tokens];
    const child = spawn(PYTHON, ["-m", "accord", "serve", ...target, "--port", this.port], {
      cwd: this.folder,
    });
    this.process = child;
    this.origin = await new Promise((resolve, reject) => {
      let said = "";
      const look = (data: Buffer) => {
        said += data.toString();
        const address = /https?:\/\/127\.0\.0\.1:(\d+)/.exec(said);
        if (address !== null) {
          this.port = address[1] as string;
          resolve(address[0]);
        }
      };
      child.stdout.on("data", look);
      child.stderr.on("data", look);
      child.once("exit", () => reject(new Error(`the gateway did not start: ${said}`)));
    });
  }

  /** Kill it, as a crash would. */
  async kill(): Promise<void> {
    const child = this.process;
    this.process = null;
    if (child === null || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What a browser does for a page: it keeps cookies, and says where the page is from. */
export class BrowserOf {
  readonly sockets: WebSocket[] = [];
  readonly client: GatewayClient;
  private cookies = "";

  constructor(gateway: GatewayProcess) {
    this.client = new GatewayClient({
      address: `${gateway.origin}/`,
      fetcher: async (input, options) => {
        const own = {
          Origin: gateway.origin,
          "Sec-Fetch-Site": "same-origin",
          Cookie: this.cookies,
        };
        const headers = { ...(options?.headers as Record<string, string>), ...own };
        const response = await fetch(input, { ...options, headers });
        for (const cookie of response.headers.getSetCookie())
          this.cookies = cookie.split(";")[0] ?? "";
        return response;
      },
      socket: {
        open: (url) => {
          const headers = { Cookie: this.cookies };
          const socket = new WebSocket(url, { origin: gateway.origin, headers });
          // Without a listener an error ends the program; `onclose` tells of it anyway.
          socket.on("error", () => {});
          this.sockets.push(socket);
          return socket as unknown as Socket;
        },
        now: () => Date.now(),
        chance: () => 0,
      },
    });
  }

  /** Cut the network under the page. */
  cut(): void {
    this.sockets.at(-1)?.terminate();
  }
}
