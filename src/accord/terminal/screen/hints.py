"""What can be done in a dialog, at its foot: keys and words, each to be clicked too.

Must not know what any of it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from accord.terminal.screen.parts import Part, PartsLine


@dataclass(frozen=True, slots=True)
class Hint:
    """Something that can be done: the key as people read it, what it does, and its action."""

    key: str
    text: str
    action: str


class Hints(PartsLine):
    """What can be done, at the foot of a dialog; each can be clicked."""

    def __init__(self, hints: Sequence[Hint] = (), *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._hints = tuple(hints)

    def show(self, hints: Sequence[Hint]) -> None:
        """Offer something else."""
        self._hints = tuple(hints)
        self.refresh()

    def parts(self, width: int) -> list[Part]:
        """The first ones have precedence."""
        palette = self.palette
        found: list[Part] = []
        used = 0
        for hint in self._hints:
            words = f" {hint.text}"
            gap = 3 if found else 0
            if used + gap + cell_len(hint.key) + cell_len(words) > width:
                break
            used += gap + cell_len(hint.key) + cell_len(words)
            if gap:
                found.append(Part("   ", palette.dim))
            found.append(Part(hint.key, palette.accent, target=hint.action))
            found.append(Part(words, palette.dim, target=hint.action))
        return found

    def pressed(self, target: str) -> None:
        """Do what its key does."""
        self.call_next(self.screen.run_action, target)


__all__ = ["Hint", "Hints"]
