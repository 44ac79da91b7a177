/* Starts a session: with which agent, and in which folder. */

import { useId, useState } from "preact/hooks";

import type { AccordClient } from "../../client/types.ts";
import { titleText } from "../../content/visible_text.ts";
import { messageOf } from "../../prompt/send_prompt.ts";
import { AgentLogins } from "../../questions/LoginPanel.tsx";
import { recentFolders } from "./session_list.ts";

interface Props {
  client: AccordClient;
  onDone(): void;
}

export function NewSession({ client, onDone }: Props) {
  const id = useId();
  const folders = recentFolders(client.sessions.value);
  const [folder, setFolder] = useState(folders[0] ?? "");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const start = async (): Promise<void> => {
    setBusy(true);
    setProblem("");
    try {
      await client.newSession(folder.trim());
      onDone();
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  return (
    <>
      <form
        class="new-session"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <AgentPicker client={client} onProblem={setProblem} />
        <label for={id}>Folder</label>
        <input
          id={id}
          list={`${id}-recent`}
          value={folder}
          placeholder="The agent's own folder"
          autoComplete="off"
          spellcheck={false}
          onInput={(event) => setFolder(event.currentTarget.value)}
        />
        <datalist id={`${id}-recent`}>
          {folders.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <p class="problem" role="alert">
          {problem}
        </p>
        <button type="submit" class="primary" disabled={busy || client.connection.value.state !== "open"}>
          {busy ? "Starting…" : "Start session"}
        </button>
      </form>
      <AgentLogins client={client} />
    </>
  );
}

function AgentPicker({ client, onProblem }: { client: AccordClient; onProblem(problem: string): void }) {
  const id = useId();
  const agents = client.agents.value;
  if (agents.length <= 1) return null;
  const choose = (name: string): void => {
    client.chooseAgent(name).catch((error: unknown) => onProblem(messageOf(error)));
  };
  return (
    <>
      <label for={id}>Agent</label>
      <select id={id} value={client.agent.value?.name ?? ""} onChange={(event) => choose(event.currentTarget.value)}>
        {client.agent.value === null && <option value="">Choose…</option>}
        {agents.map((agent) => (
          <option key={agent.name} value={agent.name}>
            {titleText(agent.title, agent.name)}
          </option>
        ))}
      </select>
    </>
  );
}
