"""Wrap streaming text to the width of the terminal, and style simple Markdown.

This module does not know agents or updates, nor which stream the text goes to.

Invariants
    * A line is never too wide; a word that is wider than a line is broken.
    * Text that arrives in pieces looks the same as text that arrives at once.
    * Nothing that an agent sends can move the cursor or colour the screen.
"""

import re
from collections.abc import Callable, Iterator

from accord.machine.console.control_characters import visible
from accord.terminal.model.text.display_text import columns, cut

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


__all__ = ["Paint", "Prose", "columns", "cut"]
