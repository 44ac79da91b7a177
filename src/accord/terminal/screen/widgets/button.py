"""A one-line button that is pressed by Enter, Space or the mouse."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static


class Button(Static, can_focus=True):
    """A button of one line."""

    DEFAULT_CSS: ClassVar[str] = """
    Button { width: auto; height: 1; padding: 0 1; margin: 0 1 0 0; background: $panel; }
    Button:focus { text-style: reverse bold; }
    Button.-allow { color: $success; }
    Button.-reject { color: $error; }
    """

    class Pressed(Message):
        """The user pressed the button."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self, words: str, action: str, tone: str = "") -> None:
        super().__init__(Content(words), markup=False, classes=f"-{tone}" if tone else "")
        self._action = action

    def on_key(self, event: events.Key) -> None:
        """Press the button on Enter or Space, unless the dialog says that it is too early."""
        if event.key in ("enter", "space"):
            event.stop()
            event.prevent_default()
            self.post_message(self.Pressed(self._action))

    def on_click(self, event: events.Click) -> None:
        """Press the button on a click."""
        event.stop()
        self.post_message(self.Pressed(self._action))
