"""What all dialogs have in common: a frame in the place of the editor, the guard, the answer.

This module does not know what is asked.

Invariants
    * Nothing is answered while the guard is up, neither by a key nor by the mouse; every key that
      comes too early holds it up for another moment.
    * A dialog takes at most its share of the height; what does not fit scrolls inside.
    * It answers its question, and nothing else.
"""

from __future__ import annotations

from typing import Any

from textual import events
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.timer import Timer

from accord.terminal.model.chat import Chat
from accord.terminal.model.questions import Question
from accord.terminal.render.render_options import Look
from accord.terminal.screen.dialogs.key_guard import GUARD_SECONDS, Guard
from accord.terminal.screen.themes import palette_for

HEIGHT_SHARE = 0.66
"""Of the height of the screen."""
LOW_ROWS = 18
"""On a low screen so much, if the conversation, the status and the footer keep `ROWS_LEFT`: in 80
by 24 a small change is seen before it is allowed."""
ROWS_LEFT = 6

BODY_LINES_MIN = 3

ELSEWHERE = "Click here or press Tab to answer."
TOO_EARLY = "That was quick. Please read it before you choose."
_EARLY_KEYS = frozenset(
    {"enter", "escape", "space", "tab", "shift+tab", "up", "down", "left", "right"}
    | {"backspace", "delete", "home", "end", "pageup", "pagedown"}
)


class Dialog(Vertical, can_focus=True):
    """A question on the screen.  Guards the invariants of this module."""

    DEFAULT_CSS = """
    Dialog {
        height: auto;
        border: round $border-blurred;
        border-title-color: $text;
        border-title-style: bold;
        border-subtitle-color: $text-muted;
        padding: 0 1;
        background: $surface;
    }
    Dialog:focus-within {
        border: round $primary;
    }
    Dialog.-early, Dialog.-early:focus-within {
        border: round $warning;
    }
    """

    class TooEarly(Message):
        """A key came while the guard was up: perhaps it was meant for the editor."""

        def __init__(self, event: events.Key) -> None:
            super().__init__()
            self.key = event.key
            self.character = event.character if event.is_printable else None

    def __init__(self, question: Question, chat: Chat, controller: Any) -> None:
        super().__init__()
        self.question = question
        self.chat = chat
        self.controller = controller
        self._guard = Guard(chat.clock)
        self._was_early = False
        self._timer: Timer | None = None
        self._hint = ""

    # ---- for whoever shows it

    def refresh_chat(self) -> None:
        """Called when the chat changed: the number of those that wait may be another."""
        self._title()
        self._show_hint()

    @property
    def is_early(self) -> bool:
        """Whether the guard is up."""
        return self._guard.is_up

    # ---- for the dialogs

    @property
    def heading(self) -> str:
        """A safe title that says who asks."""
        return ""

    @property
    def hint(self) -> str:
        """What the keys do; clean."""
        return ""

    @property
    def warning(self) -> str:
        """Why the last key or click did nothing; clean, and empty if it did something."""
        return ""

    def answer(self, value: Any) -> None:
        """Answer, unless it is too early or over."""
        if not self.is_early:
            self.question.answer(value)

    def look(self, width: int) -> Look:
        """How lines of this dialog are to look."""
        return Look(width, palette_for(self.app.theme))

    def opened(self) -> None:
        """The guard is down, and the dialog itself may have the cursor."""

    # ---- inside

    def on_mount(self) -> None:
        """Start the guard against keys meant for the prompt."""
        self.refresh_chat()
        self.call_after_refresh(self.fit)

    def on_show(self) -> None:
        """It appears, or appears again because its tab was chosen: the guard goes up."""
        self.raise_guard()

    def raise_guard(self) -> None:
        """What is pressed from now on for a short time answers nothing."""
        self._guard = Guard(self.chat.clock)
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(GUARD_SECONDS, self._lower)
        self._show_hint()

    def on_focus(self) -> None:
        """The keys are for us; Textual says so to everybody else after this."""
        self.call_later(self._came)

    def _came(self) -> None:
        self._show_hint()
        if not self.is_early:
            self.opened()

    def on_blur(self) -> None:
        """The keys are perhaps for somebody else."""
        self.call_later(self._show_hint)

    def on_descendant_focus(self) -> None:
        """The keys are for a part of us."""
        self._show_hint()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """The keys are perhaps for somebody else."""
        del event
        self.call_later(self._show_hint)

    def _lower(self) -> None:
        if not self.is_early:
            self._was_early = False
            self._show_hint()
            self.opened()

    def on_resize(self) -> None:
        """The room may be another."""
        self.call_after_refresh(self.fit)

    def fit(self) -> None:
        """Have what does not fit scroll, so that all answers are seen."""
        self.styles.max_height = self.room

    @property
    def room(self) -> int:
        """Rows that the dialog may take, its frame included."""
        height = self.screen.size.height
        low = min(height - ROWS_LEFT, LOW_ROWS)
        return max(int(height * HEIGHT_SHARE), low, BODY_LINES_MIN + 3)

    def on_key(self, event: events.Key) -> None:
        """Swallow what comes too early; the rest is for `pressed`."""
        if self.is_early:
            if event.is_printable or event.key in _EARLY_KEYS:
                event.stop()
                event.prevent_default()
                self._was_early = True
                # The user is still typing a prompt; a key after a pause is meant for the dialog.
                self.raise_guard()
                self.post_message(self.TooEarly(event))
            return
        self._was_early = False
        if self.pressed(event):
            event.stop()
            event.prevent_default()
        self._show_hint()

    def pressed(self, event: events.Key) -> bool:
        """Act on a key; whether it meant something."""
        del event
        return False

    def _title(self) -> None:
        waiting = self.chat.questions.waiting
        count = f"1 of {waiting} · " if waiting > 1 else ""
        self.border_title = Content(f"{count}{self.heading}")

    def _show_hint(self) -> None:
        early = TOO_EARLY if self.is_early and self._was_early else self.warning
        self.set_class(bool(early), "-early")
        hint = early or (self.hint if self.has_focus_within else ELSEWHERE)
        if hint != self._hint:
            self._hint = hint
            self.border_subtitle = Content(hint)


__all__ = ["BODY_LINES_MIN", "HEIGHT_SHARE", "TOO_EARLY", "Dialog"]
