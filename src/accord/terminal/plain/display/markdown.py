"""Streaming Markdown for a terminal: wrapped text, hanging lists, verbatim code, table lines.

Words are printed as they arrive.  Only the beginning of a line waits until its kind is known, and
table rows and code lines wait until they are complete.  Unknown syntax is printed as text.

Invariants
    * A line is never too wide; a word that is wider than a line is broken.
    * Text that arrives in pieces looks the same as text that arrives at once.
    * Nothing that an agent sends can move the cursor or colour the screen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from accord.machine.console.control_characters import unfinished, visible
from accord.terminal.model.text.display_text import columns, cut

__all__ = ["INDENT", "LINE_CHARACTERS_MAX", "Markdown", "Paint", "Prose", "columns", "cut"]

Paint = Callable[[str, str], str]

WORD_CHARACTERS_MAX = 4096
"""A longer word is printed before its end arrives."""

_PIECES = re.compile(r"\s+|\S+")
_MARKS = re.compile(r"(\*\*|`)")


class Prose:
    """A growing paragraph.  Guards: `write` gets only whole words, and each prefix once."""

    def __init__(
        self,
        write: Callable[[str], object],
        paint: Paint,
        *,
        width: int,
        first: str = "",
        rest: str | None = None,
        style: str = "",
    ) -> None:
        """`first` prefixes the first line and `rest` all others; by default both are the same."""
        self._write = write
        self._paint = paint
        self._width = width
        self._begin = first
        self._rest = first if rest is None else rest
        self._style = style
        self._at = 0
        self._word = ""
        self._gap = ""
        # Line endings since the last word: one more would be a second empty line.
        self._breaks = 2
        self._bold = self._code = False

    def feed(self, text: str) -> None:
        """Add text; the last word waits until it is complete."""
        for piece in _PIECES.findall(visible(text)):
            if not piece.isspace():
                self._word += piece
                if len(self._word) >= WORD_CHARACTERS_MAX:
                    self._put_word()
                continue
            self._put_word()
            if "\n" in piece:
                for _ in range(min(piece.count("\n"), 2 - self._breaks)):
                    self._break()
                    self._breaks += 1
                self._gap = ""
                piece = piece.rpartition("\n")[2]
            self._gap = " " if self._at else self._gap + piece

    def end(self) -> None:
        """Print the last word and end its line."""
        self._put_word()
        if self._at:
            self._break()

    def _put_word(self) -> None:
        if not self._word:
            return
        word, self._word = list(self._spans(self._word)), ""
        self._breaks = 0
        wide = sum(columns(text) for text, _ in word)
        if self._at and self._at + len(self._gap) + wide > self._width:
            self._break()
            self._gap = ""
        self._add(self._gap, "")
        for text, style in word:
            self._add(text, style)
        self._gap = ""

    def _add(self, text: str, style: str) -> None:
        for part in cut(text, max(self._width - columns(self._rest), 1)):
            if not part:
                continue
            if self._at and self._at + columns(part) > self._width:
                self._break()
            if not self._at:
                self._write(self._begin)
                self._at = columns(self._begin)
                self._begin = self._rest
            self._write(self._paint(part, f"{self._style} {style}"))
            self._at += columns(part)

    def _break(self) -> None:
        self._write("\n")
        self._at = 0

    def _spans(self, word: str) -> Iterator[tuple[str, str]]:
        """The parts of a word with their styles; an unpaired mark stays."""
        seen = 0
        for part in _MARKS.split(word):
            before, after = seen > 0, seen + len(part) < len(word)
            seen += len(part)
            if part == "`" and (before if self._code else after):
                self._code = not self._code
            elif part == "**" and not self._code and (before if self._bold else after):
                self._bold = not self._bold
            elif part:
                yield part, "code" if self._code else "bold" if self._bold else ""


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
