/* A command that the agent runs: where, what it wrote, and how it ended. */

import { AnsiOutput } from "../content/terminal/AnsiOutput.tsx";
import { CopyButton } from "../content/CopyButton.tsx";
import { titleText, visibleText } from "../content/visible_text.ts";
import type { TerminalItem } from "../transcript/items.ts";
import { useView } from "./view_state.ts";

/** A terminal of the timeline; those of tool calls are shown there. */
export function TerminalView({ terminal }: { terminal: TerminalItem }) {
  const { terminals } = useView();
  if (terminals.isShownByCall(terminal.terminalId)) return null;
  return (
    <div class="item">
      <TerminalPane terminal={terminal} />
    </div>
  );
}

export function TerminalPane({ terminal }: { terminal: TerminalItem }) {
  void terminal.revision.value;
  const { exitStatus: exit, text } = terminal;
  const command = visibleText((terminal.command ?? "").slice(0, 4_000));
  return (
    <div
      class="terminal"
      role="group"
      aria-label={`Terminal: ${titleText(terminal.command, "command").slice(0, 200)}`}
    >
      <div class="terminal-head">
        <div class="terminal-command">
          <span class="soft" aria-hidden="true">
            ${" "}
          </span>
          <code dir="ltr">{command || "(no command was reported)"}</code>
          {terminal.cwd ? (
            <span class="soft small path" dir="ltr">
              {" "}
              in {titleText(terminal.cwd)}
            </span>
          ) : null}
        </div>
        <CopyButton text={() => terminal.text} what="output" />
      </div>
      {text === "" ? null : (
        <AnsiOutput text={text} truncated={terminal.truncated} label="Output of the command" />
      )}
      <Ending exit={exit} isEmpty={text === ""} />
    </div>
  );
}

function Ending({ exit, isEmpty }: { exit: TerminalItem["exitStatus"]; isEmpty: boolean }) {
  if (exit === null) {
    return (
      <p class="terminal-end soft small">
        {isEmpty ? "Running, no output yet" : "Running"} <span class="dots" aria-hidden="true" />
      </p>
    );
  }
  const nothing = isEmpty ? ", no output" : "";
  if (exit.signal)
    return (
      <p class="terminal-end problem small">
        Ended by {titleText(exit.signal)}
        {nothing}
      </p>
    );
  if (exit.exitCode === null || exit.exitCode === undefined)
    return <p class="terminal-end soft small">Ended{nothing}</p>;
  const isGood = exit.exitCode === 0;
  return (
    <p class={`terminal-end small ${isGood ? "soft" : "problem"}`}>
      Exit code {exit.exitCode}
      {nothing}
    </p>
  );
}
