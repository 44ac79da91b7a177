"""Fit foreign text to a terminal: visible, on one line, in columns.

`accord.machine.console.control_characters` makes text visible; here it is made to fit.
This module does not know agents, entries or screens.

Invariants
    * Every function that shortens or joins text makes it visible first.
    * Cleaning what is clean changes nothing, and cleaning costs the length of the text.
    * Terminals disagree about the width of some characters.  `columns` counts the most that any
      of them takes: text that is broken by it is never pushed off the screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import category, east_asian_width

from accord.machine.console.control_characters import (
    LINE_END,
    MARKS_MAX,
    TAB_COLUMNS,
    WRITTEN_OUT,
    visible,
    visible_line,
)

WORD_MAX = 60
"""The most characters of an agent's value that should be a word."""
_BREAKS = re.compile(r"\s*\n\s*")
# Two columns in some terminals, though Unicode calls them narrow or gives marks no width.
_WIDE_IN_SOME = frozenset(
    chr(number)
    for first, last in (
        *((0x2630, 0x2637), (0x268A, 0x268F), (0x302E, 0x302F), (0x3248, 0x324F)),
        *((0x4DC0, 0x4DFF), (0x16FF0, 0x16FF1), (0x1D300, 0x1D376)),
    )
    for number in range(first, last + 1)
)

exact_line = visible_line


def one_line(text: str, width: int | None = None) -> str:
    """Return the visible text as one line, shortened to a width with an ellipsis."""
    text = _BREAKS.sub(" ", visible(text)).strip()
    if width is None or columns(text) <= width:
        return text
    head = next(cut(text, width - 1)) if width > 1 else ""
    # A letter of two columns does not fit into one.
    return (head if columns(head) < width else "") + "…"[:width]


def exact(text: str) -> str:
    """The text with everything written out that a terminal would not draw; line endings stay."""
    return visible(text, "exact")


def exact_code(line: str) -> str:
    """A line of a file with all that it has; tabs become spaces."""
    return visible(line, "code").replace("\n", LINE_END)


def sgr_only(text: str) -> str:
    """Return the screen content after this output, with colours and nothing else.

    Carriage returns and backspaces have overwritten what they overwrite.
    """
    # Output lines are cleaned by what stands above.
    from accord.terminal.model.text.output_lines import OutputLines

    return OutputLines(text).coloured


def columns(text: str) -> int:
    """How many columns of a terminal a text takes at most."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


@lru_cache(maxsize=8192)
def _columns_of(character: str) -> int:
    if character.isascii():
        return 1
    if character in _WIDE_IN_SOME:
        return 2
    # Spacing marks (Mc), such as the vowels of Hindi, have a column of their own in many terminals.
    if category(character) in ("Mn", "Me") or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> Iterator[str]:
    """The text in parts of at most this width, wherever that cuts it: for code and output."""
    if text.isascii() and width > 0:
        for at in range(0, len(text) or 1, width):
            yield text[at : at + width]
        return
    start = taken = 0
    for at, character in enumerate(text):
        wide = _columns_of(character)
        if at > start and taken + wide > width:
            yield text[start:at]
            start, taken = at, 0
        taken += wide
    yield text[start:]


__all__ = [
    "MARKS_MAX",
    "TAB_COLUMNS",
    "WRITTEN_OUT",
    "columns",
    "cut",
    "exact",
    "exact_code",
    "exact_line",
    "one_line",
    "sgr_only",
]


def path_words(path: str, folder: str) -> str:
    """Return a path for display, relative to the session's folder if it is inside."""
    base = folder.rstrip("/\\")
    if base and path.startswith(base) and path[len(base) : len(base) + 1] in ("/", "\\"):
        path = path[len(base) + 1 :]
    return one_line(path)
