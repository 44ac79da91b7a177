"""A dialog that is answered by choosing one of a few lines: by its key, by arrows and Enter, or by
the mouse.

Invariants
    * Enter chooses nothing before the cursor was moved to a line.
    * A line that is not usable cannot be chosen.
    * No key or click approves before the required text has been in view (`extent`); refusing is
      always possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.strip import Strip

from accord.terminal.model.text.display_text import columns
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import cut, strip_of
from accord.terminal.screen.dialogs.dialog import BODY_LINES_MIN, Dialog
from accord.terminal.screen.dialogs.text_in_view import (
    READ_FIRST,
    Extent,
    ExtentLine,
    ReadProgress,
    extent_lines,
    view_of,
)
from accord.terminal.screen.widgets.scrollable_lines import Body, Lines

Tone: TypeAlias = Literal["allow", "reject", "other"]

ROWS_MAX = 9
"""Visible answers; more of them scroll."""
ROWS_MIN = 2
_REMARK_COLUMNS_MIN = 16
TAIL_ROOM = 4
"""With more lines of text than this, the end of a long command gets a line of its own."""
GAP_LINES_MIN = 14
"""The minimum height for an empty line above the answers."""

CUT_OFF = "Its full text is below; choose it again."

_MARKS: dict[Tone, tuple[str, str]] = {
    "allow": ("✓", "+"),
    "reject": ("✗", "x"),
    "other": ("•", "*"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One answer: its safe text, the keys that choose it, and its kind."""

    words: str
    keys: tuple[str, ...] = ()
    tone: Tone = "other"
    remark: str = ""
    is_usable: bool = True
    # Whether the text is the agent's and must be seen in full before it is chosen.
    is_quoted: bool = False


