/* What can be done with a session, from its menu: rename, fork, delete and the rest. */

import { useState } from "preact/hooks";

import type { AccordClient, AgentInfo, OpenSession, SessionSummary } from "../../client/types.ts";
import { messageOf } from "../../prompt/send_prompt.ts";
import { Confirm, Dialog } from "../Dialog.tsx";
import { Menu, type Action } from "../Menu.tsx";
import { sessionTitle } from "./session_list.ts";

interface Props {
  client: AccordClient;
  summary: SessionSummary;
  /** Null: not open; it is opened before anything is done with it. */
  session: OpenSession | null;
  more?: readonly Action[];
}

export function SessionActions({ client, summary, session, more = [] }: Props) {
  const [dialog, setDialog] = useState<"rename" | "delete" | null>(null);
  const act = async (action: (open: OpenSession) => Promise<unknown>): Promise<void> => {
    try {
      client.problem.value = null;
      await action(session ?? (await client.openSession(summary.sessionId)));
    } catch (error) {
      // An open session says itself what failed in it.
      (session ?? client).problem.value = messageOf(error);
    }
  };
  const title = sessionTitle(summary);
  const agent = client.agents.value.find((each) => each.name === summary.agent);
  const actions: Action[] = [
    ...more,
    { name: "Rename", icon: "edit", run: () => setDialog("rename") },
    ...(offers(agent, "fork") ? [{ name: "Fork", icon: "fork", run: () => void act((open) => open.fork()) } as const] : []),
    ...(session ? [{ name: "Close", icon: "close", run: () => void act((open) => open.close()) } as const] : []),
    ...(offers(agent, "delete") ? [{ name: "Delete", icon: "trash", danger: true, run: () => setDialog("delete") } as const] : []),
  ];
  return (
    <>
      <Menu label={`Actions for ${title}`} actions={actions} />
      {dialog === "rename" && <Rename title={summary.title} onRename={(name) => void act((open) => open.rename(name))} onClose={() => setDialog(null)} />}
      {dialog === "delete" && (
        <Confirm
          title="Delete this session?"
          text={`“${title}” and all that was said in it is deleted for everybody. Files that the agent changed stay as they are.`}
          action="Delete"
          onConfirm={() => void act((open) => open.delete())}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  );
}

/** Whether the agent can do it; of one that was not asked yet, nobody knows. */
function offers(agent: AgentInfo | undefined, ability: "fork" | "delete"): boolean {
  const abilities = (agent?.capabilities as { session?: Record<string, unknown> } | null | undefined)?.session;
  return abilities === undefined || abilities[ability] != null;
}

function Rename({ title, onRename, onClose }: { title: string; onRename(title: string): void; onClose(): void }) {
  const [text, setText] = useState(title);
  return (
    <Dialog title="Rename the session" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          if (text.trim() !== title) onRename(text.trim());
        }}
      >
        <label for="session-title">Title</label>
        <input id="session-title" autofocus value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <div class="dialog-actions">
          <button type="button" onClick={onClose}>
            Keep the old one
          </button>
          <button type="submit" class="primary" disabled={text.trim() === ""}>
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  );
}
