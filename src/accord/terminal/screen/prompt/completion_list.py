"""The list of completions, above the prompt and over the conversation.

This module does not know what is completed.

Invariant: it takes no room of its own, shows at most `ROWS_MAX` lines, and never has the
focus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.terminal.render.text_runs import cut
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
