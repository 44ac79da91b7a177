"""The demo's screen: lines as they come, with colour where the terminal has it."""

import os
from collections.abc import Iterator
from difflib import unified_diff
from typing import TextIO

from accord import PermissionRequest, Update
from accord.transcript import FileDiff, Plan, Terminal, ToolCall

_MARKS = {"pending": "○", "in_progress": "◐", "completed": "●", "cancelled": "✕"}
_STYLES = {
    "dim": "2",
    "bold": "1",
    "green": "32",
    "red": "31",
    "cyan": "36",
    "yellow": "33",
}


class View:
    """Writes one turn to a stream."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._colour = out.isatty() and "NO_COLOR" not in os.environ
        self._statuses: dict[str, str] = {}
        self._diffs: set[str] = set()
        self._printed: dict[str, int] = {}
        self._steps: list[str] = []
        self._line_open = False
        self._speaking: object = None

    def _paint(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._colour else text

    def _line(self, text: str = "", style: str | None = None) -> None:
        if self._line_open:
            self._out.write("\n")
            self._line_open = False
        self._speaking = None
        self._out.write((self._paint(text, style) if style else text) + "\n")
        self._out.flush()

    # ---- around the turn

    def started(self, name: str, version: int, folder: str) -> None:
        """The agent answers."""
        self._line(f"{name} speaks ACP v{version}; the project is in {folder}", "dim")

    def note(self, text: str) -> None:
        """Something to know."""
        self._line(text, "dim")

    def prompt(self, text: str) -> None:
        """What the user asked."""
        self._line()
        self._line(f"> {text}", "bold")

    def ended(self, stop_reason: str) -> None:
        """The turn is over."""
        self._line()
        self._line(f"the turn ended: {stop_reason}", "dim")

    # ---- updates, by their kind

    def message(self, update: Update) -> None:
        """The agent's words, as they stream."""
        self._stream(update, None)

    def thought(self, update: Update) -> None:
        """The agent's thoughts."""
        self._stream(update, "dim")

    def _stream(self, update: Update, style: str | None) -> None:
        if update.item is not self._speaking:
            self._line()
            self._speaking = update.item
        self._out.write(self._paint(update.text, style) if style else update.text)
        self._out.flush()
        self._line_open = True

    def plan(self, update: Update) -> None:
        """The plan with its ticks, on one line."""
        assert isinstance(update.item, Plan)
        steps = [f"{_MARKS.get(one.status, '?')} {one.content}" for one in update.item.entries]
        # The plan is the live one: updates that came together all show its last state.
        if steps != self._steps:
            self._steps = steps
            self._line("  plan: " + "   ".join(steps), "cyan")

    def tool_call(self, update: Update) -> None:
        """A tool call when its status changes, and its diff once."""
        call = update.item
        assert isinstance(call, ToolCall)
        if self._statuses.get(call.tool_call_id) != call.status:
            self._statuses[call.tool_call_id] = call.status
            style = {"completed": "green", "failed": "red"}.get(call.status, "yellow")
            self._line(f"  {_MARKS.get(call.status, '✕')} {call.title} ({call.status})", style)
        if call.diffs and call.tool_call_id not in self._diffs:
            self._diffs.add(call.tool_call_id)
            for diff in call.diffs:
                self._diff(diff)

    def _diff(self, diff: FileDiff) -> None:
        self._line(f"      {os.path.basename(diff.path)}", "bold")
        for line in _lines_of(diff):
            style = {"+": "green", "-": "red"}.get(line[:1], "dim")
            self._line(f"      {line}", style)

    def terminal(self, update: Update) -> None:
        """What a command prints."""
        terminal = update.item
        assert isinstance(terminal, Terminal)
        shown = self._printed.get(terminal.terminal_id, 0)
        text = terminal.text[shown:]
        self._printed[terminal.terminal_id] = len(terminal.text)
        for line in text.splitlines():
            self._line(f"      {line}", "dim")

    # ---- asking

    def ask(self, request: PermissionRequest) -> bool:
        """Put a question of the agent to the user."""
        self._line()
        self._line(f"  ? {request.title}", "yellow")
        if request.reason:
            self._line(f"    {request.reason}")
        self._out.write("    allow it? [y/N] ")
        self._out.flush()
        return input().strip().lower() in ("y", "yes")


def _lines_of(diff: FileDiff) -> Iterator[str]:
    """The changed lines with a little around them, from the patch or from the two texts."""
    if diff.patch is not None:
        lines = iter(diff.patch.splitlines())
    else:
        old, new = (diff.old_text or "").splitlines(), (diff.new_text or "").splitlines()
        lines = iter(list(unified_diff(old, new, lineterm="")))
    for line in lines:
        if not line.startswith(("diff ", "new file", "index ", "---", "+++")):
            yield line
