/** What a session needs of the connection to its agent. */
export interface AgentLink {
  call<T = unknown>(method: string, params: object): Promise<T>;
  notify(method: string, params: object): void;
  /** Whether the agent or the gateway has announced an extension. */
  offers(method: string): boolean;
}
