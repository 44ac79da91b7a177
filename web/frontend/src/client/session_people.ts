/** Who is in a session, what they may do, and what they are doing there. */

import { signal } from "@preact/signals";
import type { Person, PersonRole, PresenceEvent } from "./types.ts";

const ROLES: readonly unknown[] = ["viewer", "editor", "admin"];

export class SessionPeople {
  readonly people = signal<readonly Person[]>([]);
  readonly you = signal<Person | null>(null);

  /** Take the answer of a request about members, or what the gateway tells of them. */
  take(said: unknown): void {
    const { members, you } = (said ?? {}) as { members?: unknown; you?: unknown };
    if (Array.isArray(members)) this.people.value = members.flatMap(personOf);
    const [me] = personOf(you);
    const known = me ?? this.you.value;
    // A change of roles names everybody, also the user of this page.
    const listed = this.people.value.find((person) => person.user === known?.user);
    if (known !== null) this.you.value = { ...known, ...listed, here: true };
  }

  /** Take what somebody does. */
  presence(params: unknown): void {
    const { event } = params as { event?: unknown };
    const [said] = personOf(params);
    if (said === undefined || typeof event !== "string") return;
    const known = this.people.value.find((person) => person.user === said.user) ?? said;
    const { displayName, role } = said;
    const next = { ...known, displayName, role, here: event !== "leave", ...doing(event) };
    const others = this.people.value.filter((person) => person.user !== said.user);
    this.people.value = known === said ? [...others, next] : this.replaced(next);
  }

  private replaced(next: Person): Person[] {
    return this.people.value.map((person) => (person.user === next.user ? next : person));
  }
}

function doing(event: string): Partial<Person> {
  const events: Record<PresenceEvent | "join" | "leave", Partial<Person>> = {
    typing: { typing: true },
    idle: { typing: false },
    focus: { focus: true },
    blur: { focus: false },
    join: { typing: false, focus: true },
    leave: { typing: false, focus: false },
  };
  return Object.hasOwn(events, event) ? events[event as PresenceEvent] : {};
}

function personOf(value: unknown): Person[] {
  const { user, displayName, role, here, typing, focus } = (value ?? {}) as Record<string, unknown>;
  if (typeof user !== "string" || !ROLES.includes(role)) return [];
  return [
    {
      user,
      displayName: typeof displayName === "string" ? displayName : user,
      role: role as PersonRole,
      here: here === true,
      typing: typing === true,
      focus: focus === true,
    },
  ];
}
