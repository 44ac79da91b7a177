"""Scrollable lines of a dialog, as high as there is room.

This module does not know the lines; `build` creates them for a width.
"""

from __future__ import annotations

from collections.abc import Callable

from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

Build = Callable[[int], list[Strip]]


class Lines(ScrollView, can_focus=False):
    """Scrollable lines, built again when the width changes or by `rebuild`."""

    DEFAULT_CSS = """
    Lines {
        height: auto;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size: 0 1;
        background: transparent;
    }
    """

    def __init__(self, build: Build) -> None:
        super().__init__()
        self._build = build
        self._lines: list[Strip] = []
        self._width = 0

    @property
    def shown(self) -> str:
        """All lines as text."""
        return "\n".join(line.text.rstrip() for line in self._lines)

    @property
    def count(self) -> int:
        """The number of lines."""
        return len(self._lines)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The height of all lines; Textual asks for it before it sets a size."""
        del container, viewport
        self._make(width - self.scrollbar_size_vertical)
        return len(self._lines)

    def on_resize(self) -> None:
        """Build the lines for the new width."""
        self._make(self.scrollable_content_region.width)

    def rebuild(self) -> None:
        """Build the lines again."""
        before, width = len(self._lines), self._width
        self._width = 0
        if width:
            self._make(width)
        self.refresh(layout=len(self._lines) != before)

    def _make(self, width: int) -> None:
        if width <= 0 or width == self._width:
            return
        self._width = width
        self._lines = self._build(width)
        self.virtual_size = Size(width, len(self._lines))

    def render_line(self, y: int) -> Strip:
        """Render one visible line."""
        at, width = self.scroll_offset.y + y, self.size.width
        line = self._lines[at] if 0 <= at < len(self._lines) else Strip.blank(0)
        return line.apply_style(self.rich_style).adjust_cell_length(width, self.rich_style)


class Body(Lines, can_focus=False):
    """The part of a dialog that shrinks when there is little room."""

    class Scrolled(Message):
        """Other lines came into view."""

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell the dialog that the text was scrolled."""
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Scrolled())
