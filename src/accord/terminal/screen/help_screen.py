"""The list of keys by purpose, including the user's own bindings.

This module does not know what an action does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip

from accord.terminal.model.key_bindings import FIXED_KEYS, GROUP_TEXTS, KeyBinding, key_text
from accord.terminal.render.text_runs import wrapped
from accord.terminal.screen.widget_themes import palette_for
from accord.terminal.screen.widgets.key_hints import Hint, Hints

_KEY_COLUMNS_MAX = 24


class _HelpLines(ScrollView, can_focus=True):
    """The list of keys."""

    DEFAULT_CSS = """
    _HelpLines {
        height: 1; background: $surface; overflow-x: hidden; scrollbar-size-vertical: 1;
    }
    """

    def __init__(self, actions: Sequence[KeyBinding]) -> None:
        super().__init__()
        self._groups = grouped(actions)
        self._lines: list[list[tuple[str, str]]] = []

    def on_resize(self) -> None:
        """Wrap the lines to the new width."""
        self._lines = _laid_out(self._groups, max(self.size.width - 1, 20))
        self.virtual_size = Size(self.size.width, len(self._lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """A key and what it does."""
        at = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if at >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        palette = palette_for(self.app.theme)
        styles = {"heading": palette.heading, "key": palette.accent, "text": palette.text}
        strip = Strip([Segment(text, styles[name]) for name, text in self._lines[at]])
        return strip.crop_extend(0, width, None).apply_style(self.rich_style)


def grouped(actions: Sequence[KeyBinding]) -> dict[str, list[tuple[str, str]]]:
    """By group: keys and what they do; actions without a key are in the command palette."""
    found: dict[str, list[tuple[str, str]]] = {}
    for action in actions:
        group = GROUP_TEXTS.get(action.group, action.group)
        keys = ", ".join(map(key_text, action.keys)) or "—"
        found.setdefault(group, []).append((keys, action.text))
    for fixed in FIXED_KEYS:
        found.setdefault(GROUP_TEXTS[fixed.group], []).append((fixed.shown, fixed.text))
    return found


def _laid_out(groups: dict[str, list[tuple[str, str]]], width: int) -> list[list[tuple[str, str]]]:
    longest = max(cell_len(keys) for rows in groups.values() for keys, _ in rows)
    column = min(longest, _KEY_COLUMNS_MAX, width // 3) + 2
    found: list[list[tuple[str, str]]] = []
    for group, rows in groups.items():
        if found:
            found.append([])
        found.append([("heading", group)])
        for keys, text in rows:
            left = wrapped(keys, column - 2)
            right = wrapped(text, width - column)
            for number in range(max(len(left), len(right))):
                key = left[number] if number < len(left) else ""
                words = right[number] if number < len(right) else ""
                blank = " " * (column - cell_len(key))
                found.append([("key", key), ("text", blank + words)])
    return found


class HelpScreen(ModalScreen[None]):
    """The screen that lists all keys."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; background: $background 60%; }
    HelpScreen > Vertical {
        width: 92%; max-width: 90; height: 94%; max-height: 60;
        border: round $border; background: $surface; padding: 0 1;
        border-title-color: $text; border-title-style: bold;
    }
    HelpScreen _HelpLines { height: 1fr; }
    HelpScreen Hints { margin: 1 0 0 0; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,f1,question_mark", "close", priority=True),
        Binding("up,k", "lines(-1)", priority=True),
        Binding("down,j", "lines(1)", priority=True),
        Binding("pageup", "pages(-1)", priority=True),
        Binding("pagedown,space", "pages(1)", priority=True),
    ]

    def __init__(self, actions: Sequence[KeyBinding]) -> None:
        super().__init__()
        self._actions = actions

    def compose(self) -> ComposeResult:
        """Put the list in a frame."""
        with Vertical() as frame:
            frame.border_title = "Keys"
            yield _HelpLines(self._actions)
            yield Hints(
                [
                    Hint("Esc", "close", "close"),
                    Hint("↓", "scroll", "lines(1)"),
                    Hint("config.toml", "[chat.keys] changes them", ""),
                ]
            )

    def action_close(self) -> None:
        """Return to the chat."""
        self.dismiss(None)

    def action_lines(self, step: int) -> None:
        """Scroll by one line."""
        self.query_one(_HelpLines).scroll_relative(y=step, animate=False)

    def action_pages(self, step: int) -> None:
        """Scroll by a page."""
        lines = self.query_one(_HelpLines)
        lines.scroll_relative(y=step * max(lines.size.height - 1, 1), animate=False)

    def on_click(self, event: events.Click) -> None:
        """Close the screen on a click outside the frame."""
        if event.widget is self:
            self.dismiss(None)
