/* The lasting answers, and how to take one back. */

import type { AccordClient, OpenSession } from "../client/types.ts";
import { addToDraft } from "../prompt/add_files.ts";
import { Icon } from "../shell/Icon.tsx";
import { commandForGrants, type Grant, type Grants } from "./grants.ts";

interface Props {
  client: AccordClient;
  grants: Grants;
  onDone(): void;
}

export function GrantsList({ client, grants, onDone }: Props) {
  const list = grants.list.value;
  if (list.length === 0) {
    return <p class="soft">No lasting answers were given in this browser. “Always allow” and “Always reject” would be listed here.</p>;
  }
  return (
    <>
      <p>
        The agent remembers these answers, and only the agent can forget one: use its own command if it has one, or go on in a new
        session. Removing an entry here only tidies this list.
      </p>
      <ul class="grants">
        {list.map((grant) => (
          <GrantRow key={grant.id} grant={grant} client={client} grants={grants} onDone={onDone} />
        ))}
      </ul>
    </>
  );
}

function GrantRow({ grant, client, grants, onDone }: Props & { grant: Grant }) {
  const session = client.open.value.find((each) => each.summary.value.sessionId === grant.sessionId);
  const command = session ? commandForGrants(session.transcript.commands.value) : null;
  const useCommand = (open: OpenSession): void => {
    addToDraft(open, `/${command}`, []);
    client.active.value = open;
    onDone();
  };
  return (
    <li>
      <div>
        <p dir="auto">
          <strong class={grant.allows ? "allowed" : "rejected"}>{grant.answer}</strong>: {grant.title}
        </p>
        <p class="soft">
          {grant.agent}, {session ? session.summary.value.title || "untitled session" : "a session that is closed"},{" "}
          <time dateTime={new Date(grant.at).toISOString()}>{new Date(grant.at).toLocaleString()}</time>
        </p>
      </div>
      {session && command !== null && (
        <button type="button" onClick={() => useCommand(session)}>
          Use /{command}
        </button>
      )}
      {session && (
        <button type="button" onClick={() => void client.newSession(session.summary.value.cwd).then(onDone, onDone)}>
          New session
        </button>
      )}
      <button type="button" class="quiet icon" aria-label={`Remove “${grant.answer}: ${grant.title}” from the list`} onClick={() => grants.remove(grant.id)}>
        <Icon name="close" />
      </button>
    </li>
  );
}
