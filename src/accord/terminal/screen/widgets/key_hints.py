"""A line of key hints at the bottom of a dialog; each can be clicked.

This module does not know what the actions do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from accord.terminal.screen.widgets.clickable_line import Part, PartsLine

_GAP, _GAP_LEAST = 3, 2


@dataclass(frozen=True, slots=True)
class Hint:
    """One hint: the key, what it does, and its action."""

    key: str
    text: str
    action: str


class Hints(PartsLine):
    """The line of hints."""

    def __init__(self, hints: Sequence[Hint] = (), *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._hints = tuple(hints)

    def show(self, hints: Sequence[Hint]) -> None:
        """Replace the hints of the line."""
        self._hints = tuple(hints)
        self.refresh()

    def parts(self, width: int) -> list[Part]:
        """The hints that fit; labels are shortened before any hint is dropped."""
        palette = self.palette
        hints = [(hint.key, f" {hint.text}", hint.action) for hint in self._hints]
        gap = _GAP
        if sum(cell_len(key + words) + gap for key, words, _ in hints) - gap > width:
            hints = [(key.replace("Ctrl+", "^"), words, action) for key, words, action in hints]
            gap = _GAP_LEAST
        found: list[Part] = []
        used = -gap
        for key, words, action in hints:
            used += gap + cell_len(key + words)
            if used > width:
                break
            if found:
                found.append(Part(" " * gap, palette.dim))
            found.append(Part(key, palette.accent, target=action))
            found.append(Part(words, palette.dim, target=action))
        return found

    def pressed(self, target: str) -> None:
        """Run the action of the clicked hint."""
        self.call_next(self.screen.run_action, target)
