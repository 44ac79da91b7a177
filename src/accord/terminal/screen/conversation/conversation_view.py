"""The conversation: all entries of a chat, of which only those in sight are rendered.

This module does not know the agent; it reads a `Chat` when it is told to.

Invariants
    * What is in sight stays in place while anything else changes, unless the end is followed.
    * Only lines that changed are drawn, and nothing scrolls on its own.
    * The selected entry stays selected while entries come and go.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from accord.terminal.model.chat import Chat, Entry
from accord.terminal.render.block import Fold, Target
from accord.terminal.render.render_options import Look
from accord.terminal.screen.conversation.line_painter import GUTTER, MARGIN, Painter, with_hint
from accord.terminal.screen.conversation.rows import START, Place, Rows
from accord.terminal.screen.conversation.text_selection import marked_line, offset_of, text_between

TICK_SECONDS = 0.9
"""Entries that show a time are rendered again after this long, not with every update."""

# Set without their watchers, which would lay out the whole screen with every new line.
_VIRTUAL_SIZE: Any = ScrollView.virtual_size
_SCROLL_TARGET_Y: Any = ScrollView.scroll_target_y


class Conversation(ScrollView, can_focus=True):
    """The entries of a chat as rows.  Guards the invariants of this module."""

    ALLOW_SELECT = True
    FOCUS_ON_CLICK = False
    DEFAULT_CSS = """
    Conversation {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        background: $background;
        color: $foreground;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", "Up", show=False),
        Binding("down", "scroll_down", "Down", show=False),
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown", "page_down", "Page down", show=False),
        Binding("home", "scroll_home", "Start", show=False),
        Binding("end", "scroll_end", "End", show=False),
        Binding("enter", "use_selected", "Use", show=False),
    ]

    class TargetChosen(Message):
        """A line with a target was clicked or chosen with Enter."""

        def __init__(self, target: Target, entry: Entry) -> None:
            super().__init__()
            self.target = target
            self.entry = entry

    def __init__(self, chat: Chat, look: Look, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.chat = chat
        self.look = look
        # Whether the view follows the end.
        self.follows = True
        self._rows: Rows | None = None
        self._top = START
        self._window: list[Place] = []
        self._painted: list[Strip] = []
        self._painter = Painter()
        self._selected: int | None = None
        # Where the end was when the user scrolled away from it.
        self._end_left = START
        self._is_placing = False
        # The state of the scrollbar when it was last drawn.
        self._bar_seen: object = None
        self._ticked = 0.0
        self._circumstances: object = None

    # ---- what is shown

    @property
    def rows(self) -> Rows:
        """The rows, created once the width is known."""
        if self._rows is None:
            self._rows = Rows(self.chat, replace(self.look, width=self._room.width))
        return self._rows

    @property
    def top(self) -> Place:
        """The first place in sight."""
        return self._top

    @property
    def _room(self) -> Size:
        width, height = self.scrollable_content_region.size
        return Size(max(width - GUTTER - MARGIN, 1), max(height, 1))

    def set_look(self, look: Look) -> None:
        """Draw in another look, except for its width."""
        self.look = look
        self._relook()

    def _relook(self) -> None:
        """Lay out again in the current width, and keep the position."""
        rows, top = self._rows, self._top
        if rows is None:
            return
        before = rows.heights[top.block] if top.block < len(rows.blocks) else 0
        rows.set_look(replace(self.look, width=self._room.width))
        if before > 1 and not self.follows:
            # At the same relative position in the block.
            self._top = Place(top.block, round(top.row * rows.rows(top.block) / before))
        self._draw(everything=True)

    def on_resize(self, event: events.Resize) -> None:
        """Lay out for the new size, and keep the position."""
        del event
        if self._rows is None:
            # All entries become rows now, so earlier changes are obsolete.
            self.chat.take_changes()
        if self.rows.look.width != self._room.width:
            self._relook()
        else:
            self._draw(everything=True)

    # ---- drawing

    def _draw(self, *, everything: bool = False) -> None:
        """Update the lines in sight, and paint those that changed."""
        rows, height = self.rows, self._room.height
        if self._top.block >= len(rows.blocks):
            self._top = START
        end = rows.end(height)
        if self.follows or self._top >= end:
            self._top = end
        self._window = rows.window(self._top, height)
        rows.let_go(range(self._top.block, self._window[-1].block + 1 if self._window else 0))
        old, base = self._painted, self.rich_style
        self._painted = self._painter.paint(rows, self._window, height, base, self._selected)
        hint = self._hint()
        if hint:
            self._painted[-1] = with_hint(self._painted[-1], hint, rows.look, base)
        self._settle_scroll()
        if everything or len(old) != len(self._painted):
            self.refresh()
            return
        changed = [at for at, one in enumerate(self._painted) if one is not old[at]]
        if changed:
            first, last = changed[0], changed[-1]
            self.refresh(Region(0, first, self.size.width, last - first + 1))

    def _hint(self) -> str:
        """The hint about new lines below the view."""
        if self.follows:
            return ""
        rows = self.rows
        new = rows.heights.total - min(rows.line_of(self._end_left), rows.heights.total)
        if new <= 0:
            return ""
        return f" {self.look.mark('▼', 'v')} {new} new line{'s' if new > 1 else ''} "

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a region.

        Painted lines already have the style sheet's styles, and unchanged lines are the same
        strips, so they are returned as they are.
        """
        background = self.background_colors[1]
        filters = self.get_line_filters()
        selection = self.text_selection
        found: list[Strip] = []
        for y in crop.line_range:
            line = self._line(y)
            if selection is not None and y < len(self._window):
                line = marked_line(line, selection, self._window[y], self.look.palette.marked)
            for one in filters:
                line = line.apply_filter(one, background)
            found.append(line)
        if crop.column_span != (0, self._room.width + GUTTER + MARGIN):
            found = [line.crop(*crop.column_span) for line in found]
        return found

    def _line(self, y: int) -> Strip:
        if 0 <= y < len(self._painted):
            return self._painted[y]
        return Strip.blank(self._room.width + GUTTER + MARGIN, self.rich_style)

    def render_line(self, y: int) -> Strip:
        """One line in sight with its offsets, for text selection."""
        line = self._line(y)
        return line.apply_offsets(0, offset_of(self._window[y])) if y < len(self._window) else line

    # ---- scrolling

    def _settle_scroll(self) -> None:
        """Update the scrollbar without a new layout."""
        rows = self.rows
        line = rows.line_of(self._top)
        # Estimated heights must not move the end on the scrollbar.
        total = max(rows.heights.total, line + len(self._window), 1)
        self._is_placing = True
        try:
            self.set_reactive(_VIRTUAL_SIZE, Size(self.size.width, total))
            self.set_reactive(_SCROLL_TARGET_Y, float(line))
            self.scroll_y = line
            self._move_bar(line, total)
        finally:
            self._is_placing = False

    def _move_bar(self, line: int, total: int) -> None:
        height = self._room.height
        # It is drawn in eighths of a cell; smaller changes are invisible, and drawing is slow.
        seen = (height, line * height * 8 // total, height * height * 8 // total)
        if self.show_vertical_scrollbar and (seen != self._bar_seen or not self.follows):
            self._bar_seen = seen
            bar = self.vertical_scrollbar
            bar.window_virtual_size = total
            bar.window_size = height
            bar.position = line

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scroll after the wheel was turned or the bar was dragged."""
        if self._is_placing or self._rows is None:
            return
        delta = round(new_value) - round(old_value)
        if abs(delta) <= 2 * self._room.height:
            self.scroll_rows(delta)
        else:
            self._go(self.rows.at_line(round(new_value)))

    def scroll_to(self, *args: Any, **options: Any) -> None:
        """Scroll at once, without animation."""
        options["animate"] = False
        super().scroll_to(*args, **options)

    def scroll_rows(self, delta: int) -> None:
        """Scroll by an exact number of rows."""
        rows = self.rows
        if delta < 0:
            self._go(rows.up(self._top, -delta))
        elif delta > 0:
            self._go(rows.down(self._top, delta))

    def _go(self, top: Place) -> None:
        was_following = self.follows
        end = self.rows.end(self._room.height)
        self.follows = top >= end
        self._top = min(top, end)
        if was_following and not self.follows:
            self._leave_end()
        self._draw()

    def _leave_end(self) -> None:
        rows = self.rows
        last = len(rows.blocks) - 1
        self._end_left = Place(last, rows.rows(last)) if last >= 0 else START

    def action_scroll_up(self) -> None:
        """Scroll one row up."""
        self.scroll_rows(-1)

    def action_scroll_down(self) -> None:
        """Scroll one row down."""
        self.scroll_rows(1)

    def action_page_up(self) -> None:
        """Scroll a page up, less one row."""
        self.scroll_rows(-max(self._room.height - 1, 1))

    def action_page_down(self) -> None:
        """Scroll a page down, less one row."""
        self.scroll_rows(max(self._room.height - 1, 1))

    def action_scroll_home(self) -> None:
        """Scroll to the first row."""
        self._go(START)

    def action_scroll_end(self) -> None:
        """Scroll to the end, and follow it."""
        self._go(self.rows.end(self._room.height))

    def _show(self, index: int) -> None:
        rows, height = self.rows, self._room.height
        head = Place(index, rows.gap(index))
        tail = Place(index, max(rows.rows(index) - 1, 0))
        if head < self._top or tail.row - head.row >= height:
            self._go(head)
        elif not self._window or tail > self._window[-1]:
            self._go(max(rows.up(tail, height - 1), START))
        else:
            self._draw()

    # ---- text selection

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text of a selection."""
        return text_between(self.rows, selection, GUTTER), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the changed selection."""
        del selection
        self.refresh()

    def notify_style_update(self) -> None:
        """Draw again after a style change."""
        super().notify_style_update()
        if self._rows is not None and self.is_mounted:
            self._draw(everything=True)

    # ---- the chat

    def refresh_chat(self) -> None:
        """Take in the changes of the chat, and draw those in sight."""
        changes, rows = self.chat.take_changes(), self._rows
        if rows is None:
            # Not laid out yet: the rows will be created from all entries.
            return
        if changes.is_reset or len(self.chat.entries) < len(rows.blocks):
            chosen = self.selected
            rows.rebuild()
            self._selected = None if chosen is None else rows.index_of(chosen)
        else:
            rows.entry_changed(changes.entries)
            rows.catch_up()
        self._notice_circumstances(rows)
        if self.size:
            self._draw()

    def _notice_circumstances(self, rows: Rows) -> None:
        chat = self.chat
        around = (chat.phase, tuple(map(id, chat.questions.all)), chat.history_end)
        now = chat.clock()
        if around != self._circumstances or now - self._ticked >= TICK_SECONDS:
            self._circumstances, self._ticked = around, now
            rows.circumstances_changed()

    # ---- entries

    @property
    def selected(self) -> Entry | None:
        """The selected entry, if there is one."""
        rows = self.rows
        if self._selected is None or self._selected >= len(rows.blocks):
            return None
        return rows.blocks[self._selected].entry

    def select(self, delta: int) -> None:
        """Move the selection down or up; beyond the last entry it is cleared."""
        rows = self.rows
        at, step = self._selected, 1 if delta > 0 else -1
        if at is None:
            at = self._window[-1].block + 1 if self._window and step < 0 else len(rows.blocks)
            if step > 0:
                at = self._window[0].block - 1 if self._window else -1
        at += step
        while 0 <= at < len(rows.blocks) and not rows.heights[at]:
            at += step
        if at >= len(rows.blocks):
            self._selected = None
            self.action_scroll_end()
        elif at >= 0:
            self._selected = at
            self._show(at)

    def _foldable(self) -> int | None:
        """The selected block, or the last one in sight that can be folded."""
        if self._selected is not None:
            return self._selected
        for place in reversed(self._window):
            if self.rows.blocks[place.block].is_foldable:
                return place.block
        return None

    def toggle_fold(self, part: str = "") -> bool:
        """Fold or unfold the selected entry, or the last one in sight; False if there is none."""
        index = self._foldable()
        return index is not None and self._toggle(index, part)

    def _toggle(self, index: int, part: str) -> bool:
        rows = self.rows
        before = rows.rows(index)
        if not rows.blocks[index].toggle(part):
            return False
        rows.blocks[index].invalidate()
        if rows.rows(index) > before and self.follows:
            # An unfolded entry is read from its beginning.
            self.follows = False
            self._leave_end()
        self._show(index)
        self.follows = self._top >= rows.end(self._room.height)
        return True

    def fold_all(self) -> None:
        """Fold all entries, or unfold all if they are folded."""
        rows = self.rows
        blocks = [block for block in rows.blocks if block.is_foldable]
        fold = any(not block.folded for block in blocks)
        for block in blocks:
            block.folded = fold
        rows.guess_again()
        self._top = Place(self._top.block, 0)
        self._draw()

    def text_of_selected(self) -> str:
        """The selected entry as text; without one, the last answer of the agent."""
        rows = self.rows
        if self._selected is not None and self._selected < len(rows.blocks):
            return rows.blocks[self._selected].text()
        for entry in reversed(self.chat.entries):
            if getattr(entry, "role", None) == "agent":
                index = rows.index_of(entry)
                return rows.blocks[index].text() if index is not None else ""
        return ""

    def action_use_selected(self) -> None:
        """Use the target of the selected entry's first line."""
        if self._selected is not None and self._selected < len(self.rows.blocks):
            self._use(self._selected, 0)

    def _use(self, index: int, line: int) -> None:
        block = self.rows.blocks[index]
        target = block.target_at(line)
        if isinstance(target, Fold):
            self._toggle(index, target.part)
        elif target is not None:
            self.post_message(self.TargetChosen(target, block.entry))

    # ---- the mouse

    def on_click(self, event: events.Click) -> None:
        """Use the target of the clicked line, unless text was selected."""
        if self.text_selection is not None:
            return
        y = event.y
        if y == len(self._painted) - 1 and self._hint():
            self.action_scroll_end()
        elif 0 <= y < len(self._window):
            place = self._window[y]
            line = place.row - self.rows.gap(place.block)
            if line >= 0:
                self._use(place.block, line)
