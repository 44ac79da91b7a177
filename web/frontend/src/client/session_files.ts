/** The files of a session, as far as its gateway lets pages see them. */

import type { AgentLink } from "./agent_link.ts";
import { sentenceOf } from "./sentences.ts";

const FOUND_MAX = 50;

export type FoundFile = { path: string; kind: "file" | "folder" };
export type ReadFile = { text: string; hash: string } | { problem: string };

export class SessionFiles {
  constructor(
    private readonly link: AgentLink,
    private readonly sessionId: string,
  ) {}

  async search(query: string): Promise<FoundFile[]> {
    if (!this.link.offers("_accord.workspace/search")) return [];
    const params = { sessionId: this.sessionId, query, limit: FOUND_MAX };
    const answer = this.link.call<{ files?: FoundFile[] }>("_accord.workspace/search", params);
    return (await answer).files ?? [];
  }

  async read(path: string): Promise<ReadFile> {
    if (!this.link.offers("_accord.workspace/read")) {
      return { problem: "This gateway does not let pages read files." };
    }
    try {
      const params = { sessionId: this.sessionId, path };
      return await this.link.call<ReadFile>("_accord.workspace/read", params);
    } catch (error) {
      return { problem: sentenceOf(error) };
    }
  }

  async write(path: string, text: string | null, expectedHash: string | null): Promise<void> {
    const params = { sessionId: this.sessionId, path, text, expectedHash };
    await this.link.call("_accord.workspace/write", params).catch((error: unknown) => {
      throw new Error(sentenceOf(error));
    });
  }
}
