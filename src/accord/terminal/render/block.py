"""One entry of a conversation as lines, and what a line of it can be used for.

This module does not know the widget that shows the lines.

Invariants
    * A line is at most as wide as the look says.
    * A block begins and ends with no blank line; whoever stacks blocks puts one between them, and
      none between two that are `is_tight`.
    * Rendering again what did not change costs nothing and gives the very same strips.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from accord.terminal.model.chat import Chat, Entry
from accord.terminal.model.text.display_text import columns
from accord.terminal.model.text.display_text import cut as cut_anywhere
from accord.terminal.render.render_options import Look


@dataclass(frozen=True, slots=True)
class Fold:
    """Fold or unfold; `part` names what, "" is the whole block (see `Block.toggle`)."""

    part: str = ""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """Open a file, at a line counted from 1 where one is known."""

    path: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class OpenLink:
    """Show or open an address, after asking."""

    url: str


@dataclass(frozen=True, slots=True)
class CopyText:
    """Put a text on the clipboard."""

    text: str


@dataclass(frozen=True, slots=True)
class OpenSession:
    """Show another session, such as that of a sub-agent."""

    session_id: str


Target: TypeAlias = Fold | OpenFile | OpenLink | CopyText | OpenSession


class Block(Protocol):
    """One entry as lines."""

    @property
    def entry(self) -> Entry:
        """The entry that this block shows."""
        ...

    @property
    def is_foldable(self) -> bool:
        """Whether there is more to see, or less."""
        ...

    @property
    def is_tight(self) -> bool:
        """Whether it stands without a blank line beside another such block."""
        ...

    @property
    def is_unsettled(self) -> bool:
        """Whether what was rendered last may look different though the entry did not change.

        So it is with a time that runs, and with a question about it that waits.
        """
        ...

    folded: bool

    def toggle(self, part: str = "") -> bool:
        """Fold or unfold a part, "" for all of it; whether there is such a part."""
        ...

    def render(self, look: Look, chat: Chat) -> list[Strip]:
        """The lines.  None at all where it is shown elsewhere."""
        ...

    def estimate(self, look: Look) -> int:
        """About how many lines there are, without rendering."""
        ...

    def invalidate(self) -> None:
        """The entry changed, or something around it."""
        ...

    def forget(self) -> None:
        """Let go of everything that can be rendered again."""
        ...

    def concerns(self, entry: Entry) -> bool:
        """Whether a change of this entry changes the block, as a terminal does a tool call."""
        ...

    def target_at(self, line: int) -> Target | None:
        """What a click or Enter on a line means, by the last rendering."""
        ...

    def text(self) -> str:
        """The block as text to copy."""
        ...


EntryT = TypeVar("EntryT")


class CachedBlock(Generic[EntryT]):
    """A block that renders when it must.

    A subclass writes `lines`, and may put targets into `targets` while it does; `lines` is called
    when the entry, the look or the fold changed.  What is kept between two calls of `lines`, such
    as Markdown that grows, is dropped by `release`.
    """

    __slots__ = ("_key", "_lines", "entry", "folded", "is_unsettled", "targets")

    is_foldable: bool = False
    is_tight: bool = False

    def __init__(self, entry: EntryT, *, folded: bool = False) -> None:
        self.entry = entry
        self.folded = folded
        self.is_unsettled = False
        self.targets: dict[int, Target] = {}
        self._lines: list[Strip] | None = None
        self._key: tuple[Look, bool] | None = None

    def lines(self, look: Look, chat: Chat) -> list[Strip]:
        """Render the lines of the block."""
        raise NotImplementedError

    def guess(self, look: Look) -> int:
        """About how many lines `lines` would give."""
        del look
        return 1

    def release(self) -> None:
        """Drop what is kept between two calls of `lines`."""

    def render(self, look: Look, chat: Chat) -> list[Strip]:
        key = (look, self.folded)
        if self._lines is None or key != self._key:
            self.targets = {}
            self._lines = self.lines(look, chat)
            self._key = key
        return self._lines

    def estimate(self, look: Look) -> int:
        if self._lines is not None and self._key == (look, self.folded):
            return len(self._lines)
        return self.guess(look)

    def invalidate(self) -> None:
        self._lines = None

    def forget(self) -> None:
        self._lines = None
        self.targets = {}
        self.release()

    def concerns(self, entry: Entry) -> bool:
        return entry is self.entry

    def toggle(self, part: str = "") -> bool:
        if part or not self.is_foldable:
            return False
        self.folded = not self.folded
        return True

    def target_at(self, line: int) -> Target | None:
        found = self.targets.get(line)
        if found is None and line == 0 and self.is_foldable:
            return Fold()
        return found

    def text(self) -> str:
        said = getattr(self.entry, "text", "")
        return said if isinstance(said, str) else ""


# ---- lines out of pieces


def strip_of(*pieces: tuple[str, Style]) -> Strip:
    """A line of texts that are clean already."""
    return Strip([Segment(text, style) for text, style in pieces if text])


def cut(text: str, width: int, mark: str = "…") -> str:
    """A text in so many cells, with a mark at the end where something was left out."""
    if cell_len(text) <= width:
        return text
    if width <= cell_len(mark):
        return set_cell_size(text, max(width, 0)).rstrip()
    return set_cell_size(text, width - cell_len(mark)).rstrip() + mark


def wrapped(text: str, width: int) -> list[str]:
    """A clean text in lines of so many columns, broken between words where that is possible.

    No terminal takes more columns for a line.
    """
    found: list[str] = []
    for line in text.split("\n"):
        rest = ""
        for word in line.split(" "):
            joined = f"{rest} {word}" if rest else word
            if columns(joined) <= width:
                rest = joined
                continue
            if rest:
                found.append(rest)
            *full, rest = cut_anywhere(word, max(width, 2))
            found.extend(full)
        found.append(rest)
    return found


def indented(
    strips: Iterable[Strip], first: tuple[str, Style], rest: tuple[str, Style] | None = None
) -> list[Strip]:
    """The lines behind a mark; behind `rest`, or as many blanks, from the second on."""
    text, style = first
    other = rest or (" " * cell_len(text), Style.null())
    begin, go_on = Segment(text, style), Segment(*other)
    found: list[Strip] = []
    for number, strip in enumerate(strips):
        found.append(Strip([go_on if number else begin, *strip]))
    return found


def fitted(strips: Sequence[Strip], width: int) -> list[Strip]:
    """The lines, cut where one is wider than allowed after all."""
    return [strip if strip.cell_length <= width else strip.crop(0, width) for strip in strips]


def lines_needed(text: str, width: int) -> int:
    """About how many lines a text takes, at the cost of counting."""
    return text.count("\n") + 1 + len(text) // max(width, 1)


__all__ = [
    "Block",
    "CachedBlock",
    "CopyText",
    "Fold",
    "OpenFile",
    "OpenLink",
    "OpenSession",
    "Target",
    "cut",
    "fitted",
    "indented",
    "lines_needed",
    "strip_of",
    "wrapped",
]
