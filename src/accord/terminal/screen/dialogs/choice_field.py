"""A form field with choices: one of several, or any number of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from accord.terminal.model.text.display_text import one_line
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import cut, strip_of
from accord.terminal.screen.widget_themes import palette_for
from accord.terminal.screen.widgets.scrollable_lines import Lines


class Picker(Lines, can_focus=True):
    """Choices with marks.  Guards: without `many` at most one is chosen."""

    DEFAULT_CSS: ClassVar[str] = """
    Picker { max-height: 8; }
    """

    class Changed(Message):
        """Another choice was made."""

        def __init__(self, picker: Picker) -> None:
            super().__init__()
            self.picker = picker

    def __init__(
        self, choices: Sequence[tuple[str, str]], chosen: Sequence[str] = (), *, many: bool = False
    ) -> None:
        """`choices` are values and labels; labels are made safe here."""
        super().__init__(self._rows)
        self._choices = [(value, one_line(words)) for value, words in choices]
        self._many = many
        self._at = 0
        self._chosen = {value for value in chosen if any(value == one for one, _ in choices)}

    @property
    def chosen(self) -> list[str]:
        """What is chosen, in the order of the choices."""
        return [value for value, _ in self._choices if value in self._chosen]

    def on_focus(self) -> None:
        """Show the cursor while focused."""
        self.rebuild()

    def on_blur(self) -> None:
        """Hide the list when the focus leaves."""
        self.rebuild()

    def on_key(self, event: events.Key) -> None:
        """Go up and down, choose with Space or Enter."""
        if event.key in ("up", "down") and self._choices:
            self._at = (self._at + (1 if event.key == "down" else -1)) % len(self._choices)
            top, height = self.scroll_offset.y, self.size.height
            if not top <= self._at < top + height:
                self.scroll_to(y=self._at - height // 2, animate=False)
            self.rebuild()
        elif event.key in ("space", "enter"):
            self._toggle(self._at)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_click(self, event: events.Click) -> None:
        """Choose the clicked value."""
        event.stop()
        self._toggle(event.y + self.scroll_offset.y)

    def _toggle(self, index: int) -> None:
        if not 0 <= index < len(self._choices):
            return
        self._at = index
        value = self._choices[index][0]
        if value in self._chosen:
            self._chosen.discard(value)
        else:
            if not self._many:
                self._chosen.clear()
            self._chosen.add(value)
        self.rebuild()
        self.post_message(self.Changed(self))

    def _rows(self, width: int) -> list[Strip]:
        look = Look(width, palette_for(self.app.theme))
        return [self._row(index, look) for index in range(len(self._choices))]

    def _row(self, index: int, look: Look) -> Strip:
        value, words = self._choices[index]
        on = value in self._chosen
        here = index == self._at and self.has_focus
        mark = ("[x] " if on else "[ ] ") if self._many else ("(•) " if on else "( ) ")
        style = look.palette.strong if on else look.palette.text
        over = Style(reverse=True) if here else Style.null()
        return strip_of((mark, style), (cut(words, max(look.width - 4, 4)), style + over))
