/* Starts a session: with which agent, and in which folder. */

import { useId, useState } from "preact/hooks";

import type { AccordClient } from "../../client/types.ts";
import { messageOf } from "../../prompt/send_prompt.ts";
import { AgentLogins } from "../../questions/LoginPanel.tsx";
import { AgentPicker } from "./AgentPicker.tsx";
import { recentFolders } from "./session_list.ts";

interface Props {
  client: AccordClient;
  onDone(): void;
}

export function NewSession({ client, onDone }: Props) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const started = client.folder.value;
  const folders = [...new Set([...(started === null ? [] : [started]), ...recentFolders(client.sessions.value)])];
  const folder = typed ?? folders[0] ?? "";
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
          placeholder="/home/you/project"
          required
          autoComplete="off"
          spellcheck={false}
          onInput={(event) => setTyped(event.currentTarget.value)}
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
