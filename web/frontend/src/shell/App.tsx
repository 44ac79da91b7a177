/* The page: the sessions beside the open ones, the state of the connection above, the traffic below. */

import "../styles/base.css";
import "./shell.css";

import { useEffect, useRef, useState } from "preact/hooks";

import type { AccordClient, OpenSession } from "../client/types.ts";
import { LoginPage } from "../questions/LoginPanel.tsx";
import { Grants } from "../questions/grants.ts";
import { GrantsList } from "../questions/GrantsList.tsx";
import { openQuestions, questionTitle } from "../questions/QuestionQueue.tsx";
import { messageOf } from "../prompt/send_prompt.ts";
import { followAddress } from "./address.ts";
import { callForAttention, waitingCount } from "./attention.ts";
import { ConnectionBanner } from "./ConnectionBanner.tsx";
import { Dialog } from "./Dialog.tsx";
import { Icon } from "./Icon.tsx";
import { KeyboardHelp } from "./KeyboardHelp.tsx";
import type { Action } from "./Menu.tsx";
import { NewSession } from "./sessions/NewSession.tsx";
import { SessionList } from "./sessions/SessionList.tsx";
import { SessionPane } from "./sessions/SessionPane.tsx";
import { shortcutOf } from "./shortcuts.ts";
import { Sidebar } from "./Sidebar.tsx";
import { TrafficDrawer } from "./traffic/TrafficDrawer.tsx";
import { usePanes } from "./use_panes.ts";

type DialogName = "new" | "help" | "grants";

export function App({ client }: { client: AccordClient }) {
  const page = useRef<HTMLDivElement>(null);
  const grants = useRef<Grants>(null);
  grants.current ??= new Grants();
  const [dialog, setDialog] = useState<DialogName | null>(null);
  const [hasTraffic, setTraffic] = useState(false);
  const [isListOpen, setListOpen] = useState(false);
  const panes = usePanes(client);
  const connection = client.connection.value;

  useEffect(() => callForAttention(client), [client]);
  useEffect(() => followAddress(client, (error) => (client.problem.value = messageOf(error))), [client]);
  useKeys({
    answer: () => goToQuestion(client, page.current),
    prompt: () => focusIn(page.current, ".pane.active .composer-text"),
    new: () => setDialog("new"),
    search: () => {
      setListOpen(true);
      requestAnimationFrame(() => focusIn(page.current, "#session-search"));
    },
    changes: () => panes.active && panes.setSide(panes.active, panes.sideOf(panes.active) ? null : { view: "changes" }),
    previous: () => panes.step(-1),
    next: () => panes.step(1),
    traffic: () => setTraffic(!hasTraffic),
    help: () => setDialog("help"),
  });

  if (connection.state === "refused" && connection.canLogIn) {
    return <LoginPage client={client} why={connection.why} />;
  }
  const listButton = <ListButton waiting={waitingCount(client)} isOpen={isListOpen} onClick={() => setListOpen(!isListOpen)} />;
  const closeDialog = (): void => setDialog(null);
  const besideActions = (session: OpenSession): Action[] => {
    if (panes.open.length < 2) return [];
    return panes.isBeside(session)
      ? [{ name: "Show alone", icon: "columns", run: () => panes.showAlone(session) }]
      : [{ name: "Show beside the others", icon: "columns", run: () => panes.showBeside(session) }];
  };
  return (
    <div class="page" ref={page}>
      <header class="hidden-text">
        <h1>Accord</h1>
      </header>
      <ConnectionBanner client={client} />
      <Announcement client={client} />
      <div class={isListOpen ? "page-body list-open" : "page-body"}>
        <Sidebar
          onNew={() => setDialog("new")}
          onGrants={() => setDialog("grants")}
          onTraffic={() => setTraffic(!hasTraffic)}
          onHelp={() => setDialog("help")}
          onLogOut={() => void client.logOut().catch((error: unknown) => (client.problem.value = messageOf(error)))}
          onClose={() => setListOpen(false)}
        >
          <SessionList client={client} onOpened={() => setListOpen(false)} />
        </Sidebar>
        <main class="panes">
          {panes.visible.length === 0 && (
            <>
              <div class="phone-head">{listButton}</div>
              <Welcome client={client} />
            </>
          )}
          <div class="pane-row">
            {panes.visible.map((session) => (
              <SessionPane
                key={session.summary.value.sessionId}
                client={client}
                session={session}
                grants={grants.current!}
                isActive={session === panes.active}
                side={panes.sideOf(session)}
                onSide={(side) => panes.setSide(session, side)}
                more={besideActions(session)}
                lead={listButton}
              />
            ))}
          </div>
        </main>
      </div>
      {hasTraffic && <TrafficDrawer client={client} onClose={() => setTraffic(false)} />}
      {dialog === "new" && (
        <Dialog title="New session" onClose={closeDialog}>
          <NewSession client={client} onDone={closeDialog} />
        </Dialog>
      )}
      {dialog === "help" && <KeyboardHelp onClose={closeDialog} />}
      {dialog === "grants" && (
        <Dialog title="Lasting answers" onClose={closeDialog}>
          <GrantsList client={client} grants={grants.current} onDone={closeDialog} />
        </Dialog>
      )}
    </div>
  );
}

function Welcome({ client }: { client: AccordClient }) {
  return (
    <div class="welcome">
      <h2>Start a session</h2>
      <p class="soft">Choose what the agent works on, or open one of the sessions in the list.</p>
      <NewSession client={client} onDone={() => undefined} />
    </div>
  );
}

/** On a phone, where the list hides the sessions and they hide the list. */
function ListButton({ waiting, isOpen, onClick }: { waiting: number; isOpen: boolean; onClick(): void }) {
  return (
    <button type="button" class="quiet icon phone-only list-button" aria-expanded={isOpen} onClick={onClick}>
      <Icon name="menu" />
      <span class="hidden-text">Sessions</span>
      {waiting > 0 && (
        <span class="waiting-count">
          {waiting} <span class="hidden-text">{waiting === 1 ? "question waits" : "questions wait"}</span>
        </span>
      )}
    </button>
  );
}

/** Read aloud at once when an agent asks. */
function Announcement({ client }: { client: AccordClient }) {
  const asking = client.open.value.flatMap((session) => openQuestions(session).map(questionTitle));
  return (
    <p class="hidden-text" role="alert">
      {asking.length > 0 && `The agent asks: ${asking[0]}. Press Alt and A to answer.`}
    </p>
  );
}

const focusIn = (root: HTMLElement | null, selector: string): void => root?.querySelector<HTMLElement>(selector)?.focus();

/** The question of the active session first, then of any other. */
function goToQuestion(client: AccordClient, page: HTMLElement | null): void {
  const asking = [client.active.value, ...client.open.value].find((session) => session && openQuestions(session).length > 0);
  if (!asking) return;
  client.active.value = asking;
  requestAnimationFrame(() => focusIn(page, ".pane.active .questions > section"));
}

function useKeys(actions: Record<NonNullable<ReturnType<typeof shortcutOf>>, () => void>): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const name = shortcutOf(event);
      // A modal dialog has the page to itself.
      if (name === null || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      latest.current[name]();
    };
    // A file that is dropped beside a session must not replace the page.
    const onDrop = (event: Event): void => event.preventDefault();
    document.addEventListener("keydown", onKeyDown);
    document.addEventListener("dragover", onDrop);
    document.addEventListener("drop", onDrop);
    return () => {
      document.removeEventListener("keydown", onKeyDown);
      document.removeEventListener("dragover", onDrop);
      document.removeEventListener("drop", onDrop);
    };
  }, []);
}
