"""Prints the lines of a conversation: streamed text, tool calls, diffs and questions.

The printer of a chat and that of a turn build on it.  This module does not know the connection.

Invariants
    * No line is wider than the terminal; without Unicode the marks are ASCII.
    * Nothing that an agent sends can move the cursor or colour the screen.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from accord import PermissionRequest
from accord.machine.console.control_characters import visible
from accord.terminal.model.permissions.request_text import (
    OUTSIDE,
    Fact,
    asked_changes,
    facts_of,
    names_path,
    path_words,
    who_asks,
    whole,
)
from accord.terminal.model.text.diff_lines import DiffLine, FileChange, change_of
from accord.terminal.model.text.display_text import columns, cut, exact_line, one_line
from accord.terminal.plain.display.markdown import Markdown, Prose
from accord.transcript import (
    Compaction,
    FileDiff,
    Message,
    Notice,
    PlanEntry,
    ToolCall,
)

_SIGNS = {"same": " ", "added": "+", "removed": "-"}
DIFF_LINES_MAX = 200
"""Printed lines of one file's diff; the rest is counted."""

ANSWER_LINES_MAX = 2
"""Printed lines of one answer to a question."""
MORE_OF_ANSWER = "(? shows it in full)"

REASON_CHARACTERS_MAX = 4_000
"""Printed characters of the reason for a request; the rest is counted."""

REASON_LINES_MAX = 10
"""Printed lines of a failed call's error."""

WIDTH_MIN, WIDTH_MAX = 20, 100

_MARKS = {
    "pending": ("○", "-"),
    "in_progress": ("◐", "~"),
    "completed": ("●", "+"),
    "failed": ("✕", "x"),
    "cancelled": ("✕", "x"),
    "call": ("▸", ">"),
    "said": ("│", "|"),
}
_STYLES = {"dim": "2", "bold": "1", "green": "32", "red": "31", "cyan": "36", "yellow": "33"}
_STYLES["code"] = _STYLES["cyan"]


class Out(Protocol):
    """Where the lines go: a text stream, or a buffer that is written later."""

    def write(self, text: str, /) -> object:
        """Write text to the stream."""
        ...

    def flush(self) -> object:
        """Show what was written."""
        ...

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        ...

    @property
    def encoding(self) -> str:
        """The name of the character encoding."""
        ...


