"""The demo's screen: what a turn does, line by line, in colour where the terminal has it.

It must not know the connection.  It shows what it is told, in the order in which it is told.

What always holds
    * No line is wider than the terminal; without Unicode there are marks of plain letters.
    * A tool call that the user declined is shown as declined, whatever status it ends with.
"""

import os
import shutil
from collections.abc import Iterator
from difflib import unified_diff
from typing import TextIO

from accord import PermissionRequest, Update
from accord.cli.prose import Prose, columns, cut, harmless
from accord.transcript import FileDiff, Message, Plan, PlanEntry, Terminal, ToolCall

WIDTH_MIN, WIDTH_MAX = 20, 100

_MARKS = {
    "pending": ("○", "-"),
    "in_progress": ("◐", "~"),
    "completed": ("●", "+"),
    "failed": ("✕", "x"),
    "cancelled": ("✕", "x"),
    "call": ("▸", ">"),
}
_STYLES = {"dim": "2", "bold": "1", "green": "32", "red": "31", "cyan": "36", "yellow": "33"}
_STYLES["code"] = _STYLES["cyan"]
_ENDS = {"completed": "green", "failed": "red", "cancelled": "yellow"}


class View:
    """Writes one turn to a stream."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        self._colour = out.isatty() and not plain
        self._unicode = _can_write(out, "".join(pair[0] for pair in _MARKS.values()))
        self._speech: Prose | None = None
        self._speaker: Message | None = None
        # The call whose lines are the last ones on the screen.
        self._call: str | None = None
        self._ended: set[str] = set()
        self._declined: set[str] = set()
        self._diffs: set[str] = set()
        self._printed: dict[str, int] = {}
        self._plan: tuple[PlanEntry, ...] = ()
        self._plan_is_last = False

    # ---- lines

    @property
    def width(self) -> int:
        """How wide a line may be, now: people resize their windows."""
        return min(max(shutil.get_terminal_size().columns, WIDTH_MIN), WIDTH_MAX)

    def paint(self, text: str, style: str) -> str:
        """The text in the styles that are named, if there are colours."""
        codes = [_STYLES[one] for one in style.split()]
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if codes and self._colour else text

    def _mark(self, name: str) -> str:
        return _MARKS.get(name, _MARKS["pending"])[0 if self._unicode else 1]

    def _paragraph(self, first: str, text: str, style: str = "") -> None:
        """Words, wrapped beneath where they began."""
        rest = " " * columns(first)
        prose = Prose(
            self._out.write, self.paint, width=self.width, first=first, rest=rest, style=style
        )
        prose.feed(text)
        prose.end()
        self._out.flush()

    def _verbatim(self, first: str, text: str, style: str = "") -> None:
        """Code and output, line by line, cut where it is too wide."""
        for line in harmless(text).splitlines():
            for part in cut(line.rstrip(), self.width - columns(first)):
                self._out.write(f"{first}{self.paint(part, style)}".rstrip() + "\n")
        self._out.flush()

    def _blank(self) -> None:
        """End what was being said, and leave a line free."""
        self._hush()
        self._call = None
        self._plan_is_last = False
        self._out.write("\n")

    def _hush(self) -> None:
        if self._speech is not None:
            self._speech.end()
            self._speech = self._speaker = None
            self._out.flush()

    # ---- around the turn

    def started(self, name: str, version: int, folder: str) -> None:
        """The agent answers."""
        self._paragraph("", f"{name} speaks ACP v{version}. Its project is in {folder}", "dim")

    def note(self, text: str) -> None:
        """Something to know."""
        self._paragraph("", text, "dim")

    def prompt(self, text: str) -> None:
        """What the user asked."""
        self._blank()
        self._paragraph("> ", text, "bold")

    def finished(self, stop_reason: str) -> None:
        """The turn is over."""
        self._blank()
        text = "The agent is done." if stop_reason == "end_turn" else f"It ended: {stop_reason}."
        self._paragraph("", text, "dim")

    # ---- updates, by their kind

    def show(self, update: Update) -> None:
        """Show one change; kinds that a person need not see are passed over."""
        item = update.item
        if isinstance(item, Message) and update.kind in ("message", "thought"):
            self._say(item, update.text)
        elif isinstance(item, Plan):
            self._show_plan(item)
        elif isinstance(item, ToolCall):
            self._show_call(item)
        elif isinstance(item, Terminal):
            self._show_output(item)

    def _say(self, message: Message, text: str) -> None:
        """The agent's words and thoughts, as they stream."""
        if message is not self._speaker or self._speech is None:
            self._blank()
            style = "dim" if message.role == "thought" else ""
            self._speaker = message
            self._speech = Prose(self._out.write, self.paint, width=self.width, style=style)
        self._speech.feed(text)
        self._out.flush()

    def _show_plan(self, plan: Plan) -> None:
        """All of it at first; then where it stands, when a step is begun or dropped."""
        before, self._plan = self._plan, plan.entries
        if [entry.content for entry in before] != [entry.content for entry in self._plan]:
            self._blank()
            for entry in self._plan:
                self._paragraph(f"  {self._mark(entry.status)} ", entry.content, "cyan")
            return
        marks = "".join(self._mark(entry.status) for entry in self._plan)
        for old, new in zip(before, self._plan, strict=True):
            if new.status == old.status or new.status not in ("in_progress", "cancelled"):
                continue
            if not self._plan_is_last:
                self._blank()
            what = "" if new.status == "in_progress" else " (dropped)"
            self._paragraph(f"  {marks} ", new.content + what, "cyan")
            self._plan_is_last = True

    def _show_call(self, call: ToolCall) -> None:
        """A call when it is first seen, its diff once, and how it ended."""
        if call.tool_call_id in self._ended:
            return
        self._turn_to(call)
        if call.diffs and call.tool_call_id not in self._diffs:
            self._diffs.add(call.tool_call_id)
            for diff in call.diffs:
                self._show_diff(diff)
        if call.is_final:
            self._ended.add(call.tool_call_id)
            word = "declined" if call.tool_call_id in self._declined else call.status
            style = "yellow" if word == "declined" else _ENDS.get(call.status, "")
            self._paragraph(f"    {self._mark(call.status)} ", word, style)

    def _turn_to(self, call: ToolCall) -> None:
        """What follows belongs to this call."""
        if self._call == call.tool_call_id:
            return
        self._blank()
        self._call = call.tool_call_id
        self._paragraph(f"  {self._mark('call')} ", call.title, "bold")

    def _show_diff(self, diff: FileDiff) -> None:
        for line in _lines_of(diff):
            style = {"+": "green", "-": "red"}.get(line[:1], "dim")
            self._verbatim("      ", line, style)

    def _show_output(self, terminal: Terminal) -> None:
        """What a command has printed since."""
        text = terminal.text
        shown = self._printed.get(terminal.terminal_id, 0)
        self._printed[terminal.terminal_id] = len(text)
        if text[shown:].strip():
            self._hush()
            self._verbatim("      ", text[shown:], "dim")

    # ---- asking

    def question(self, request: PermissionRequest) -> None:
        """What the agent wants to do, before the user is asked."""
        if request.tool_call is not None:
            self._show_call(request.tool_call)
        else:
            self._blank()
            self._paragraph(f"  {self._mark('call')} ", request.title, "bold")
        if request.command is not None:
            self._verbatim("      ", f"$ {request.command}", "dim")
        if request.reason:
            self._paragraph("      ", request.reason)

    def ask(self, remark: str) -> None:
        """Put the question itself; the cursor stays behind it."""
        if remark:
            self._paragraph("    ", remark, "yellow")
        self._out.write(f"    {self.paint('Allow it? [y/N]', 'yellow')} ")
        self._out.flush()

    def answered(self, text: str) -> None:
        """What was taken as the answer, where nobody typed it on this screen."""
        self._out.write(f"{text}\n")
        self._out.flush()

    def declined(self, request: PermissionRequest) -> None:
        """The user said no."""
        if request.tool_call is not None:
            self._declined.add(request.tool_call.tool_call_id)


def _can_write(out: TextIO, text: str) -> bool:
    try:
        text.encode(out.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _lines_of(diff: FileDiff) -> Iterator[str]:
    """The changed lines with a little around them, from the patch or from the two texts."""
    if diff.patch is not None:
        lines = diff.patch.splitlines()
    else:
        old, new = (diff.old_text or "").splitlines(), (diff.new_text or "").splitlines()
        lines = list(unified_diff(old, new, lineterm=""))
    for line in lines:
        if not line.startswith(("diff ", "new file", "index ", "---", "+++")):
            yield line
