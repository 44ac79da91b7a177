/* Calls the user when an agent needs an answer: the title and icon of the tab, the badge of the
   installed page, and a notification if the user is elsewhere and has allowed them. */

import { effect } from "@preact/signals";

import type { AccordClient, OpenSession, Question } from "../client/types.ts";
import { openQuestions, questionTitle } from "../questions/QuestionQueue.tsx";

const NAME = "Accord";

export const waitingCount = (client: AccordClient): number =>
  client.open.value.reduce((sum, session) => sum + openQuestions(session).length, 0);

/** The title of the tab: how many answers are needed, the session, the program. */
export function tabTitle(waiting: number, session: string): string {
  const words = session === "" ? NAME : `${session} · ${NAME}`;
  return waiting > 0 ? `(${waiting}) ${words}` : words;
}

/** Start calling; the answer ends it. */
export function callForAttention(client: AccordClient): () => void {
  const known = new Set<string>();
  const stops = [
    effect(() => {
      const waiting = waitingCount(client);
      document.title = tabTitle(waiting, client.active.value?.summary.value.title ?? "");
      markIcon(waiting > 0);
      void navigator.setAppBadge?.(waiting).catch(() => undefined);
    }),
    effect(() => {
      for (const session of client.open.value) {
        for (const question of openQuestions(session)) {
          if (known.has(question.id)) continue;
          known.add(question.id);
          notify(client, session, question);
        }
      }
    }),
  ];
  return () => stops.forEach((stop) => stop());
}

const canNotify = (): boolean => "Notification" in window;

export const notificationState = (): NotificationPermission | "unsupported" =>
  canNotify() ? Notification.permission : "unsupported";

/** Ask the user; browsers allow that only after a click. */
export async function allowNotifications(): Promise<NotificationPermission | "unsupported"> {
  return canNotify() ? Notification.requestPermission() : "unsupported";
}

function notify(client: AccordClient, session: OpenSession, question: Question): void {
  if (notificationState() !== "granted" || document.hasFocus()) return;
  try {
    const shown = new Notification("An answer is needed", { body: questionTitle(question), tag: question.id });
    shown.onclick = () => {
      window.focus();
      client.active.value = session;
      shown.close();
    };
  } catch {
    // Some phones show notifications only to service workers; the badge must do there.
  }
}

let plainIcon: string | null = null;

function markIcon(marked: boolean): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (link === null) return;
  plainIcon ??= link.href;
  link.href = marked ? MARKED_ICON : plainIcon;
}

const MARKED_ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2c56c4"/><path d="M6 24 14 8l8 16M10 19h8" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/><circle cx="25" cy="8" r="7" fill="#e5484d"/></svg>',
)}`;