class ConversationPrinter:
    """Writes the lines of a conversation to a stream.  Guards the invariants of this module."""

    def __init__(self, out: Out) -> None:
        self._out = out
        plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        self._colour = out.isatty() and not plain
        self._unicode = _can_write(out, "".join(pair[0] for pair in _MARKS.values()))
        self._speech: Markdown | None = None
        self._speaker: Message | None = None
        # The call whose lines are the last ones on the screen.
        self._call: str | None = None
        self._ended: set[str] = set()
        self._titles: dict[str, str] = {}
        # The diffs of each call that were shown, to show them again when they change.
        self._diffs: dict[str, tuple[FileDiff, ...]] = {}
        self._plan: tuple[PlanEntry, ...] = ()
        self._plan_is_last = False

    # ---- lines

    @property
    def width(self) -> int:
        """The current width of a line; windows are resized."""
        return min(max(shutil.get_terminal_size().columns, WIDTH_MIN), WIDTH_MAX)

    def paint(self, text: str, style: str) -> str:
        """The text in the named styles, if there are colours."""
        codes = [_STYLES[one] for one in style.split()]
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if codes and self._colour else text

    def _mark(self, name: str) -> str:
        return _MARKS.get(name, _MARKS["pending"])[0 if self._unicode else 1]

    def _paragraph(self, first: str, text: str, style: str = "") -> None:
        """Print wrapped text with a hanging indent."""
        rest = " " * columns(first)
        prose = Prose(
            self._out.write, self.paint, width=self.width, first=first, rest=rest, style=style
        )
        prose.feed(text)
        prose.end()
        self._out.flush()

    def _verbatim(self, first: str, text: str, style: str = "") -> None:
        """Print code or output by lines, broken where they are too wide."""
        for line in visible(text).splitlines():
            for part in cut(line.rstrip(), self.width - columns(first)):
                self._out.write(f"{first}{self.paint(part, style)}".rstrip() + "\n")
        self._out.flush()

    def _blank(self) -> None:
        """End the current message and print an empty line."""
        self._end_speech()
        self._call = None
        self._plan_is_last = False
        self._out.write("\n")

    def _end_speech(self) -> None:
        if self._speech is not None:
            self._speech.end()
            self._speech = self._speaker = None
            self._out.flush()

    def note(self, text: str) -> None:
        """Print a remark in dim text."""
        self._paragraph("", text, "dim")

    def pause(self) -> None:
        """End the current line, because something else will be printed next."""
        self._end_speech()

    def prompt(self, text: str) -> None:
        """Print the user's prompt."""
        self._blank()
        self._paragraph("> ", text, "bold")

    def _say(self, message: Message, text: str) -> None:
        """Print more of a message or thought as it streams."""
        if message is not self._speaker or self._speech is None:
            self._blank()
            self._introduce(message)
            style = "dim" if message.role == "thought" else ""
            self._speaker = message
            self._speech = Markdown(self._out.write, self.paint, width=self.width, style=style)
        self._speech.feed(text)
        self._out.flush()

    def _introduce(self, message: Message) -> None:
        """Print a label before a message; a hook for subclasses."""

    def _show_diffs(self, call: ToolCall, *, asked: bool = False) -> None:
        """Print new diffs.

        A diff that the agent rewrites while it works is printed again only with a question.
        """
        shown = self._diffs.get(call.tool_call_id, ())
        title = one_line(call.title or "")
        new = [diff for diff in call.diffs if diff not in shown] if asked else ()
        for diff in new if asked else call.diffs[len(shown) :]:
            self._show_diff(diff, named=not names_path(title, self._near(diff.path)))
        if asked or len(call.diffs) > len(shown):
            self._diffs[call.tool_call_id] = tuple(call.diffs)

    def _near(self, path: str) -> str:
        """A path as it is printed above a diff."""
        return exact_line(path)

    def _turn_to(self, call: ToolCall) -> None:
        """Print the title of the call that the next lines belong to."""
        self._head(call.tool_call_id, one_line(call.title or call.name or call.kind))

    def _head(self, call_id: str, title: str) -> None:
        """Print the title of a call, unless its lines are the last ones on the screen."""
        if self._call == call_id and self._titles.get(call_id) == title:
            return
        if self._call != call_id:
            self._blank()
        self._end_speech()
        self._call = call_id
        self._titles[call_id] = title
        self._paragraph(f"  {self._mark('call')} ", title, "bold")

    def _show_diff(self, diff: FileDiff, *, named: bool) -> None:
        if named:
            self._exactly("      ", self._near(diff.path), "dim")
        change = change_of(diff)
        lines = list(_lines_of(change))
        for line in lines[:DIFF_LINES_MAX]:
            style = {"+": "green", "-": "red"}.get(line[:1], "dim")
            self._verbatim("      ", line, style)
        if len(lines) > DIFF_LINES_MAX:
            more = f"({len(lines) - DIFF_LINES_MAX + change.left_out} more lines)"
            self._verbatim("      ", more, "dim")

    def _show_notice(self, notice: Notice) -> None:
        self._blank()
        text = one_line(notice.title)
        if notice.description:
            text = f"{text}: {notice.description}"
        style = {"error": "red", "warning": "yellow"}.get(notice.severity, "dim")
        self._paragraph("! ", text, style)

    def _show_compaction(self, compaction: Compaction) -> None:
        """Print that the agent compacts its context, and the result."""
        said = {
            "in_progress": "The agent is compacting its context.",
            "completed": "The agent compacted its context.",
            "failed": f"Compacting the context failed: {compaction.error or 'no reason given'}",
            "cancelled": "Compacting the context was cancelled.",
        }.get(compaction.status, f"Context compaction: {one_line(compaction.status)}")
        if said != self._titles.get(compaction.compaction_id):
            self._titles[compaction.compaction_id] = said
            self._blank()
            self._paragraph("", said, "dim")

    # ---- asking

    def question(
        self, request: PermissionRequest, folder: str, add_dirs: Sequence[str] = (), name: str = ""
    ) -> None:
        """Print everything known about what the agent wants to do.

        The effect comes last, right above the question.  The agent's text is indented further than
        ours so that no line of it looks like one of ours.
        """
        call = request.tool_call
        if call is not None:
            self._show_asked(call)
        else:
            self._blank()
            self._paragraph(f"  {self._mark('call')} ", one_line(request.title), "bold")
            for diff in asked_changes(request):
                self._show_diff(diff, named=False)
        if request.origin != "agent":
            self._paragraph("      ", who_asks(request, name), "yellow")
        if request.reason:
            self._paragraph("      Why: ", request.reason[:REASON_CHARACTERS_MAX])
            if len(request.reason) > REASON_CHARACTERS_MAX:
                more = len(request.reason) - REASON_CHARACTERS_MAX
                self._paragraph("      ", f"({more:,} more characters not shown)", "dim")
        if call is not None and call.text.strip() not in ("", (request.reason or "").strip()):
            for line in whole(call.text.strip("\n")).split("\n"):
                self._exactly(f"      {self._mark('said')} ", line)
        title = one_line(request.title if call is None else call.title or "")
        changed = {path_words(diff.path, folder, add_dirs) for diff in call.diffs} if call else ()
        for fact in facts_of(request, folder, add_dirs):
            is_told = fact.kind == "path" and (
                names_path(title, fact.text) or (fact.text in changed and OUTSIDE not in fact.text)
            )
            if not is_told:
                self._fact(fact)

    def _show_asked(self, call: ToolCall) -> None:
        self._turn_to(call)
        self._show_diffs(call, asked=True)

    def _fact(self, fact: Fact) -> None:
        self._end_speech()
        if fact.kind == "command":
            # As in a shell: each line behind a prompt of ours.
            for number, line in enumerate(fact.text.split("\n")):
                self._exactly("      > " if number else "      $ ", line)
            return
        label = f"{fact.label}: " if fact.label else ""
        style = {"json": "dim", "warning": "yellow"}.get(fact.kind, "")
        first, *rest = fact.text.split("\n")
        self._exactly(f"      {label}", first, style)
        for line in rest:
            self._exactly("        ", line, style)

    def _exactly(self, first: str, line: str, style: str = "") -> None:
        """Print a line that is already safe, broken where it is too wide."""
        rest = " " * columns(first)
        for number, part in enumerate(cut(line.rstrip(), self.width - columns(first))):
            shown = f"{rest if number else first}{self.paint(part, style)}"
            self._out.write(shown.rstrip() + "\n")
        self._out.flush()

    def answers(self, choices: Iterable[tuple[str, str]], *, whole: bool = False) -> None:
        """Print the possible answers, above the question itself.

        Unless `whole` is set they are shortened, so that the request stays in view.
        """
        for key, text in choices:
            first = f"      {key}  "
            room = (self.width - columns(first)) * ANSWER_LINES_MAX - len(MORE_OF_ANSWER) - 8
            if not whole and columns(text) > room:
                text = f"{one_line(text, room)} {MORE_OF_ANSWER}"
            self._paragraph(first, text, "dim")

    def ask(self, remark: str, words: str = "Allow it? [y/N]") -> None:
        """Print the question; the cursor stays behind it."""
        if remark:
            self._paragraph("    ", remark, "yellow")
        self._out.write(f"    {self.paint(words, 'yellow')} ")
        self._out.flush()

    def answered(self, text: str) -> None:
        """Print the answer that was used when it was not typed here."""
        self._out.write(f"{text}\n")
        self._out.flush()


def _can_write(out: Out, text: str) -> bool:
    try:
        text.encode(out.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _lines_of(change: FileChange) -> Iterator[str]:
    """The changed lines with their context; before each hunk its line number."""
    where = ""
    for line in (DiffLine("hunk", ""), *change.lines):
        if line.kind == "hunk":
            where = f" {line.text}"
            continue
        if where and line.kind != "note":
            yield f"@@ line {line.new or line.old} @@{where}".rstrip()
            where = ""
        yield f"{_SIGNS.get(line.kind, '')}{line.text}"
