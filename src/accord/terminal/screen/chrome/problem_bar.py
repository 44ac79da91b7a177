"""The remedies for a problem of a chat, each by one key or click.

This module does not know how a problem is solved; the controller does.

Invariant: a problem is described once.  If the conversation describes it, the bar does not; if
there is no conversation yet, the bar does.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from accord.machine.console.control_characters import visible
from accord.terminal.model.chat import Chat, Problem, Remark, Remedy
from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.widgets.button import Button

DETAIL_LINES_MAX = 6
"""Lines of the detail that are shown here."""
TOLD_LATELY = 20
"""The number of last entries that are searched for a description of the problem."""

_WORDS: dict[Remedy, str] = {
    "retry": "Try again",
    "restart": "Restart the agent",
    "connect": "Connect again",
    "new_session": "New session",
    "log_in": "Log in",
    "dismiss": "Dismiss",
}


class ProblemBar(Widget):
    """The bar; hidden while there is no problem."""

    DEFAULT_CSS: ClassVar[str] = """
    ProblemBar { height: auto; display: none; padding: 0 1; background: $error 12%; }
    ProblemBar.-shown { display: block; }
    ProblemBar #problem-text { color: $text-error; text-style: bold; height: auto; }
    ProblemBar #problem-detail { color: $text-muted; height: auto; }
    ProblemBar #problem-remedies { height: 1; }
    """

    class Chosen(Message):
        """The user chose a remedy."""

        def __init__(self, remedy: Remedy) -> None:
            super().__init__()
            self.remedy: Remedy = remedy

    def __init__(self, chat: Chat, retry_key: str = "") -> None:
        super().__init__()
        self._chat = chat
        self._retry_key = retry_key
        self._shown: Problem | None = None
        # Whether the conversation describes it.
        self._is_told = False

    def compose(self) -> ComposeResult:
        yield Static("", id="problem-text", markup=False)
        yield Static("", id="problem-detail", markup=False)
        yield Horizontal(id="problem-remedies")

    def refresh_chat(self) -> None:
        """Show the problem, and the time until a retry."""
        problem = self._chat.problem
        if problem is None:
            if self._shown is not None:
                self._shown = None
                self.remove_class("-shown")
            return
        is_new = problem is not self._shown
        if is_new:
            self._is_told = _is_told(problem, self._chat)
        said = [] if self._is_told else [one_line(problem.text)]
        if problem.retry_at is not None:
            left = problem.retry_at - self._chat.clock()
            said.append(f"try again in {left:.0f} s" if left > 0 else "you can try again now")
        text = " — ".join(said)
        words = self.query_one("#problem-text", Static)
        words.update(Content(f"{text[:1].upper()}{text[1:]}"))
        words.display = bool(said)
        if not is_new:
            return
        self._shown = problem
        self.add_class("-shown")
        lines = [] if self._is_told else visible(problem.detail).strip().splitlines()
        detail = self.query_one("#problem-detail", Static)
        detail.update(Content("\n".join(lines[-DETAIL_LINES_MAX:])))
        detail.display = bool(lines)
        self.call_later(self._offer, problem)

    async def _offer(self, problem: Problem) -> None:
        place = self.query_one("#problem-remedies", Horizontal)
        await place.remove_children()
        if problem is not self._shown:
            return
        buttons: list[Button] = []
        for number, remedy in enumerate(problem.remedies):
            words = _WORDS[remedy]
            if number == 0 and self._retry_key:
                words = f"{words} ({self._retry_key})"
            buttons.append(Button(words, remedy))
        # The app may be closing.
        if place.is_attached:
            await place.mount(*buttons)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Report the remedy that was chosen."""
        event.stop()
        for remedy in _WORDS:
            if remedy == event.action:
                self.post_message(self.Chosen(remedy))


def _is_told(problem: Problem, chat: Chat) -> bool:
    last = chat.entries[-TOLD_LATELY:]
    return any(isinstance(one, Remark) and one.text == problem.text for one in last)
