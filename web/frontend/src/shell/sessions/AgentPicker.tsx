/* The agent that new sessions are with, and whose sessions are listed. */

import { useId } from "preact/hooks";

import type { AccordClient } from "../../client/types.ts";
import { titleText } from "../../content/visible_text.ts";
import { messageOf } from "../../prompt/send_prompt.ts";

export function AgentPicker({ client, onProblem, isLabelled = true }: { client: AccordClient; onProblem(problem: string): void; isLabelled?: boolean }) {
  const id = useId();
  const agents = client.agents.value;
  if (agents.length <= 1) return null;
  const choose = (name: string): void => {
    client.chooseAgent(name).catch((error: unknown) => onProblem(messageOf(error)));
  };
  return (
    <>
      <label for={id} class={isLabelled ? "" : "hidden-text"}>
        Agent
      </label>
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
