"""Render live output of commands: colours, the last lines, and a count of earlier ones.

This module does not know tool calls; cards use it for the output of their terminals, and
`terminal_block` shows a terminal that no card shows.

Invariants
    * Output is read once at most, however long a command runs; rendering costs only the shown
      lines.
    * No escape sequence of the output is in any segment: colours are styles.
"""

from __future__ import annotations

from codecs import IncrementalDecoder, getincrementaldecoder
from functools import lru_cache
from weakref import WeakKeyDictionary

from rich.style import Style
from textual.strip import Strip

from accord.machine.console.control_characters import visible
from accord.machine.terminals.output_buffer import EARLIER_OUTPUT_OMITTED
from accord.terminal.model.chat import Chat, Entry
from accord.terminal.model.labels.amounts_and_durations import counted
from accord.terminal.model.labels.stop_reasons_and_exit_codes import exit_words
from accord.terminal.model.text.display_text import one_line, path_words
from accord.terminal.model.text.output_lines import Ink, Line, OutputLines
from accord.terminal.render.block import Block, CachedBlock
from accord.terminal.render.conversation_colours import Palette
from accord.terminal.render.entries.output_colours import colours_of
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import Run, broken, indented, shortened, strip_of, strip_on
from accord.transcript import Terminal, ToolCall, Transcript

FOLDED_LINES = 8
UNFOLDED_LINES = 1000
"""How many of the last lines of output are shown."""
LINES_KEPT = 5000
READ_BYTES_MAX = 128 * 1024
"""How much new output is read at a time; it is more than can be shown."""
COMMAND_LINES_MAX = 4
COMMAND_CHARACTERS_MAX = 2000

_utf8 = getincrementaldecoder("utf-8")


@lru_cache(maxsize=1024)
def ink_style(ink: Ink, palette: Palette) -> Style:
    """Return the style of a command's output; without colours only bold, italic and underline."""
    front, back = colours_of(ink, palette)
    return Style(
        color=front,
        bgcolor=back,
        bold=ink.bold or None,
        dim=ink.dim or None,
        italic=ink.italic or None,
        underline=ink.underline or None,
        reverse=ink.reverse or None,
        strike=ink.strike or None,
    )


def runs_of_line(line: Line, palette: Palette) -> list[Run]:
    """A line of output as runs."""
    return [(run.text, palette.text + ink_style(run.ink, palette)) for run in line]


class OutputRows:
    """The output of one terminal as lines of the screen.

    Guards: every byte is read once at most, and a line that was ended is laid out once per width.
    """

    def __init__(self) -> None:
        self._lines = OutputLines(lines_max=LINES_KEPT)
        self._decoder: IncrementalDecoder = _utf8("replace")
        self._replacements = self._received = 0
        # Lines that were skipped, because too much arrived at once.
        self._passed = 0
        # The rows of each line by its number, for one look and width.
        self._rows: dict[int, list[Strip]] = {}
        self._key: tuple[Palette, int] | None = None

    def read(self, terminal: Terminal) -> None:
        """Read the new output."""
        if terminal.replacements != self._replacements:
            self._lines = OutputLines(lines_max=LINES_KEPT)
            self._decoder.reset()
            self._rows.clear()
            self._replacements, self._received, self._passed = terminal.replacements, 0, 0
        data = terminal.since(self._received)
        self._received = terminal.received
        if len(data) > READ_BYTES_MAX:
            # Only the end is visible; the lines before it are counted.
            start = data.find(b"\n", len(data) - READ_BYTES_MAX) + 1
            self._passed += data.count(b"\n", 0, start)
            data = data[start:]
        if data:
            self._lines.feed(self._decoder.decode(data))

    @property
    def is_empty(self) -> bool:
        """Whether nothing was printed."""
        return self._lines.count == 0

    def last(self, look: Look, width: int, limit: int) -> tuple[list[Strip], int]:
        """Return the last rows, and the number of lines above them."""
        if self._key != (look.palette, width):
            self._rows.clear()
            self._key = (look.palette, width)
        elif len(self._rows) > 2 * LINES_KEPT:
            self._rows.clear()
        lines = self._lines
        found: list[list[Strip]] = []
        used = 0
        above = lines.count
        unended = lines.last
        if unended:
            found.append(self._laid_out(unended, width, limit))
            used, above = len(found[0]), above - 1
        for at in range(len(lines.ended) - 1, -1, -1):
            if used >= limit:
                break
            number = lines.dropped + at
            rows = self._rows.get(number)
            if rows is None:
                rows = self._rows[number] = self._laid_out(lines.ended[at], width, UNFOLDED_LINES)
            found.append(rows)
            used += len(rows)
            above -= 1
        shown = [strip for rows in reversed(found) for strip in rows]
        return shown[-limit:], above + self._passed

    def _laid_out(self, line: Line, width: int, limit: int) -> list[Strip]:
        assert self._key is not None
        palette = self._key[0]
        runs = runs_of_line(line, palette)
        # An endless line is data: only its end is visible.
        room, at = limit * width, len(runs)
        while at and room > 0:
            at -= 1
            room -= len(runs[at][0])
        runs = runs[at:]
        if room < -width:
            runs[0] = (runs[0][0][-room - width :], runs[0][1])
        return [strip_on(part, Style.null()) for part in broken(runs, width)]


