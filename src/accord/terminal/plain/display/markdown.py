"""Streaming Markdown for a terminal: hanging lists, verbatim code, tables as lines.

Words are printed as they arrive.  Only the beginning of a line waits until its kind is known, and
table rows and code lines wait until they are complete.  Unknown syntax is printed as text.

Invariants
    * A line is never too wide, and text cannot control the terminal (`text_wrap.py`).
    * Text that arrives in pieces looks the same as text that arrives at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from accord.machine.console.control_characters import unfinished, visible
from accord.terminal.model.text.display_text import cut
from accord.terminal.plain.display.text_wrap import Paint, Prose

INDENT = "    "
LINE_CHARACTERS_MAX = 4096
"""A longer table row or code line is printed before it is complete."""

_ITEM = re.compile(r"( {0,12})([-*+]|\d{1,3}[.)]) ")
_MARKED = re.compile(r"( {0,3})(#{1,6}|>) ?")
# Lines that may still become an item, a heading or a quotation, a fence or a row.
_OPEN = re.compile(r" *(?:[-+*]|\d{0,3}[.)]?|#{1,6}|>|`{0,2})?$")
_WHOLE = re.compile(r" *(?:```|\|)")
_RULER = re.compile(r"[\s|:-]+$")


class Markdown:
    """A growing message.  Guards: the kind of a line is decided once."""

    def __init__(
        self, write: Callable[[str], object], paint: Paint, *, width: int, style: str = ""
    ) -> None:
        self._write = write
        self._paint = paint
        self._width = width
        self._style = style
        self._prose: Prose | None = None
        # The current line while its kind is unknown.
        self._held = ""
        # The end of the input that cannot be parsed without what follows.
        self._unfinished = ""
        self._decided = False
        self._in_code = False
        self._in_table = False
        # An empty line that is printed only if something follows.
        self._gap = False
        self._begun = False

    def feed(self, text: str) -> None:
        """Add text; an incomplete line ending or colour sequence waits for the rest."""
        text = self._unfinished + text
        self._unfinished = unfinished(text)
        text = text.removesuffix(self._unfinished)
        self._show(text)

    def _show(self, text: str) -> None:
        lines = visible(text).split("\n")
        for line in lines[:-1]:
            self._take(line)
            self._end_line()
        self._take(lines[-1])

    def end(self) -> None:
        """Print what is left at the end of the text."""
        # A carriage return at the very end ends the last line, as in a file.
        self._show(self._unfinished.removesuffix("\r"))
        self._unfinished = ""
        if self._held or self._decided:
            self._end_line()
        self._close()

    def _take(self, part: str) -> None:
        if self._decided:
            if self._prose is not None:
                self._prose.feed(part)
            return
        self._held += part
        if self._held and not self._waits():
            self._decide()

    def _waits(self) -> bool:
        """Whether the line cannot be printed yet."""
        if len(self._held) >= LINE_CHARACTERS_MAX:
            return False
        return bool(self._in_code or _WHOLE.match(self._held) or _OPEN.match(self._held))

    def _end_line(self) -> None:
        if not self._decided:
            if not self._held.strip() and not self._in_code:
                self._close()
                self._held, self._in_table = "", False
                self._gap = self._begun
                return
            self._decide(whole=True)
        if self._prose is not None:
            self._prose.feed("\n")
        self._decided = False

    def _decide(self, *, whole: bool = False) -> None:
        line, self._held, self._decided = self._held, "", True
        if whole and line.lstrip().startswith("```"):
            self._close()
            self._in_code = not self._in_code
        elif self._in_code:
            self._show_code(line)
        elif whole and line.lstrip().startswith("|"):
            self._show_row(line)
        elif item := _ITEM.match(line):
            self._open(item.group(), " " * len(item.group()))
            self._speak(line[item.end() :])
        elif marked := _MARKED.match(line):
            heading = marked.group(2) != ">"
            indent = "" if heading else INDENT
            self._open(indent, indent, "bold" if heading else "dim")
            self._speak(line[marked.end() :])
        else:
            if self._prose is None:
                self._open("", "")
            self._speak(line)

    def _show_code(self, line: str) -> None:
        self._separate()
        for part in cut(line.rstrip(), self._width - len(INDENT)):
            self._write(f"{INDENT}{self._paint(part, 'code')}".rstrip() + "\n")

    def _show_row(self, line: str) -> None:
        if _RULER.match(line):
            return
        style = "" if self._in_table else "dim"
        self._in_table = True
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        self._open("  ", INDENT, style)
        self._speak(": ".join(cell for cell in cells if cell))
        self._close()

    def _open(self, first: str, rest: str, style: str = "") -> None:
        """Start a block on a new line."""
        self._close()
        self._separate()
        styles = f"{self._style} {style}".strip()
        self._prose = Prose(
            self._write, self._paint, width=self._width, first=first, rest=rest, style=styles
        )

    def _speak(self, text: str) -> None:
        assert self._prose is not None
        self._prose.feed(text)

    def _separate(self) -> None:
        if self._gap:
            self._write("\n")
        self._gap, self._begun = False, True

    def _close(self) -> None:
        if self._prose is not None:
            self._prose.end()
            self._prose = None
