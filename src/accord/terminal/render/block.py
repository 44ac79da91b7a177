"""One entry of a conversation as lines, and what a click on a line does.

This module does not know the widget that shows the lines.

Invariants
    * A line is at most as wide as the look says.
    * A block does not begin or end with a blank line; the caller puts one between blocks, except
      between two that are `is_tight`.
    * Rendering an unchanged block again costs nothing and returns the same strips.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

from textual.strip import Strip

from accord.terminal.model.chat import Chat, Entry
from accord.terminal.render.render_options import Look


@dataclass(frozen=True, slots=True)
class Fold:
    """Fold or unfold; `part` names what, "" is the whole block (see `Block.toggle`)."""

    part: str = ""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """Open a file, at a line counted from 1 if it is known."""

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
        """Whether the block can be folded or unfolded."""
        ...

    @property
    def is_tight(self) -> bool:
        """Whether there is no blank line between this block and another tight one."""
        ...

    @property
    def is_unsettled(self) -> bool:
        """Whether the block must be rendered again although its entry did not change.

        This is so while it shows a running time or an open question.
        """
        ...

    folded: bool

    def toggle(self, part: str = "") -> bool:
        """Fold or unfold a part, or the whole block for ""; return whether the part exists."""
        ...

    def render(self, look: Look, chat: Chat) -> list[Strip]:
        """The lines; empty if the entry is shown elsewhere."""
        ...

    def estimate(self, look: Look) -> int:
        """An estimate of the number of lines, without rendering."""
        ...

    def invalidate(self) -> None:
        """Note that the entry or its context changed."""
        ...

    def forget(self) -> None:
        """Free everything that can be rendered again."""
        ...

    def concerns(self, entry: Entry) -> bool:
        """Whether the block depends on another entry, as a tool call does on its terminal."""
        ...

    def target_at(self, line: int) -> Target | None:
        """The target of a line of the last rendering."""
        ...

    def text(self) -> str:
        """The block as text to copy."""
        ...


EntryT = TypeVar("EntryT")


class CachedBlock(Generic[EntryT]):
    """A block that renders only when necessary.

    A subclass defines `lines`, which may fill `targets`; it is called when the entry, the look or
    the fold changed.  `release` drops what is cached between two calls, such as growing Markdown.
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
        """An estimate of the number of lines that `lines` would return."""
        del look
        return 1

    def release(self) -> None:
        """Drop what is cached between two calls of `lines`."""

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
