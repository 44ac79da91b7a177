/* Searches and names the sessions of the list.  Pure. */

import type { SessionSummary } from "../../client/types.ts";
import { titleText } from "../../content/visible_text.ts";

/** The sessions in which every word of the search occurs, the latest first. */
export function searchSessions(sessions: readonly SessionSummary[], search: string): SessionSummary[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (each: SessionSummary): string => `${each.title} ${each.cwd} ${each.owner ?? ""} ${each.sessionId}`.toLowerCase();
  return sessions
    .filter((each) => words.every((word) => text(each).includes(word)))
    .sort((one, other) => timeOf(other) - timeOf(one));
}

// A session without a time is new, or its agent tells none: it goes first, where it is noticed.
const timeOf = (session: SessionSummary): number => (session.updatedAt === null ? Infinity : Date.parse(session.updatedAt) || 0);

export const sessionTitle = (session: SessionSummary): string => titleText(session.title, "Untitled session");

/** The last two folders of a path, which tell sessions apart. */
export function shortFolder(path: string): string {
  const parts = path.split(/[/\\]/).filter(Boolean);
  return parts.length <= 2 ? path : `…/${parts.slice(-2).join("/")}`;
}

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["week", 7 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** "3 hours ago"; empty for what is not a time. */
export function agoText(moment: string | null, now: number, locale: string | undefined = undefined): string {
  const seconds = (Date.parse(moment ?? "") - now) / 1_000;
  if (Number.isNaN(seconds)) return "";
  const format = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  return unit ? format.format(Math.round(seconds / unit[1]), unit[0]) : format.format(0, "second");
}

/** The folders that were used last, for the field of a new session. */
export function recentFolders(sessions: readonly SessionSummary[], max = 20): string[] {
  return [...new Set(searchSessions(sessions, "").map((each) => each.cwd))].filter(Boolean).slice(0, max);
}
