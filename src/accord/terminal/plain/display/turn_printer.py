"""A conversation line by line: what a turn does, in colour where the terminal has it.

For every command that shows a turn without taking over the screen.  It must not know the
connection.  It shows what it is told, in the order in which it is told.

What always holds
    * No line is wider than the terminal; without Unicode there are marks of plain letters.
    * A tool call that was refused is shown as denied, and by whom, whatever status it ends with.
    * Nothing that an agent sends can move the cursor or colour the screen.
"""

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from accord import PermissionRequest, Update
from accord.machine.console.control_characters import visible
from accord.terminal.model.permissions.request_text import (
    OUTSIDE,
    Fact,
    facts_of,
    names_path,
    path_words,
    who_asks,
    whole,
)
from accord.terminal.model.permissions.requested_changes import asked_changes
from accord.terminal.model.text.diff_lines import DiffLine, FileChange, change_of
from accord.terminal.model.text.display_text import columns, cut, exact_line, one_line
from accord.terminal.plain.display.markdown import Markdown
from accord.terminal.plain.display.text_wrap import Prose
from accord.transcript import (
    Compaction,
    FileDiff,
    Message,
    Notice,
    Plan,
    PlanEntry,
    Terminal,
    ToolCall,
)

_SIGNS = {"same": " ", "added": "+", "removed": "-"}
DIFF_LINES_MAX = 200
"""Lines of one file's diff that are shown; the rest is counted."""

LINE_CHARACTERS_MAX = 4096
"""A line of a command's output that is longer is shown before its end has come."""

ANSWER_LINES_MAX = 2
"""Lines of one answer below a question."""
MORE_OF_ANSWER = "(? shows all)"

UNPLACED_CHARACTERS_MAX = 65_536
"""Output of a command that is held until a call says that it is its own."""

REASON_CHARACTERS_MAX = 4_000
"""Of what is given as a reason to allow something; more is counted."""

REASON_LINES_MAX = 10
"""Lines of what a failed call says."""

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
_ENDS = {"completed": "green", "failed": "red", "cancelled": "yellow"}


class Out(Protocol):
    """Where the lines go: a text stream, or something that is written out later."""

    def write(self, text: str, /) -> object:
        """Take text."""
        ...

    def flush(self) -> object:
        """What was taken may be shown."""
        ...

    def isatty(self) -> bool:
        """Whether a person sees it."""
        ...

    @property
    def encoding(self) -> str:
        """Which letters it has."""
        ...