def output_lines(
    terminal: Terminal, rows: OutputRows, look: Look, *, folded: bool, indent: str = ""
) -> list[Strip]:
    """Render the output of a command with a bar on the left, and its exit status if it failed."""
    palette = look.palette
    rows.read(terminal)
    bar = f"{indent}{look.mark('│', '|')} "
    width = max(look.width - len(bar), 4)
    shown, above = rows.last(look, width, FOLDED_LINES if folded else UNFOLDED_LINES)
    if above or (terminal.truncated and not rows.is_empty):
        many = f"{counted(above, 'line')} above" if above else EARLIER_OUTPUT_OMITTED
        head = shortened([(f"{look.mark('…', '...')} {many}", palette.dim)], width)
        shown.insert(0, strip_of(*head))
    status = terminal.exit_status
    if status is not None and (status.exit_code or status.signal):
        said = shortened([(exit_words(status), palette.error)], width)
        shown.append(strip_of(*said))
    return indented(shown, (bar, palette.border), (bar, palette.border))


def command_lines(command: str, look: Look, indent: str = "") -> list[Strip]:
    """A command as it would be typed."""
    palette = look.palette
    head = f"{indent}$ "
    clean = visible(command[:COMMAND_CHARACTERS_MAX])
    parts: list[list[Run]] = []
    for line in clean.split("\n"):
        parts += broken([(line, palette.code)], max(look.width - len(head), 4))
    if len(parts) > COMMAND_LINES_MAX or len(command) > COMMAND_CHARACTERS_MAX:
        parts = [*parts[:COMMAND_LINES_MAX], [(look.mark("…", "..."), palette.dim)]]
    strips = [strip_on(part, Style.null()) for part in parts]
    return indented(strips, (head, palette.dim), (" " * len(head), palette.dim))


# ---- terminals of cards, and others

RECENT_CALLS = 64
"""How many of the last calls are checked for new terminals."""


class _ShownTerminals:
    """Tracks which call shows which terminal."""

    __slots__ = ("calls", "revision", "scanned")

    def __init__(self) -> None:
        self.calls: dict[str, ToolCall] = {}
        self.scanned = 0
        self.revision = -1


_showing: WeakKeyDictionary[Transcript, _ShownTerminals] = WeakKeyDictionary()


def is_embedded(terminal_id: str, chat: Chat) -> bool:
    """Whether a call shows the terminal; cheap for any number of calls."""
    showing = _showing.get(chat.transcript)
    if showing is None:
        showing = _showing[chat.transcript] = _ShownTerminals()
    if showing.revision != chat.revision:
        showing.revision = chat.revision
        calls = chat.transcript.tool_calls
        for call in calls[max(showing.scanned - RECENT_CALLS, 0) :]:
            if call.content:
                showing.calls.update(dict.fromkeys(call.terminal_ids, call))
        showing.scanned = len(calls)
    found = showing.calls.get(terminal_id)
    return found is not None and terminal_id in found.terminal_ids


class TerminalBlock(CachedBlock[Terminal]):
    """A terminal outside of any tool call; empty if the card of a call shows it."""

    __slots__ = ("_chat", "_rows")

    is_foldable = True
    is_tight = True

    def __init__(self, entry: Terminal, chat: Chat) -> None:
        super().__init__(entry, folded=True)
        self._chat = chat
        self._rows: OutputRows | None = None

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        terminal, palette = self.entry, look.palette
        if is_embedded(terminal.terminal_id, chat):
            self.release()
            return []
        if self._rows is None:
            self._rows = OutputRows()
        found = command_lines(terminal.command or "a command of the agent", look)
        where = terminal.cwd and path_words(terminal.cwd, chat.folder)
        if where and terminal.cwd != chat.folder:
            found.append(strip_of(*shortened([(f"  in {where}", palette.dim)], look.width)))
        found += output_lines(terminal, self._rows, look, folded=self.folded, indent="  ")
        status = terminal.exit_status
        if status is None:
            found.append(strip_of(*shortened([("  running", palette.running)], look.width)))
        elif not status.exit_code and not status.signal:
            found.append(
                strip_of(*shortened([(f"  {exit_words(status)}", palette.dim)], look.width))
            )
        return found

    def guess(self, look: Look) -> int:
        if is_embedded(self.entry.terminal_id, self._chat):
            return 0
        room = FOLDED_LINES if self.folded else UNFOLDED_LINES
        return 2 + min(self.entry.received // max(look.width, 1) + 1, room)

    def release(self) -> None:
        self._rows = None

    def concerns(self, entry: Entry) -> bool:
        if entry is self.entry:
            return True
        return isinstance(entry, ToolCall) and self.entry.terminal_id in entry.terminal_ids

    def text(self) -> str:
        head = f"$ {one_line(self.entry.command)}\n" if self.entry.command else ""
        lines = OutputLines(self.entry.text).lines
        return head + "\n".join("".join(run.text for run in line) for line in lines)


def terminal_block(entry: Terminal, chat: Chat) -> Block:
    """Create the block of a terminal, run by the agent or by us."""
    return TerminalBlock(entry, chat)
