"""A turn line by line, for `accord run`, which shows one without taking over the screen.

Invariants
    * A denied tool call is shown as denied, and by whom, whatever status it ends with.
    * Everything is printed in the order in which it arrives.
"""

from __future__ import annotations

from accord import PermissionRequest, Update
from accord.terminal.model.labels.amounts_and_durations import counted
from accord.terminal.plain.display.chat_and_run_printer import (
    REASON_LINES_MAX,
    ConversationPrinter,
    Out,
)
from accord.transcript import (
    Compaction,
    Message,
    Notice,
    Plan,
    Terminal,
    ToolCall,
)

LINE_CHARACTERS_MAX = 4096
"""A longer line of a command's output is printed before its end arrives."""

UNPLACED_CHARACTERS_MAX = 65_536
"""Command output that is held until a tool call claims it."""

_STATUS_STYLES = {"completed": "green", "failed": "red", "cancelled": "yellow"}


class TurnPrinter(ConversationPrinter):
    """Writes turns to a stream.  Guards the invariants of this module.

    Without `messages` the agent's messages are left out, because the caller writes them elsewhere;
    without `thoughts` its thoughts are.
    """

    def __init__(self, out: Out, *, messages: bool = True, thoughts: bool = True) -> None:
        super().__init__(out)
        self._messages = messages
        self._thoughts = thoughts
        # By tool call: why it was denied.
        self._denied: dict[str, str] = {}
        # Unfinished lines of commands' output.
        self._begun: dict[str, str] = {}
        # The call that shows each terminal, and the output of terminals that no call shows yet.
        self._callers: dict[str, str] = {}
        self._unplaced: dict[str, tuple[Terminal, str]] = {}

    # ---- around the turn

    def started(self, name: str, version: int, folder: str) -> None:
        """Print that the agent has started."""
        self._paragraph("", f"{name} speaks ACP v{version}. Working in {folder}", "dim")

    def finished(self, stop_reason: str) -> None:
        """Print that the turn is over, and why."""
        self._blank()
        text = (
            "The agent is done." if stop_reason == "end_turn" else f"The turn ended: {stop_reason}."
        )
        self._paragraph("", text, "dim")

    # ---- updates, by their kind

    def show(self, update: Update) -> None:
        """Print one update; kinds that users need not see are skipped."""
        item = update.item
        if isinstance(item, Message):
            shown = {"message": self._messages, "thought": self._thoughts}
            if update.replaces and update.kind in shown:
                self._tell_replaced(item, update.text)
            if shown.get(update.kind) and update.text:
                self._say(item, update.text)
        elif isinstance(item, Plan):
            self._show_plan(item)
        elif isinstance(item, ToolCall):
            self._show_call(item)
        elif isinstance(item, Terminal):
            self._show_output(item, update.text)
        elif isinstance(item, Notice):
            self._show_notice(item)
        elif isinstance(item, Compaction):
            self._show_compaction(item)

    def pause(self) -> None:
        """End the current line, because something else will be printed next."""
        for terminal_id in tuple(self._unplaced):
            self._place(terminal_id)
        super().pause()

    def _tell_replaced(self, message: Message, text: str) -> None:
        """Say that text that is already printed was replaced or withdrawn."""
        what = "thought" if message.role == "thought" else "message"
        self._blank()
        self._paragraph(
            "", f"The agent replaced a {what}:" if text else f"The agent withdrew a {what}.", "dim"
        )

    def _show_plan(self, plan: Plan) -> None:
        """Print the whole plan at first, then only the steps that are begun or dropped."""
        before, self._plan = self._plan, plan.entries
        if [entry.content for entry in before] != [entry.content for entry in self._plan]:
            self._blank()
            for entry in self._plan:
                self._paragraph(f"  {self._mark(entry.status)} ", entry.content, "cyan")
            return
        pairs = zip(before, self._plan, strict=True)
        news = [new for old, new in pairs if new.status != old.status]
        dropped = [entry for entry in news if entry.status == "cancelled"]
        for entry in news:
            if entry.status == "in_progress":
                self._print_step(entry.content)
        if len(dropped) == 1:
            self._print_step(f"{dropped[0].content} (dropped)")
        elif dropped:
            self._print_step(f"{counted(len(dropped), 'step')} dropped")

    def _print_step(self, text: str) -> None:
        if not self._plan_is_last:
            self._blank()
        marks = "".join(self._mark(entry.status) for entry in self._plan)
        self._paragraph(f"  {marks} ", text, "cyan")
        self._plan_is_last = True

    def _show_call(self, call: ToolCall) -> None:
        """Print a call when it is first seen, its diffs once, and how it ended."""
        if call.tool_call_id in self._ended:
            return
        self._turn_to(call)
        self._show_diffs(call)
        for terminal_id in call.terminal_ids:
            self._callers[terminal_id] = call.tool_call_id
            self._place(terminal_id)
        if call.is_final:
            self._end_call(call)

    def _end_call(self, call: ToolCall) -> None:
        self._ended.add(call.tool_call_id)
        denied = self._denied.get(call.tool_call_id)
        word = call.status if denied is None else f"denied: {denied}"
        style = _STATUS_STYLES.get(call.status, "") if denied is None else "yellow"
        self._paragraph(f"    {self._mark(call.status)} ", word, style)
        if call.status == "failed" and denied is None:
            lines = [line for line in call.text.splitlines() if line.strip()]
            self._verbatim("      ", "\n".join(lines[:REASON_LINES_MAX]), "dim")

    def _show_output(self, terminal: Terminal, more: str) -> None:
        """Print new output of a command under the call that shows it.

        A v1 agent starts a command before it says which call it belongs to.
        """
        terminal_id = terminal.terminal_id
        before = self._unplaced[terminal_id][1] if terminal_id in self._unplaced else ""
        self._unplaced[terminal_id] = terminal, before + more
        if terminal_id in self._callers or len(before + more) > UNPLACED_CHARACTERS_MAX:
            self._place(terminal_id)

    def _place(self, terminal_id: str) -> None:
        """Print the held output of one command by lines, and its exit code unless it is 0."""
        if terminal_id not in self._unplaced:
            return
        terminal, more = self._unplaced.pop(terminal_id)
        text = self._begun.pop(terminal_id, "") + more
        ended = terminal.exit_status
        if ended is None and len(text) < LINE_CHARACTERS_MAX:
            text, newline, rest = text.rpartition("\n")
            text += newline
            if rest:
                self._begun[terminal_id] = rest
        lines = [text] if text.strip() else []
        if ended is not None and (ended.exit_code or ended.signal):
            how = f"exit code {ended.exit_code}" if ended.exit_code else f"ended by {ended.signal}"
            lines.append(f"({how})")
        caller = self._callers.get(terminal_id)
        if lines and caller is not None:
            self._head(caller, self._titles[caller])
        for line in lines:
            self._end_speech()
            self._verbatim("      ", line, "dim")

    def denied(self, request: PermissionRequest, why: str) -> None:
        """Note that a request was denied, and why."""
        if request.tool_call is not None:
            self._denied[request.tool_call.tool_call_id] = why
