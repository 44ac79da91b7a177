"""A part of a long text by lines, numbered, within a number of characters.  Pure.

A line ends with "\\n" and nothing else, as in files.
"""

from __future__ import annotations

from dataclasses import dataclass

LINES_DEFAULT = 2_000
"""Lines that are shown where nobody asks for another number."""

LINE_CHARACTERS_MAX = 2_000
"""Characters that are shown of one line."""

WINDOW_CHARACTERS_MAX = 48_000
"""All characters of a window, so that the note about the rest fits the bound of a result."""


@dataclass(frozen=True)
class Window:
    """Lines `first` to `last` (counted from 1) of a text.  `total` is None where it is unknown."""

    numbered: str
    plain: str
    first: int
    last: int
    total: int | None
    # A line was too long to be shown whole.
    cut: bool

    @property
    def note(self) -> str | None:
        """What is not shown and how to get it; None when everything is."""
        notes: list[str] = []
        if self.total is None or self.first > 1 or self.last < self.total:
            of = "" if self.total is None else f" of {self.total:,}"
            notes.append(f"lines {self.first:,} to {self.last:,}{of}")
        if self.total is None or self.last < self.total:
            notes.append(f"continue with line={self.last + 1}")
        if self.cut:
            notes.append(f"lines are cut after {LINE_CHARACTERS_MAX:,} characters")
        return f"[{'; '.join(notes)}]" if notes else None


def lines_in(text: str) -> int:
    """How many lines a text has; what follows the last newline is one if it is anything."""
    return text.count("\n") + (not text.endswith("\n") and bool(text))


def window(
    text: str, line: int | None = None, limit: int | None = None, *, starts_at: int = 1
) -> Window:
    """The lines from `line` on.  `starts_at` above 1 says that the text is a part of a longer one.

    At least one line is in it, however long, if the text has that line.
    """
    first = max(line or starts_at, starts_at)
    wanted = LINES_DEFAULT if limit is None else max(limit, 1)
    position = _line_start(text, first - starts_at)
    numbered: list[str] = []
    plain_start, number, size, cut = position, first, 0, False
    while position < len(text) and number < first + wanted:
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        shown = text[position : min(end, position + LINE_CHARACTERS_MAX)].rstrip("\r")
        is_cut = end - position > LINE_CHARACTERS_MAX
        entry = f"{number:>6}\t{shown}{'…' if is_cut else ''}"
        size += len(entry) + 1
        if numbered and size > WINDOW_CHARACTERS_MAX:
            break
        cut = cut or is_cut
        numbered.append(entry)
        position = min(end + 1, len(text))
        number += 1
    plain = text[plain_start:position]
    total = starts_at - 1 + lines_in(text)
    return Window("\n".join(numbered), plain, first, number - 1, total, cut)


def _line_start(text: str, skip: int) -> int:
    position = 0
    for _ in range(skip):
        end = text.find("\n", position)
        if end < 0:
            return len(text)
        position = end + 1
    return position
