import type { PersonRole } from "../../client/types.ts";

export const ROLES: readonly PersonRole[] = ["viewer", "editor", "admin"];

const TEXTS: Record<PersonRole, string> = {
  viewer: "watches",
  editor: "watches, writes prompts and answers forms",
  admin: "does everything: also answers permission requests, invites and deletes",
};

/** What somebody with the role does in a session. */
export const roleText = (role: PersonRole): string => TEXTS[role];
