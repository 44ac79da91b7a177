"""A picker: a search field, rows and key hints, over the screen.

This module does not know what is chosen.

Invariants
    * Only visible rows are drawn, however many there are.
    * Everything works by keys and by mouse: typing searches, arrows move, Enter or a click
      chooses, Esc closes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.geometry import Region, Size
from textual.message import Message
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Static

from accord.machine.console.control_characters import visible
from accord.terminal.render.text_runs import cut, wrapped
from accord.terminal.screen.pickers.search_matches import Heading, PickerRows, Row
from accord.terminal.screen.widget_themes import palette_for
from accord.terminal.screen.widgets.clickable_line import Part
from accord.terminal.screen.widgets.key_hints import Hint, Hints

ResultT = TypeVar("ResultT")

_AROUND = 6
"""Lines of a picker besides rows: the border, the search, the hints and gaps."""
_FRAME_SHARE = 0.94
_DETAIL_HEIGHT_MIN = 15
"""On lower screens, the rows get the space of the detail."""
_TITLE_SHARE = 0.6
"""The share of a row that its title may use if it also has a description."""
_ROW_AROUND = 8
"""Cells of a row that are not text: marks and gaps."""
DETAIL_LINES_MAX = 2


class RowList(ScrollView, can_focus=False):
    """The rows, one line each."""

    DEFAULT_CSS = """
    RowList { height: 1; overflow-x: hidden; scrollbar-size-vertical: 1; }
    """

    class Moved(Message):
        """The cursor is on another row."""

    class Chosen(Message):
        """A row was chosen by the mouse."""

    def __init__(self, rows: PickerRows) -> None:
        super().__init__()
        self.rows = rows

    def renew(self) -> None:
        """Draw changed rows or a moved cursor."""
        self.virtual_size = Size(self.size.width, len(self.rows.lines))
        if self.rows.cursor >= 0:
            # The heading above the first row is seen with it.
            top = self.rows.cursor - (1 if self.rows.cursor == 1 else 0)
            self.scroll_to_region(
                Region(0, top, 1, self.rows.cursor - top + 1), animate=False, force=True
            )
        self.refresh()
        self.post_message(self.Moved())

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self.renew()

    def render_line(self, y: int) -> Strip:
        """One row, or a heading."""
        width = self.scrollable_content_region.width
        at = y + self.scroll_offset.y
        lines = self.rows.lines
        if at >= len(lines):
            return Strip.blank(width, self.rich_style)
        palette = palette_for(self.app.theme)
        line = lines[at]
        if isinstance(line, Heading):
            pieces = [Part(cut(line.text, width), palette.heading)]
        else:
            pieces = self._row(line, width, is_meant=at == self.rows.cursor)
        strip = Strip([Segment(part.text, part.style) for part in pieces])
        if at == self.rows.cursor:
            strip = strip.extend_cell_length(width).apply_style(palette.selected)
        return strip.crop_extend(0, width, None).apply_style(self.rich_style)

    def _row(self, row: Row, width: int, *, is_meant: bool) -> list[Part]:
        palette = palette_for(self.app.theme)
        found = [Part("❯ " if is_meant else "  ", palette.accent)]
        if self.rows.has_current:
            found.append(Part("● " if row.current else "  ", palette.success))
        note = row.note or (row.group if self.rows.search else "")
        room = width - sum(part.cells for part in found)
        note = cut(note, max(room // 2, 0))
        room -= cell_len(note) + 2 if note else 0
        weight = palette.strong if row.current or is_meant else palette.text
        title = cut(row.title, int(room * _TITLE_SHARE) if row.description else room)
        found.append(Part(title, weight if row.enabled else palette.dim))
        room -= cell_len(title)
        if row.description and room > 8:
            found.append(Part("  " + cut(row.description, room - 2), palette.dim))
            room -= found[-1].cells
        if note:
            found.append(Part(" " * (room + 2) + note, palette.dim))
        return found

    def on_click(self, event: events.Click) -> None:
        """Choose the row that was clicked."""
        offset = event.get_content_offset(self)
        if offset is not None and self.rows.point(offset.y + self.scroll_offset.y):
            self.renew()
            self.post_message(self.Chosen())


class Picker(ModalScreen[ResultT], Generic[ResultT]):
    """The base of pickers.  Subclasses pass rows to `show` and define `chosen`."""

    DEFAULT_CSS = """
    Picker { align: center middle; background: $background 60%; }
    Picker > Vertical {
        width: 92%; max-width: 100; height: auto; max-height: 94%;
        border: round $border; background: $surface; padding: 0 1;
        border-title-color: $text; border-title-style: bold;
    }
    Picker Input, Picker Input:focus {
        border: none; height: 1; padding: 0; margin: 0 0 1 0; background: $surface;
    }
    Picker #empty { height: auto; padding: 0 2; color: $text-muted; }
    Picker #detail { height: auto; color: $text-muted; }
    Picker RowList, Picker Hints { background: $surface; }
    Picker Hints { margin: 1 0 0 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", priority=True),
        Binding("enter", "choose", priority=True),
        Binding("up,ctrl+p", "move(-1)", priority=True),
        Binding("down,ctrl+n", "move(1)", priority=True),
        Binding("pageup", "page(-1)", priority=True),
        Binding("pagedown", "page(1)", priority=True),
        Binding("ctrl+home", "move(-1000000)", priority=True),
        Binding("ctrl+end", "move(1000000)", priority=True),
    ]
    heading: ClassVar[str] = ""
    search_text: ClassVar[str] = "Type to search"
    empty_text: ClassVar[str] = "Nothing here."
    choose_text: ClassVar[str] = "choose"

    def __init__(self) -> None:
        super().__init__()
        self.rows = PickerRows()
        self._empty: str | None = None
        # Of the rows that have a description: cells that all of one would take.
        self._widest = 0

    def compose(self) -> ComposeResult:
        """A frame with a field, the rows and what can be done."""
        with Vertical() as frame:
            frame.border_title = self.heading
            yield Input(placeholder=self.search_text, compact=True)
            yield RowList(self.rows)
            yield Static("", id="empty", markup=False)
            yield Static("", id="detail", markup=False)
            yield Hints(self.hints())

    def hints(self) -> list[Hint]:
        """What can be done, the most important first."""
        return [Hint("Enter", self.choose_text, "choose"), Hint("Esc", "close", "close")]

    def on_mount(self) -> None:
        """Begin with the search."""
        self._arrange()

    def show(self, rows: Sequence[Row], *, empty: str | None = None) -> None:
        """Replace the rows of the list."""
        self.rows.replace(rows)
        described = (f"{one.title}{one.description}{one.note}" for one in rows if one.description)
        self._widest = max(map(cell_len, described), default=0)
        if empty is not None:
            self._empty = empty
        if self.is_mounted:
            self._arrange()

    @property
    def empty(self) -> str:
        """The text shown without rows."""
        if self.rows.all and self.rows.search:
            return "No matches. Esc closes, or try another search."
        return self.empty_text if self._empty is None else self._empty

    def _arrange(self) -> None:
        lines = len(self.rows.lines)
        rows = self.query_one(RowList)
        rows.display = bool(lines)
        room = int(self.size.height * _FRAME_SHARE) - _AROUND
        room -= DETAIL_LINES_MAX if self._has_detail else 0
        rows.styles.height = max(1, min(lines, room))
        empty = self.query_one("#empty", Static)
        empty.display = not lines
        empty.update(self.empty)
        rows.renew()
        self._tell()

    @property
    def _has_detail(self) -> bool:
        """Whether a row is too narrow for its description."""
        width = self.query_one(RowList).size.width - _ROW_AROUND
        return self.size.height >= _DETAIL_HEIGHT_MIN and self._widest > width

    def _tell(self) -> None:
        """Show the detail of the row under the cursor."""
        row = self.rows.chosen
        detail = self.query_one("#detail", Static)
        detail.display = self._has_detail
        width = max(self.query_one(RowList).size.width, 10)
        text = "" if row is None else self.detail(row)
        lines = wrapped(text, width)[:DETAIL_LINES_MAX]
        lines += [""] * (DETAIL_LINES_MAX - len(lines))
        detail.update("\n".join(lines))

    def on_resize(self) -> None:
        """Fit the picker to the new size."""
        self._arrange()

    @on(Input.Changed)
    def _searched(self, event: Input.Changed) -> None:
        event.stop()
        self.rows.find(event.value)
        self._arrange()

    @on(RowList.Moved)
    def _moved(self) -> None:
        self._tell()
        self.meant(self.rows.chosen)

    @on(RowList.Chosen)
    def _clicked(self) -> None:
        self.action_choose()

    def action_move(self, step: int) -> None:
        """Move the cursor to another row."""
        self.rows.move(step)
        self.query_one(RowList).renew()

    def action_page(self, step: int) -> None:
        """As many rows as are seen."""
        self.action_move(step * max(self.query_one(RowList).size.height - 1, 1))

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        row = self.rows.chosen
        if row is not None and row.enabled:
            self.chosen(row)

    def action_close(self) -> None:
        """Close without a choice."""
        self.dismiss(None)

    def meant(self, row: Row | None) -> None:
        """Handle a move of the cursor; nothing is chosen yet."""

    def detail(self, row: Row) -> str:
        """The detail of the row under the cursor, shown below the rows."""
        return row.description

    def chosen(self, row: Row) -> None:
        """Handle the choice of a row."""
        raise NotImplementedError

    def tell_error(self, error: Exception) -> None:
        """Show an error, whose text may be an agent's."""

        self.app.notify(visible(str(error)), severity="error", markup=False)


class NamePicker(Picker["str | None"]):
    """A picker that returns the key of the chosen row."""

    def chosen(self, row: Row) -> None:
        """Close with the key of the chosen row."""
        self.dismiss(row.key)