class Rows(Lines, can_focus=False):
    """The lines to choose from."""

    class Clicked(Message):
        """The user clicked on a line."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def on_click(self, event: events.Click) -> None:
        """Choose the clicked line."""
        event.stop()
        self.post_message(self.Clicked(event.y + self.scroll_offset.y))


class ChoiceDialog(Dialog):
    """A question with a few answers, each on a line."""

    def __init__(self, *asked: object) -> None:
        super().__init__(*asked)  # type: ignore[arg-type]
        # The line that Enter would choose.
        self.focused_row: int | None = None
        # What `body` said last about its parts, and which of them have been in view.
        self.extent = Extent()
        self._reading = ReadProgress()
        self._extent_rows = 0
        # Why the last key or click had no effect.
        self._refused = ""
        # The lines whose agent text does not fit.
        self._cut: set[int] = set()

    # ---- for the dialogs

    @property
    def rows(self) -> Sequence[Row]:
        """The lines to choose from."""
        return ()

    def body(self, look: Look) -> list[Strip]:
        """The text above the answers."""
        del look
        return []

    @property
    def what_must_be_read(self) -> object:
        """An identity of the question; text that was in view once need not be again."""
        return self.question

    def agrees(self, row: Row) -> bool:
        """Whether the answer approves something, which must have been read before."""
        return row.tone == "allow"

    def is_cut(self, index: int) -> bool:
        """Whether the agent's text does not fit on a line."""
        return index in self._cut

    def chosen(self, index: int) -> None:
        """Handle the choice of a usable line."""

    def closed(self) -> None:
        """Handle Esc; the subclass decides what it means."""
        self.answer(None)

    def moved(self) -> None:
        """Handle a move of the cursor."""

    # ---- inside

    @property
    def warning(self) -> str:
        """Why the last key or click had no effect."""
        return self._refused

    def fit(self) -> None:
        """Let the text scroll first, then the answers; what is below stays."""
        super().fit()
        body = self.query_one(Body)
        self._show_extent(0)
        room = self._fit_lines()
        if body.count > room:
            is_long = any(end >= room for end in self.extent.ends)
            self._show_extent(2 if is_long and self.extent.ends_with and room > TAIL_ROOM else 1)
            self._fit_lines()
        self.call_after_refresh(self._look_again)

    def _fit_lines(self) -> int:
        """Divide the height; return the number of lines for the text."""
        body, rows = self.query_one(Body), self.query_one(Rows)
        left = self.room - self.gutter.height
        left -= sum(one.count for one in self.query_children(Lines) if one not in (body, rows))
        gap = 1 if body.count + rows.count < left or left >= GAP_LINES_MIN else 0
        # A line about what is said is one of its own.
        low = max(BODY_LINES_MIN - self._extent_rows, 1)
        rows_max = max(left - gap - min(body.count, low), ROWS_MIN)
        rows_max = min(rows_max, ROWS_MAX)
        rows.styles.margin = (gap, 0, 0, 0)
        rows.styles.max_height = rows_max
        height = max(left - gap - min(rows.count, rows_max), 1)
        body.styles.max_height = height
        return height

    def _show_extent(self, rows: int) -> None:
        if rows != self._extent_rows:
            self._extent_rows = rows
            self.query_one(ExtentLine).rebuild()

    def _extent_lines(self, look: Look) -> list[Strip]:
        if not self._extent_rows:
            return []
        body = self.query_one(Body)
        rows, is_read = self._extent_rows, self._is_read
        return extent_lines(self.extent, view_of(body), body.count, is_read, look, rows)

    # ---- reading before agreeing

    @property
    def _is_read(self) -> bool:
        return not self._unread

    @property
    def _unread(self) -> list[int]:
        return self._reading.unseen(self.what_must_be_read, self.extent)

    def _look_again(self) -> None:
        """Note which lines are in view, and show how many."""
        if not self.is_mounted:
            return
        # Sizes may still change before the guard is down.
        if not self.is_early:
            view = view_of(self.query_one(Body))
            self._reading.look(self.what_must_be_read, self.extent, view)
            if self._is_read:
                self._refused = ""
                self._show_hint()
        self.query_one(ExtentLine).rebuild()

    def on_body_scrolled(self, event: Body.Scrolled) -> None:
        """Note the lines that were drawn."""
        event.stop()
        self.call_after_refresh(self._look_again)

    def opened(self) -> None:
        """Count what is in view as seen, because the guard is down."""
        super().opened()
        self._look_again()

    def compose(self) -> ComposeResult:
        """The words, and the lines."""
        yield Body(lambda width: self.body(self.look(width)))
        yield ExtentLine(lambda width: self._extent_lines(self.look(width)))
        yield Rows(lambda width: self._lines(self.look(width)))

    def redraw(self) -> None:
        """Show the changed text or answers."""
        for lines in self.query_children(Lines).results():
            lines.rebuild()
        self.call_after_refresh(self.fit)

    def pressed(self, event: events.Key) -> bool:
        """Choose, go to a line, scroll, or close."""
        key = event.key
        for index, row in enumerate(self.rows):
            if row.is_usable and (key in row.keys or event.character in row.keys):
                self.choose(index)
                return True
        if key in ("down", "tab", "up", "shift+tab"):
            self._refused = ""
            self._go(1 if key in ("down", "tab") else -1)
        elif key == "enter":
            if self.focused_row is not None:
                self.choose(self.focused_row)
        elif key == "escape":
            self.closed()
        elif key in ("pageup", "pagedown", "home", "end"):
            self._scroll(key)
        else:
            return False
        return True

    def choose(self, index: int) -> None:
        """Choose a line, if that is possible now."""
        rows = self.rows
        if self.is_early or not 0 <= index < len(rows) or not rows[index].is_usable:
            return
        if self.agrees(rows[index]) and not self._is_read:
            self._look_again()
            if not self._is_read:
                self._refused = READ_FIRST
                self._show_hint()
                return
        if self.agrees(rows[index]) and self.is_cut(index) and index != self.focused_row:
            self._go_to(index)
            self._refused = CUT_OFF
            self._show_hint()
            return
        self.chosen(index)

    def on_rows_clicked(self, event: Rows.Clicked) -> None:
        """Handle a click like a key, and not earlier."""
        event.stop()
        self.choose(event.index)

    def _go(self, step: int) -> None:
        usable = [index for index, row in enumerate(self.rows) if row.is_usable]
        if not usable:
            return
        if self.focused_row not in usable:
            self._go_to(usable[0 if step > 0 else -1])
        else:
            at = usable.index(self.focused_row) + step
            self._go_to(usable[at % len(usable)])

    def _go_to(self, index: int) -> None:
        """Move the cursor to this line and scroll to it."""
        self.focused_row = index
        self.moved()
        rows = self.query_one(Rows)
        rows.rebuild()
        top, height = rows.scroll_offset.y, rows.size.height
        if not top <= index < top + height:
            rows.scroll_to(y=index - height // 2, animate=False)

    def _scroll(self, key: str) -> None:
        body = self.query_one(Body)
        page = max(body.size.height - 1, 1)
        if key == "end" and (unread := self._unread):
            # First what must have been in view, then the end of all.
            y = min(unread[0], unread[-1] - body.size.height + 1)
            body.scroll_to(y=y, animate=False)
            return
        to = {"pageup": body.scroll_y - page, "pagedown": body.scroll_y + page, "home": 0}
        body.scroll_to(y=to.get(key, body.max_scroll_y), animate=False)

    def _lines(self, look: Look) -> list[Strip]:
        rows = self.rows
        wide = max((len(" ".join(row.keys)) for row in rows), default=0)
        return [self._line(index, row, wide, look) for index, row in enumerate(rows)]

    def _line(self, index: int, row: Row, wide: int, look: Look) -> Strip:
        palette = look.palette
        tones = {"allow": palette.success, "reject": palette.error, "other": palette.accent}
        tone = tones[row.tone] if row.is_usable else palette.dim
        here = index == self.focused_row
        pointer = look.mark("▸ ", "> ") if here else "  "
        mark = look.mark(*_MARKS[row.tone]) if row.is_usable else "-"
        keys = " ".join(row.keys).ljust(wide)
        words = f"{mark} {row.words}"
        room = look.width - len(pointer) - wide - 2
        remark = f"  {row.remark}" if row.remark else ""
        # Why a line cannot be chosen stays; any other remark gives way to the words.
        shown = cut(words, room if row.is_usable else max(room - columns(remark), 8))
        is_cut = row.is_quoted and shown != words
        (self._cut.add if is_cut else self._cut.discard)(index)
        words = shown
        left = room - columns(words)
        remark = cut(remark, left) if left >= min(columns(remark), _REMARK_COLUMNS_MIN) else ""
        # Without colours refusing is drawn in reverse; here that means: Enter chooses this.
        over = Style(reverse=here)
        line = strip_of(
            (pointer, palette.strong),
            (f"{keys}  ", palette.strong),
            (words, tone + over),
            (remark, palette.dim),
        )
        return line.crop(0, look.width)
