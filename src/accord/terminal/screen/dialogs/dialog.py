"""What all dialogs have: a frame in place of the prompt, clean text, the key guard, the answer.

This module does not know what is asked.

Invariants
    * No key or click answers while the guard is up; every early key keeps it up for another moment.
    * A dialog takes at most its share of the height; what does not fit scrolls inside.
    * It answers its question, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rich.style import Style
from textual import events
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from accord.terminal.model.chat import Chat
from accord.terminal.model.questions import Question
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import strip_of, wrapped
from accord.terminal.screen.widget_themes import palette_for

HEIGHT_SHARE = 0.66
"""The maximum height of a dialog, as a share of the screen."""
LOW_ROWS = 18
"""This much on a low screen, if the conversation, the status and the footer keep `ROWS_LEFT`: in 80
by 24 a small change is seen before it is allowed."""
ROWS_LEFT = 6

BODY_LINES_MIN = 3

GUARD_SECONDS = 0.5
"""How long a question must have been on the screen before a key can answer it."""

ELSEWHERE = "Click here or press Tab to answer."
TOO_EARLY = "That was quick. Please read it before you choose."
_EARLY_KEYS = frozenset(
    {"enter", "escape", "space", "tab", "shift+tab", "up", "down", "left", "right"}
    | {"backspace", "delete", "home", "end", "pageup", "pagedown"}
)


class Guard:
    """Keeps keys from answering that were meant for something else, by the clock of the chat."""

    def __init__(self, clock: Callable[[], float], seconds: float = GUARD_SECONDS) -> None:
        self._clock = clock
        self._until = clock() + seconds

    @property
    def is_up(self) -> bool:
        """Whether it is too early to answer."""
        return self._clock() < self._until


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
        """A key came while the guard was up; it was probably meant for the prompt."""

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

    # ---- for the pane

    def refresh_chat(self) -> None:
        """Update the number of waiting questions."""
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
        """The key hints of the dialog."""
        return ""

    @property
    def warning(self) -> str:
        """Why the last key or click had no effect; empty if it had one."""
        return ""

    def answer(self, value: Any) -> None:
        """Answer the question, unless it is too early or already over."""
        if not self.is_early:
            self.question.answer(value)

    def look(self, width: int) -> Look:
        """The look of the dialog's lines."""
        return Look(width, palette_for(self.app.theme))

    def opened(self) -> None:
        """Handle the end of the guard."""

    # ---- inside

    def on_mount(self) -> None:
        """Start the guard against keys meant for the prompt."""
        self.refresh_chat()
        self.call_after_refresh(self.fit)

    def on_show(self) -> None:
        """Raise the guard whenever the dialog appears."""
        self.raise_guard()

    def raise_guard(self) -> None:
        """Ignore keys for a short time from now on."""
        self._guard = Guard(self.chat.clock)
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(GUARD_SECONDS, self._lower)
        self._show_hint()

    def on_focus(self) -> None:
        """Show that the dialog has the focus."""
        self.call_later(self._came)

    def _came(self) -> None:
        self._show_hint()
        if not self.is_early:
            self.opened()

    def on_blur(self) -> None:
        """Show that the dialog may have lost the focus."""
        self.call_later(self._show_hint)

    def on_descendant_focus(self) -> None:
        """Show that a child has the focus."""
        self._show_hint()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Show that the dialog may have lost the focus."""
        del event
        self.call_later(self._show_hint)

    def _lower(self) -> None:
        if not self.is_early:
            self._was_early = False
            self._show_hint()
            self.opened()

    def on_resize(self) -> None:
        """Fit the dialog to the new size."""
        self.call_after_refresh(self.fit)

    def fit(self) -> None:
        """Let long parts scroll, so that all answers are visible."""
        self.styles.max_height = self.room

    @property
    def room(self) -> int:
        """Rows that the dialog may take, its frame included."""
        height = self.screen.size.height
        low = min(height - ROWS_LEFT, LOW_ROWS)
        return max(int(height * HEIGHT_SHARE), low, BODY_LINES_MIN + 3)

    def on_key(self, event: events.Key) -> None:
        """Swallow early keys and pass the others to `pressed`."""
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
        """Handle a key; return whether it had a meaning."""
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


_STANDS_FOR_OTHERS = re.compile(r"(⟨(?:U\+[0-9A-F]+(?: ×[0-9]+)?|[0-9,]+ [a-z ]+)⟩)")


def text_lines(text: str, look: Look, style: Style, *, indent: int = 0) -> list[Strip]:
    """Clean text, wrapped; indentation of its own lines stays."""
    width = max(look.width - indent, 2)
    found: list[Strip] = []
    for line in text.split("\n"):
        bare = line.lstrip(" ")
        lead = " " * min(len(line) - len(bare), width // 2)
        parts = wrapped(bare, width - len(lead))
        found += [strip_of((lead, style), *_marked(part, style)) for part in parts]
    return found


def _marked(part: str, style: Style) -> list[tuple[str, Style]]:
    """A line in which placeholders for other characters are shown in reverse video."""
    if "⟨" not in part:
        return [(part, style)]
    over = style + Style(reverse=True)
    pieces = _STANDS_FOR_OTHERS.split(part)
    return [(piece, over if at % 2 else style) for at, piece in enumerate(pieces)]
