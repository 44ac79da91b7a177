"""A list of very many lines with a cursor, of which only the visible ones are drawn.

This module does not know the lines: the owner of the list draws each when it becomes visible.

Invariants
    * A line is drawn only while it is visible, however many there are.
    * The cursor is on a line as long as there is one, and visible after it was moved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from accord.terminal.screen.widget_themes import palette_for


class _AboutLine(Message):
    """An event of a line."""

    def __init__(self, lines: LineList, index: int) -> None:
        super().__init__()
        self.lines = lines
        self.index = index

    @property
    def control(self) -> LineList:
        """The list that sent the message."""
        return self.lines


class LineList(ScrollView, can_focus=True):
    """Lines that `draw(index, width)` returns.  Guards the invariants of this module."""

    DEFAULT_CSS = """
    LineList { background: $surface; overflow-x: hidden; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home,g", "edge(-1)", show=False),
        Binding("end,G", "edge(1)", show=False),
    ]

    class Moved(_AboutLine):
        """The cursor moved to another line."""

    class Clicked(_AboutLine):
        """The line under the cursor was clicked."""

    def __init__(
        self,
        draw: Callable[[int, int], Strip],
        *,
        has_cursor: bool = True,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self._draw = draw
        self._has_cursor = has_cursor
        self._count = 0
        self.cursor = 0

    # ---- content

    @property
    def count(self) -> int:
        """How many lines there are."""
        return self._count

    @property
    def room(self) -> int:
        """How wide a line may be."""
        return self.scrollable_content_region.width or self.size.width

    def set_count(self, count: int, cursor: int | None = None) -> None:
        """Set the number of lines and draw the visible ones again."""
        self._count = count
        size = Size(self.size.width, count)
        if size != self.virtual_size:
            self.virtual_size = size
        wanted = self.cursor if cursor is None else cursor
        self.cursor = max(0, min(wanted, count - 1))
        if cursor is not None:
            self.show_line(self.cursor)
        self.refresh()

    def show_line(self, index: int, *, middle: bool = False) -> None:
        """Scroll to a line, as little as needed or to the middle."""
        height = max(self.scrollable_content_region.height or self.size.height, 1)
        top = round(self.scroll_y)
        if middle:
            if not top + height // 6 <= index < top + height - height // 6:
                top = index - height // 3
        elif index < top:
            top = index
        elif index >= top + height:
            top = index - height + 1
        self.scroll_to(y=max(top, 0), animate=False, force=True)

    def move_to(self, index: int) -> None:
        """Put the cursor on a line and post a message."""
        if not self._count:
            return
        old, self.cursor = self.cursor, max(0, min(index, self._count - 1))
        self.show_line(self.cursor)
        if old != self.cursor:
            self.refresh()
            self.post_message(self.Moved(self, self.cursor))

    # ---- drawing

    def render_line(self, y: int) -> Strip:
        """Render a line, or a blank below the last one."""
        index = y + round(self.scroll_y)
        width = self.size.width
        if not 0 <= index < self._count:
            return Strip.blank(width, self.rich_style)
        strip = self._draw(index, width).crop_extend(0, width, None)
        if self._has_cursor and index == self.cursor:
            palette = palette_for(self.app.theme)
            mark = palette.marked if self.has_focus else palette.selected
            return Strip(Segment.apply_style(strip, self.rich_style, mark))
        return strip.apply_style(self.rich_style)

    # ---- keys and the mouse

    def action_move(self, step: int) -> None:
        """Move the cursor by lines."""
        if self._has_cursor:
            self.move_to(self.cursor + step)
        else:
            self.scroll_relative(y=step, animate=False)

    def action_page(self, step: int) -> None:
        """Move the cursor by pages."""
        height = max(self.size.height - 1, 1)
        self.action_move(step * height)

    def action_edge(self, step: int) -> None:
        """Move the cursor to the first or last line."""
        if self._has_cursor:
            self.move_to(0 if step < 0 else self._count - 1)
        elif step < 0:
            self.scroll_home(animate=False)
        else:
            self.scroll_end(animate=False)

    def on_click(self, event: events.Click) -> None:
        """Choose the clicked line."""
        offset = event.get_content_offset(self)
        if offset is None or not self._has_cursor:
            return
        index = offset.y + round(self.scroll_y)
        if index < self._count:
            event.stop()
            self.move_to(index)
            self.post_message(self.Clicked(self, index))

    def on_focus(self) -> None:
        """Draw the cursor with or without focus."""
        self.refresh()

    def on_blur(self) -> None:
        """Draw the cursor with or without focus."""
        self.refresh()

    def on_resize(self) -> None:
        """Draw the lines in the new width."""
        self.virtual_size = Size(self.size.width, self._count)
        self.refresh()
