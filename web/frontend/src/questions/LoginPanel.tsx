/* Ways to log in to an agent, and to the gateway when it refused. */

import { useState } from "preact/hooks";

import { TOKEN_METHOD } from "../client/accord_client.ts";
import type { AccordClient, AuthMethod } from "../client/types.ts";
import { titleText, visibleText } from "../content/visible_text.ts";
import { messageOf } from "../prompt/send_prompt.ts";

/** The gateway or its agent wants to know who the user is; which of them, `why` says. */
export function LoginPage({ client, why }: { client: AccordClient; why: string }) {
  return (
    <main class="login-page">
      <h1>Log in</h1>
      <p>{titleText(why)}</p>
      <AgentLogins client={client} />
      <TokenLogin client={client} />
    </main>
  );
}

function TokenLogin({ client }: { client: AccordClient }) {
  const [token, setToken] = useState("");
  const { problem, busy, run } = useAttempt();
  return (
    <form
      class="login"
      onSubmit={(event) => {
        event.preventDefault();
        void run(client.logIn(TOKEN_METHOD, { token: token.trim() }));
      }}
    >
      <label for="login-token">Token of the gateway</label>
      <input
        id="login-token"
        type="password"
        autoComplete="current-password"
        value={token}
        aria-describedby="login-hint"
        onInput={(event) => setToken(event.currentTarget.value)}
      />
      <p id="login-hint" class="soft">
        It is behind “#token=” in the address that accord web prints; an administrator of accord serve gives out others.
      </p>
      <p class="problem" role="alert">
        {problem}
      </p>
      <button type="submit" class="primary" disabled={busy || token.trim() === ""}>
        Log in
      </button>
    </form>
  );
}

export function AgentLogins({ client }: { client: AccordClient }) {
  const agent = client.agent.value;
  const { problem, busy, run } = useAttempt();
  if (!agent || agent.authMethods.length === 0) return null;
  return (
    <section class="agent-logins" aria-labelledby="agent-logins-title">
      <h3 id="agent-logins-title">Log in to {titleText(agent.title, agent.name)}</h3>
      <ul>
        {agent.authMethods.map((method) => (
          <li key={method.methodId}>
            <LoginMethod method={method} busy={busy} onLogIn={() => void run(client.logIn(method.methodId))} />
          </li>
        ))}
      </ul>
      <p class="problem" role="alert">
        {problem}
      </p>
    </section>
  );
}

function LoginMethod({ method, busy, onLogIn }: { method: AuthMethod; busy: boolean; onLogIn(): void }) {
  const name = titleText(method.name, method.methodId);
  const description = method.description && (
    <p class="soft" dir="auto">
      {visibleText(method.description)}
    </p>
  );
  if (method.type === "agent") {
    return (
      <>
        <button type="button" disabled={busy} onClick={onLogIn}>
          {name}
        </button>
        {description}
      </>
    );
  }
  return (
    <>
      <p dir="auto">{name}</p>
      {description}
      <p class="soft">
        {method.type === "terminal"
          ? "This needs a terminal: run accord login on the computer where the agent runs, then load this page again."
          : "This page does not know this way to log in."}
      </p>
    </>
  );
}

function useAttempt(): { problem: string; busy: boolean; run(attempt: Promise<void>): Promise<void> } {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const run = async (attempt: Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem("");
    await attempt.catch((error: unknown) => setProblem(messageOf(error)));
    setBusy(false);
  };
  return { problem, busy, run };
}
