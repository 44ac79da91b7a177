/* Makes a link that lets one person into a session, with a role. */

import { useState } from "preact/hooks";

import type { OpenSession, PersonRole } from "../../client/types.ts";
import { CopyButton } from "../../content/CopyButton.tsx";
import { messageOf } from "../../prompt/send_prompt.ts";
import { ROLES, roleText } from "./roles.ts";

const HOUR = 3_600;
const DURATIONS: readonly [seconds: number, name: string][] = [
  [HOUR, "an hour"],
  [24 * HOUR, "a day"],
  [7 * 24 * HOUR, "a week"],
];

type Invitation = Awaited<ReturnType<OpenSession["invite"]>> & { role: PersonRole };

export function Invite({ session }: { session: OpenSession }) {
  const [role, setRole] = useState<PersonRole>("viewer");
  const [seconds, setSeconds] = useState(24 * HOUR);
  const [made, setMade] = useState<Invitation | null>(null);
  const [problem, setProblem] = useState("");
  const invite = async (): Promise<void> => {
    setProblem("");
    try {
      setMade({ ...(await session.invite(role, seconds)), role });
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <form
      class="invite"
      onSubmit={(event) => {
        event.preventDefault();
        void invite();
      }}
    >
      <h3>Invite somebody</h3>
      <fieldset>
        <legend class="hidden-text">Role</legend>
        {ROLES.map((each) => (
          <label key={each} class="invite-role">
            <input type="radio" name="invite-role" checked={role === each} onChange={() => setRole(each)} />
            <span>
              <strong>{each}</strong> <span class="soft">{roleText(each)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <div class="invite-make">
        <label for="invite-seconds">The link works for</label>
        <select id="invite-seconds" value={seconds} onChange={(event) => setSeconds(Number(event.currentTarget.value))}>
          {DURATIONS.map(([length, name]) => (
            <option key={length} value={length}>
              {name}
            </option>
          ))}
        </select>
        <button type="submit" class="primary">
          Make a link
        </button>
      </div>
      <p class="problem" role="alert">
        {problem}
      </p>
      <div role="status">{made && <Made invitation={made} />}</div>
    </form>
  );
}

function Made({ invitation }: { invitation: Invitation }) {
  return (
    <div class="invitation">
      <label for="invite-link">
        Link for one {invitation.role}, until {new Date(invitation.expiresAt).toLocaleString()}
      </label>
      <div class="invitation-link">
        <input id="invite-link" readOnly value={invitation.link} onFocus={(event) => event.currentTarget.select()} />
        <CopyButton text={invitation.link} what="the link" />
      </div>
    </div>
  );
}
