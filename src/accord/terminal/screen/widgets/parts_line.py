"""One line of the screen made of parts: what is less important goes first where there is no room,
and a part can be clicked.

This module does not know what any line says.

Invariants
    * A line is never wider than its widget, whatever its texts are, and is cut between letters.
    * Texts are clean before they come here; none is read as markup.
    * A line is drawn again only when it says something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.strip import Strip
from textual.widget import Widget

from accord.terminal.render.block import cut
from accord.terminal.render.palette import Palette
from accord.terminal.screen.themes import palette_for


@dataclass(frozen=True, slots=True)
class Part:
    """Some words of a line.

    `weight`: who has less goes first; 0 never goes.  `least` is the width down to which it may be
    cut before anything goes.  A `target` makes it a thing to click.
    """

    text: str
    style: Style
    weight: int = 0
    least: int | None = None
    target: str = ""

    @property
    def cells(self) -> int:
        """How wide it is."""
        return cell_len(self.text)


def fit(parts: Sequence[Part], width: int, gap: int = 0) -> list[Part]:
    """The parts that fit beside each other, those that may be cut cut as far as necessary."""
    kept = [part for part in parts if part.text]

    def least(part: Part) -> int:
        return part.cells if part.least is None else min(part.least, part.cells)

    while len(kept) > 1 and sum(map(least, kept)) + gap * (len(kept) - 1) > width:
        loose = [part for part in kept if part.weight]
        if not loose:
            break
        kept.remove(min(loose, key=lambda part: part.weight))
    over = sum(part.cells for part in kept) + gap * (len(kept) - 1) - width
    found: list[Part] = []
    for part in kept:
        give = min(over, part.cells - least(part))
        if give > 0:
            over -= give
            part = _shortened(part, part.cells - give)
        found.append(part)
    return found


def _shortened(part: Part, width: int) -> Part:
    return Part(cut(part.text, width), part.style, part.weight, part.least, part.target)


class PartsLine(Widget):
    """A line of parts; subclasses say which by `parts`, and what a click means by `pressed`."""

    DEFAULT_CSS = """
    PartsLine { height: 1; width: 1fr; }
    """

    _shown: tuple[Part, ...] = ()

    def parts(self, width: int) -> Sequence[Part]:
        """What stands in the line at this width, blanks included."""
        raise NotImplementedError

    def pressed(self, target: str) -> None:
        """A part was clicked."""

    @property
    def palette(self) -> Palette:
        """The colours of the theme that is on."""
        return palette_for(self.app.theme)

    def renew(self) -> None:
        """Draw the line again if it says something else now."""
        width = self.content_size.width
        # What is not on the screen has no width; when it comes back, what it said is drawn by
        # nobody's order, so that it must not be kept.
        if not width or tuple(self.parts(width)) != self._shown:
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Render the parts into one line."""
        width = self.content_size.width
        if y or not width:
            return Strip.blank(width, self.rich_style)
        self._shown = tuple(self.parts(width))
        strip = Strip([Segment(part.text, part.style) for part in self._shown])
        return strip.crop_extend(0, width, None).apply_style(self.rich_style)

    def on_click(self, event: events.Click) -> None:
        """Press the part that was clicked."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        at = 0
        for part in self._shown:
            at += part.cells
            if offset.x < at:
                if part.target:
                    event.stop()
                    self.pressed(part.target)
                return


__all__ = ["Part", "PartsLine", "fit"]