class Printer:
    """Writes turns to a stream.

    Without `messages` the agent's words are left out, for whoever writes them elsewhere; without
    `thoughts` what it thinks is.
    """

    def __init__(self, out: Out, *, messages: bool = True, thoughts: bool = True) -> None:
        self._out = out
        self._messages = messages
        self._thoughts = thoughts
        plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        self._colour = out.isatty() and not plain
        self._unicode = _can_write(out, "".join(pair[0] for pair in _MARKS.values()))
        self._speech: Markdown | None = None
        self._speaker: Message | None = None
        # The call whose lines are the last ones on the screen.
        self._call: str | None = None
        self._ended: set[str] = set()
        # By tool call: why it was not allowed, in words.
        self._denied: dict[str, str] = {}
        self._titles: dict[str, str] = {}
        # What was shown of each call, to show it again where it has changed since.
        self._diffs: dict[str, tuple[FileDiff, ...]] = {}
        # Lines of commands' output whose end has not come.
        self._begun: dict[str, str] = {}
        # Which call shows a terminal, and the output of those that no call shows yet.
        self._callers: dict[str, str] = {}
        self._unplaced: dict[str, tuple[Terminal, str]] = {}
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
        for line in visible(text).splitlines():
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
        """End the line that is being written: something else comes in between."""
        for terminal_id in tuple(self._unplaced):
            self._place(terminal_id)
        self._hush()

    def _say(self, message: Message, text: str) -> None:
        """The agent's words and thoughts, as they stream."""
        if message is not self._speaker or self._speech is None:
            self._blank()
            self._introduce(message)
            style = "dim" if message.role == "thought" else ""
            self._speaker = message
            self._speech = Markdown(self._out.write, self.paint, width=self.width, style=style)
        self._speech.feed(text)
        self._out.flush()

    def _tell_replaced(self, message: Message, text: str) -> None:
        """Say that what stands on the screen already counts no more."""
        what = "thought" if message.role == "thought" else "message"
        self._blank()
        self._paragraph(
            "", f"The agent replaced a {what}:" if text else f"The agent withdrew a {what}.", "dim"
        )

    def _introduce(self, message: Message) -> None:
        """Say who speaks, where the words do not tell."""

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
        self._show_diffs(call)
        for terminal_id in call.terminal_ids:
            self._callers[terminal_id] = call.tool_call_id
            self._place(terminal_id)
        if call.is_final:
            self._end_call(call)

    def _show_diffs(self, call: ToolCall, *, asked: bool = False) -> None:
        """Diffs that are new.  An agent may also rewrite one while it works: that is shown only
        where somebody is asked about it.
        """
        shown = self._diffs.get(call.tool_call_id, ())
        title = one_line(call.title or "")
        new = [diff for diff in call.diffs if diff not in shown] if asked else ()
        for diff in new if asked else call.diffs[len(shown) :]:
            self._show_diff(diff, named=not names_path(title, self._near(diff.path)))
        if asked or len(call.diffs) > len(shown):
            self._diffs[call.tool_call_id] = tuple(call.diffs)

    def _near(self, path: str) -> str:
        """A path as it is shown above a change."""
        return exact_line(path)

    def _end_call(self, call: ToolCall) -> None:
        self._ended.add(call.tool_call_id)
        denied = self._denied.get(call.tool_call_id)
        word = call.status if denied is None else f"denied: {denied}"
        style = _ENDS.get(call.status, "") if denied is None else "yellow"
        self._paragraph(f"    {self._mark(call.status)} ", word, style)
        if call.status == "failed" and denied is None:
            lines = [line for line in call.text.splitlines() if line.strip()]
            self._verbatim("      ", "\n".join(lines[:REASON_LINES_MAX]), "dim")

    def _turn_to(self, call: ToolCall) -> None:
        """What follows belongs to this call."""
        self._head(call.tool_call_id, one_line(call.title or call.name or call.kind))

    def _head(self, call_id: str, title: str) -> None:
        """Name the call, unless its lines are the last ones on the screen."""
        if self._call == call_id and self._titles.get(call_id) == title:
            return
        if self._call != call_id:
            self._blank()
        self._hush()
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
            more = f"({len(lines) - DIFF_LINES_MAX + change.left_out} lines more)"
            self._verbatim("      ", more, "dim")

    def _show_output(self, terminal: Terminal, more: str) -> None:
        """What a command has printed since, under the call that shows it.

        A v1 agent starts a command before it says which call that is for.
        """
        terminal_id = terminal.terminal_id
        before = self._unplaced[terminal_id][1] if terminal_id in self._unplaced else ""
        self._unplaced[terminal_id] = terminal, before + more
        if terminal_id in self._callers or len(before + more) > UNPLACED_CHARACTERS_MAX:
            self._place(terminal_id)

    def _place(self, terminal_id: str) -> None:
        """Print line by line what waits of one command, and how it ended if that is news."""
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
            self._hush()
            self._verbatim("      ", line, "dim")

    def _show_notice(self, notice: Notice) -> None:
        self._blank()
        text = one_line(notice.title)
        if notice.description:
            text = f"{text}: {notice.description}"
        style = {"error": "red", "warning": "yellow"}.get(notice.severity, "dim")
        self._paragraph("! ", text, style)

    def _show_compaction(self, compaction: Compaction) -> None:
        """That the agent shortens what it remembers, and how that ended; not each step."""
        said = {
            "in_progress": "The agent shortens what it remembers of the conversation.",
            "completed": "It has shortened what it remembers.",
            "failed": f"It could not shorten what it remembers: {compaction.error or 'no reason'}",
            "cancelled": "It was stopped while it shortened what it remembers.",
        }.get(compaction.status, f"What it remembers: {one_line(compaction.status)}")
        if said != self._titles.get(compaction.compaction_id):
            self._titles[compaction.compaction_id] = said
            self._blank()
            self._paragraph("", said, "dim")

    # ---- asking

    def question(
        self, request: PermissionRequest, folder: str, add_dirs: Sequence[str] = (), name: str = ""
    ) -> None:
        """All that is known about what the agent wants to do, before the user is asked.

        What would happen comes last, right above the question.  Lines of the agent's words are
        indented further than ours, so that none of them looks like one.
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
                self._paragraph("      ", f"({more:,} more characters of it are not shown)", "dim")
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
        self._hush()
        if fact.kind == "command":
            # As a shell shows what was typed: each line of it behind a mark of ours.
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
        """A line that is visible already, cut where it is too wide."""
        rest = " " * columns(first)
        for number, part in enumerate(cut(line.rstrip(), self.width - columns(first))):
            shown = f"{rest if number else first}{self.paint(part, style)}"
            self._out.write(shown.rstrip() + "\n")
        self._out.flush()

    def answers(self, choices: Iterable[tuple[str, str]], *, whole: bool = False) -> None:
        """What each answer means, before the question itself.

        Unless the whole is wanted, so much of each that what is asked about stays in view.
        """
        for key, text in choices:
            first = f"      {key}  "
            room = (self.width - columns(first)) * ANSWER_LINES_MAX - len(MORE_OF_ANSWER) - 8
            if not whole and columns(text) > room:
                text = f"{one_line(text, room)} {MORE_OF_ANSWER}"
            self._paragraph(first, text, "dim")

    def ask(self, remark: str, words: str = "Allow it? [y/N]") -> None:
        """Put the question itself; the cursor stays behind it."""
        if remark:
            self._paragraph("    ", remark, "yellow")
        self._out.write(f"    {self.paint(words, 'yellow')} ")
        self._out.flush()

    def answered(self, text: str) -> None:
        """What was taken as the answer, where nobody typed it on this screen."""
        self._out.write(f"{text}\n")
        self._out.flush()

    def denied(self, request: PermissionRequest, why: str) -> None:
        """It was not allowed, and why."""
        if request.tool_call is not None:
            self._denied[request.tool_call.tool_call_id] = why


def _can_write(out: Out, text: str) -> bool:
    try:
        text.encode(out.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _lines_of(change: FileChange) -> Iterator[str]:
    """The changed lines with a little around them; before each part, where in the file it is."""
    where = ""
    for line in (DiffLine("hunk", ""), *change.lines):
        if line.kind == "hunk":
            where = f" {line.text}"
            continue
        if where and line.kind != "note":
            yield f"@@ line {line.new or line.old} @@{where}".rstrip()
            where = ""
        yield f"{_SIGNS.get(line.kind, '')}{line.text}"
