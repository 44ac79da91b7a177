"""Completion of commands and files in the prompt editor, and the list that shows it.

This module does not know how anything is attached or sent.

Invariants
    * The list takes no room of its own, shows at most `ROWS_MAX` lines, and never has the focus.
    * It is open exactly while something matches the word before the cursor, unless the user
      closed it for that word.
    * A search never waits for the disk; the list is updated after the disk was read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from weakref import WeakValueDictionary

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.machine.file_search.file_index import FilesIndex
from accord.machine.file_search.fuzzy_search import positions_of
from accord.terminal.model.chat import Chat
from accord.terminal.model.prompt.completion import (
    CompletionQuery,
    asked_in,
    choices_of,
    fitting,
    hint_for,
)
from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.text_runs import cut
from accord.terminal.screen.prompt.text_area import PromptArea
from accord.terminal.screen.widget_themes import palette_for

ROWS_MAX = 8
CHOICES_MAX = 100
_TITLE_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class Choice:
    """One completion.  All texts are safe; `marked` are the matched letters of the title."""

    key: str
    title: str
    note: str = ""
    marked: tuple[int, ...] = ()


class CompletionList(Widget, can_focus=False):
    """The list of choices.  Guards: the cursor is on a choice as long as there is one."""

    DEFAULT_CSS = """
    CompletionList {
        display: none; overlay: screen; constrain: none inside; width: 1fr; height: 1;
        background: $panel;
    }
    CompletionList.-open { display: block; }
    """

    class Taken(Message):
        """A choice was clicked."""

        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

    def __init__(self) -> None:
        super().__init__()
        self._choices: tuple[Choice, ...] = ()
        self._at = 0
        self._empty = ""

    @property
    def is_open(self) -> bool:
        """Whether the list is shown, with choices or a message."""
        return self.has_class("-open")

    @property
    def chosen(self) -> Choice | None:
        """The choice under the cursor."""
        return self._choices[self._at] if self.is_open and self._choices else None

    def show(self, choices: Sequence[Choice], empty: str = "") -> None:
        """Show these choices; without any, show the message or close."""
        before = self.chosen
        self._choices = tuple(choices[:CHOICES_MAX])
        keys = [choice.key for choice in self._choices]
        # Keep the cursor on its choice if it is still there.
        stays = before is not None and self._at > 0 and before.key in keys
        self._at = keys.index(before.key) if before is not None and stays else 0
        self._empty = empty
        lines = min(len(self._choices), ROWS_MAX) or bool(empty)
        self.set_class(bool(lines), "-open")
        self.styles.height = max(lines, 1)
        self._place(max(lines, 1))
        self.refresh()

    def _place(self, lines: int) -> None:
        """Place the list above the editor, in the same width."""
        owner = self.parent
        if isinstance(owner, Widget):
            frame = owner.gutter
            self.styles.width = owner.outer_size.width
            self.styles.offset = (-frame.left, -lines - frame.top)

    def close(self) -> None:
        """Hide the list of choices."""
        self._choices = ()
        self._empty = ""
        self.set_class(False, "-open")

    def move(self, step: int) -> None:
        """Move the cursor, wrapping around at the ends."""
        if self._choices:
            self._at = (self._at + step) % len(self._choices)
            self.refresh()

    @property
    def _first(self) -> int:
        """The first visible choice."""
        return max(0, min(self._at - ROWS_MAX + 2, len(self._choices) - ROWS_MAX))

    def render_line(self, y: int) -> Strip:
        """Render one line of the list."""
        width = self.size.width
        palette = palette_for(self.app.theme)
        y += self._first
        if y >= len(self._choices):
            text = cut(self._empty, width - 2) if y == 0 else ""
            strip = Strip([Segment("  " + text, palette.dim)])
            return strip.crop_extend(0, width, None).apply_style(self.rich_style)
        choice = self._choices[y]
        is_meant = y == self._at
        more = self._more(y)
        room = width - 3 - cell_len(more)
        title = cut(choice.title, int(room * _TITLE_SHARE) if choice.note else room)
        style = palette.strong if is_meant else palette.text
        pieces = [("❯ " if is_meant else "  ", palette.accent)]
        pieces += _marked(title, choice.marked, style, style + palette.accent)
        room -= cell_len(title) + 2
        if choice.note and room > 6:
            pieces.append(("  " + cut(choice.note, room), palette.dim))
        if more:
            taken = sum(cell_len(text) for text, _ in pieces)
            pieces.append((" " * max(width - taken - cell_len(more) - 1, 0) + more, palette.dim))
        strip = Strip([Segment(text, style) for text, style in pieces])
        if is_meant:
            strip = strip.extend_cell_length(width).apply_style(palette.selected)
        return strip.crop_extend(0, width, None).apply_style(self.rich_style)

    def _more(self, at: int) -> str:
        """The count of hidden choices, shown in the last line."""
        left = len(self._choices) - at - 1
        return f" {left} more" if left and at == self._first + ROWS_MAX - 1 else ""

    def on_click(self, event: events.Click) -> None:
        """Accept the clicked choice."""
        event.stop()
        at = self._first + event.y
        if at < len(self._choices):
            self._at = at
            self.post_message(self.Taken(self._choices[at]))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves the cursor."""
        event.stop()
        self.move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves the cursor."""
        event.stop()
        self.move(-1)


def _marked(text: str, marked: Sequence[int], style: Style, mark: Style) -> list[tuple[str, Style]]:
    """The text with some letters highlighted."""
    if not marked:
        return [(text, style)]
    places = set(marked)
    return [(letter, mark if at in places else style) for at, letter in enumerate(text)]


# Called with the completed file: its name in the text and its path.
OnFile: TypeAlias = Callable[[str, Path], None]

FILES_MAX = 40
"""The number of choices for one query."""

_INDEXES: WeakValueDictionary[tuple[str, ...], FilesIndex] = WeakValueDictionary()


class Completer:
    """The completions of one editor."""

    def __init__(
        self,
        area: PromptArea,
        owner: Widget,
        chat: Chat,
        roots: Callable[[], Sequence[str]],
        on_file: OnFile,
    ) -> None:
        self.list = CompletionList()
        self._area = area
        self._owner = owner
        self._chat = chat
        self._roots = roots
        self._on_file = on_file
        self._index = FilesIndex(())
        # The start of the word for which the user closed the list.
        self._closed_at: tuple[int, int] | None = None

    @property
    def files(self) -> FilesIndex:
        """The index of the session's folders, shared by all tabs."""
        roots = tuple(self._roots())
        if self._index.roots != roots:
            found = _INDEXES.get(roots)
            self._index = FilesIndex(roots) if found is None else found
            _INDEXES[roots] = self._index
        return self._index

    def hint(self, text: str) -> str:
        """The argument hint of the typed command."""
        return hint_for(choices_of(self._chat.transcript.commands), text)

    def asked(self) -> CompletionQuery | None:
        """What can be completed at the cursor."""
        area = self._area
        if area.selection.start != area.selection.end:
            return None
        row, column = area.cursor_location
        return asked_in(area.document[row], column, is_first_line=row == 0)

    # ---- showing choices

    def renew(self, *, again: bool = False) -> None:
        """Update the choices; with `again` even if the user closed the list."""
        asked = self.asked()
        if asked is None:
            self._closed_at = None
            self.list.close()
            return
        if again:
            self._closed_at = None
        if self._closed_at == (self._area.cursor_location[0], asked.start):
            return
        self._closed_at = None
        if asked.kind == "command":
            self._offer_commands(asked)
        else:
            self._offer_files(asked)

    def close(self) -> bool:
        """Close the list until another word is typed; return whether it was open."""
        if not self.list.is_open:
            return False
        self.list.close()
        asked = self.asked()
        self._closed_at = None if asked is None else (self._area.cursor_location[0], asked.start)
        return True

    def _offer_commands(self, asked: CompletionQuery) -> None:
        found = fitting(choices_of(self._chat.transcript.commands), asked.query)
        self.list.show(
            [Choice(one.name, f"/{one.name} {one.hint}".rstrip(), one.description) for one in found]
        )

    def _offer_files(self, asked: CompletionQuery) -> None:
        index = self.files
        choices: list[Choice] = []
        for name in index.find(asked.query, FILES_MAX):
            # Matched letters are highlighted only if the name is shown unchanged.
            is_plain = one_line(name) == name and len(name.lower()) == len(name)
            marked = positions_of(asked.query.lower(), name.lower()) if is_plain else []
            choices.append(Choice(name, one_line(name), marked=tuple(marked)))
        self.list.show(choices, "" if index.was_read else "Looking for files …")
        if index.is_stale:
            self._owner.run_worker(self._look(index), exit_on_error=False, group="files")

    async def _look(self, index: FilesIndex) -> None:
        if await index.refresh() and self._owner.is_attached:
            self.renew()

    # ---- accepting a choice

    def take(self, *, is_sending: bool) -> bool:
        """Insert the choice; return whether the key was handled."""
        asked, choice = self.asked(), self.list.chosen
        if asked is None or choice is None:
            return False
        if is_sending and asked.kind == "command" and asked.query == choice.key:
            # It was typed completely, so Enter means send.
            self.list.close()
            return False
        row, column = self._area.cursor_location
        mark = "/" if asked.kind == "command" else "@"
        rest = self._area.document[row][column:]
        gap = "" if rest.startswith(" ") else " "
        result = self._area.replace(
            f"{mark}{choice.key}{gap}",
            (row, asked.start),
            (row, column),
            maintain_selection_offset=False,
        )
        self._area.move_cursor(result.end_location)
        self.list.close()
        if asked.kind == "file":
            index = self.files
            index.use(choice.key)
            self._on_file(choice.key, index.path_of(choice.key))
        return True
