/* Who is in a session: their initials in its head, and a dialog with roles and invitations. */

import "./people.css";

import { useState } from "preact/hooks";

import type { OpenSession, Person, PersonRole } from "../../client/types.ts";
import { titleText } from "../../content/visible_text.ts";
import { messageOf } from "../../prompt/send_prompt.ts";
import { Dialog } from "../Dialog.tsx";
import { Icon } from "../Icon.tsx";
import { Invite } from "./Invite.tsx";
import { ROLES, roleText } from "./roles.ts";

const FACES_MAX = 3;

export function People({ session }: { session: OpenSession }) {
  const [isOpen, setOpen] = useState(false);
  const here = session.people.value.filter((person) => person.here);
  const names = here.map(nameOf).join(", ");
  return (
    <>
      <button type="button" class="quiet people-button" aria-haspopup="dialog" title={names} onClick={() => setOpen(true)}>
        {here.length > 1 ? (
          <span class="faces" aria-hidden="true">
            {here.slice(0, FACES_MAX).map((person) => (
              <Face key={person.user} person={person} />
            ))}
            {here.length > FACES_MAX && <span class="face">+{here.length - FACES_MAX}</span>}
          </span>
        ) : (
          <Icon name="people" />
        )}
        <span class="hidden-text">People: {here.length > 0 ? `${names} here` : "invite"}</span>
      </button>
      {isOpen && (
        <Dialog title="People in this session" onClose={() => setOpen(false)}>
          <PeopleList session={session} />
          {session.you.value?.role === "admin" && <Invite session={session} />}
        </Dialog>
      )}
    </>
  );
}

const nameOf = (person: Person): string => titleText(person.displayName, titleText(person.user));

function Face({ person }: { person: Person }) {
  const initials = nameOf(person)
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => [...word][0]?.toUpperCase() ?? "")
    .join("");
  return <span class={person.typing ? "face typing-face" : "face"}>{initials}</span>;
}

function PeopleList({ session }: { session: OpenSession }) {
  const [problem, setProblem] = useState("");
  const you = session.you.value;
  const attempt = (change: Promise<void>): void => {
    setProblem("");
    change.catch((error: unknown) => setProblem(messageOf(error)));
  };
  return (
    <>
      <ul class="people-list">
        {session.people.value.map((person) => (
          <li key={person.user}>
            <Face person={person} />
            <div class="person">
              <p dir="auto">
                {nameOf(person)} {person.user === you?.user && <span class="soft">(you)</span>}
              </p>
              <p class="soft">{stateOf(person)}</p>
            </div>
            {you?.role === "admin" && person.user !== you.user ? (
              <>
                <RolePicker person={person} onRole={(role) => attempt(session.setRole(person.user, role))} />
                <button
                  type="button"
                  class="quiet icon"
                  aria-label={`Remove ${nameOf(person)} from the session`}
                  onClick={() => attempt(session.remove(person.user))}
                >
                  <Icon name="close" />
                </button>
              </>
            ) : (
              <span class="soft">{person.role}</span>
            )}
          </li>
        ))}
      </ul>
      <p class="problem" role="alert">
        {problem}
      </p>
    </>
  );
}

const stateOf = (person: Person): string => (person.typing ? "writing" : person.here ? (person.focus ? "here, looking" : "here") : "not here");

function RolePicker({ person, onRole }: { person: Person; onRole(role: PersonRole): void }) {
  return (
    <select aria-label={`Role of ${nameOf(person)}`} value={person.role} onChange={(event) => onRole(event.currentTarget.value as PersonRole)}>
      {ROLES.map((role) => (
        <option key={role} value={role} title={roleText(role)}>
          {role}
        </option>
      ))}
    </select>
  );
}
