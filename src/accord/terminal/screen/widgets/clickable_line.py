"""A line made of parts: less important ones are dropped first, and a part can be clicked.

This module does not know the texts.

Invariants
    * A line is never wider than its widget, and is cut between characters.
    * Texts are already safe; none is read as markup.
    * A line is drawn again only when it changed.
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

from accord.terminal.render.conversation_colours import Palette
from accord.terminal.render.text_runs import cut
from accord.terminal.screen.widget_themes import palette_for


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a line.

    The lowest `weight` is dropped first; 0 is never dropped.  `least` is the width to which the
    part may be cut before any is dropped.  A part with a `target` can be clicked.
    """

    text: str
    style: Style
    weight: int = 0
    least: int | None = None
    target: str = ""

    @property
    def cells(self) -> int:
        """The width in cells."""
        return cell_len(self.text)


def fit(parts: Sequence[Part], width: int, gap: int = 0) -> list[Part]:
    """The parts that fit, cut as far as necessary."""
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
    """A line of parts; subclasses define `parts`, and `pressed` for clicks."""

    DEFAULT_CSS = """
    PartsLine { height: 1; width: 1fr; }
    """

    _shown: tuple[Part, ...] = ()

    def parts(self, width: int) -> Sequence[Part]:
        """The parts of the line at this width, blanks included."""
        raise NotImplementedError

    def pressed(self, target: str) -> None:
        """Handle a click on a part."""

    @property
    def palette(self) -> Palette:
        """The palette of the current theme."""
        return palette_for(self.app.theme)

    def renew(self) -> None:
        """Draw the line again if it changed."""
        width = self.content_size.width
        # A hidden widget has no width; when it is shown again, Textual draws it without asking us,
        # so the cached line must be dropped.
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
