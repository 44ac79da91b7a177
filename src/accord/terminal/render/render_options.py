"""Rendering options: width, colours, and what the terminal can draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from accord.terminal.render.conversation_colours import Palette

# How pictures reach the terminal; "none" shows their type and size instead.
ImageMode: TypeAlias = Literal["none", "kitty", "sixel"]


@dataclass(frozen=True, slots=True)
class Look:
    """Everything that affects rendering besides the entry itself.  A frozen value."""

    width: int
    palette: Palette
    # Without it our own marks are ASCII; the agent's text is unchanged.
    unicode: bool = True
    side_by_side: bool = False
    images: ImageMode = "none"

    def mark(self, sign: str, plain: str) -> str:
        """Return one of our marks, or its ASCII form if necessary."""
        return sign if self.unicode else plain

    def fold_mark(self, folded: bool) -> str:
        """Return the mark of a line that can be folded or unfolded."""
        return self.mark("▸ ", "+ ") if folded else self.mark("▾ ", "- ")
