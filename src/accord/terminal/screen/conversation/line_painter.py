"""Paint lines of blocks: a mark on the left, and the background up to the right edge.

Invariant: an unchanged line is the same strip as before, so that the caller can skip it.
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from accord.terminal.render.render_options import Look
from accord.terminal.screen.conversation.rows import Place, Rows

GUTTER = 1
"""Columns on the left for the mark of the selected entry."""
MARGIN = 1
"""Free columns on the right."""


class Painter:
    """Paints the lines in sight.  Guards the invariant of this module."""

    def __init__(self) -> None:
        # The painted form of a line by its identity, for the lines in sight.
        self._known: dict[tuple[int, bool], tuple[Strip, Strip]] = {}
        self._blank: Strip | None = None
        self._key: object = None

    def forget(self) -> None:
        """Forget all painted lines."""
        self._known.clear()
        self._blank = None

    def paint(
        self, rows: Rows, window: list[Place], height: int, base: Style, selected: int | None
    ) -> list[Strip]:
        """Paint the lines in sight, and fill the rest with blanks."""
        key = (rows.look, base)
        if key != self._key:
            self.forget()
            self._key = key
        width = rows.look.width + GUTTER + MARGIN
        before, self._known = self._known, {}
        if self._blank is None:
            self._blank = Strip.blank(width, base)
        found: list[Strip] = []
        for place in window:
            strip = rows.strip_at(place)
            if strip is None:
                found.append(self._blank)
                continue
            is_selected = place.block == selected
            at = (id(strip), is_selected)
            known = self._known.get(at) or before.get(at)
            if known is None or known[0] is not strip:
                known = (strip, _painted(strip, rows.look, width, base, is_selected))
            self._known[at] = known
            found.append(known[1])
        return found + [self._blank] * (height - len(found))


def _painted(strip: Strip, look: Look, width: int, base: Style, is_selected: bool) -> Strip:
    palette = look.palette
    gutter = Segment(look.mark("▌", ">") if is_selected else " ", palette.accent)
    line = Strip([gutter, *strip]).adjust_cell_length(width)
    if is_selected:
        line = line.apply_style(palette.selected)
    return line.apply_style(base)


def with_hint(line: Strip, hint: str, look: Look, base: Style) -> Strip:
    """A line with a hint at its right end."""
    room = max(line.cell_length - cell_len(hint) - 1, 0)
    style = base + look.palette.accent + Style(reverse=True)
    return Strip.join([line.crop(0, room), Strip([Segment(hint, style), Segment(" ", base)])])
