"""The rows of a picker: which match the search, in which order, and where the cursor is.

This module does not know any screen.

Invariants
    * Without a search the rows are in their own order, under the headings of their groups.
    * With a search the best matches come first; equal matches keep their order.
    * The cursor is on a row as long as there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from accord.machine.file_search.fuzzy_search import is_match

_AT_START, _AT_WORD, _INSIDE, _BESIDE, _SCATTERED = range(5)


@dataclass(frozen=True, slots=True)
class Row:
    """One choice.  All texts are safe and one line.

    `note` is shown on the right; `words` are searched but not shown.  A row that is not `enabled`
    cannot be chosen.
    """

    key: str
    title: str
    description: str = ""
    note: str = ""
    group: str = ""
    current: bool = False
    enabled: bool = True
    words: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Heading:
    """The name of a group, above its rows."""

    text: str


class PickerRows:
    """The rows as they are shown.  Guards the invariants of this module."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self.all: Sequence[Row] = ()
        self.lines: list[Row | Heading] = []
        self.search = ""
        # The line of the row that is meant; -1 where there is none.
        self.cursor = -1
        self._texts: list[str] = []
        self.replace(rows)

    @property
    def chosen(self) -> Row | None:
        """The row that the cursor is on."""
        line = self.lines[self.cursor] if 0 <= self.cursor < len(self.lines) else None
        return line if isinstance(line, Row) else None

    @property
    def has_current(self) -> bool:
        """Whether one of the rows is the current value."""
        return any(row.current for row in self.all)

    def replace(self, rows: Sequence[Row]) -> None:
        """Replace the rows; the cursor stays on the same key."""
        chosen = self.chosen
        is_first = not self.all
        self.all = tuple(rows)
        self._texts = [
            f"{row.title}\n{row.words}\n{row.group}\n{row.description}".casefold() for row in rows
        ]
        self._arrange()
        if chosen is not None:
            self._go_to(lambda row: row.key == chosen.key)
        elif is_first:
            self._go_to(lambda row: row.current)

    def find(self, search: str) -> None:
        """Show the rows that match these words."""
        self.search = search
        self._arrange()
        if not search.strip():
            self._go_to(lambda row: row.current)

    def move(self, step: int) -> None:
        """Move the cursor by a number of rows, up to the ends."""
        rows = [at for at, line in enumerate(self.lines) if isinstance(line, Row)]
        if rows:
            at = rows.index(self.cursor) if self.cursor in rows else 0
            self.cursor = rows[min(max(at + step, 0), len(rows) - 1)]

    def point(self, line: int) -> bool:
        """Put the cursor on a line; False if it is not a row."""
        if 0 <= line < len(self.lines) and isinstance(self.lines[line], Row):
            self.cursor = line
            return True
        return False

    def _go_to(self, wanted: Callable[[Row], bool]) -> None:
        for at, line in enumerate(self.lines):
            if isinstance(line, Row) and wanted(line):
                self.cursor = at
                return

    def _arrange(self) -> None:
        words = self.search.casefold().split()
        self.lines = list(self._found(words)) if words else self._grouped()
        self.cursor = -1
        for at, line in enumerate(self.lines):
            if isinstance(line, Row):
                self.cursor = at
                break

    def _grouped(self) -> list[Row | Heading]:
        found: list[Row | Heading] = []
        group = ""
        for row in self.all:
            if row.group != group and row.group:
                found.append(Heading(row.group))
            group = row.group
            found.append(row)
        return found

    def _found(self, words: list[str]) -> list[Row]:
        scored: list[tuple[int, int]] = []
        for at, text in enumerate(self._texts):
            score = 0
            for word in words:
                place = fitness(word, text)
                if place is None:
                    break
                score += place
            else:
                scored.append((score, at))
        scored.sort()
        return [self.all[at] for _, at in scored]


class SearchedRows(PickerRows):
    """Rows that a function finds for each search, in the order in which it returns them."""

    def __init__(self, search: Callable[[str], Sequence[Row]]) -> None:
        self._search = search
        super().__init__()

    def find(self, search: str) -> None:
        """Show the rows that are found for this text."""
        self.search = search
        self.all = tuple(self._search(search))
        self.lines = list(self.all)
        self.cursor = 0 if self.lines else -1


def fitness(word: str, text: str) -> int | None:
    """How well a word matches a text, lower is better; None if it does not.

    It matches if it is in the text, best in its first line, or if its letters are in the first
    line in order.
    """
    at = text.find(word)
    if at == 0:
        return _AT_START
    title = text.partition("\n")[0]
    if at > len(title):
        return _BESIDE
    if at > 0:
        return _INSIDE if text[at - 1].isalnum() else _AT_WORD
    return _SCATTERED if is_match(word, title) else None
