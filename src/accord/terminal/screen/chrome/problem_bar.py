"""What can be done about what went wrong in a chat, by one key or click.

Must not know how anything is mended: the controller does that.

What always holds: what went wrong is told once.  What is said about it in the conversation is not
said here; where nothing is, because there is no conversation yet, all of it is.
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
from accord.terminal.model.chat import Chat, Problem, Remedy
from accord.terminal.model.client_remark import Remark
from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.widgets.button import Button

DETAIL_LINES_MAX = 6
"""Lines of the last words that are shown here."""
TOLD_LATELY = 20
"""Entries of the conversation, from the last one back, that may tell of a problem that is new."""

_WORDS: dict[Remedy, str] = {
    "retry": "Try again",
    "restart": "Restart the agent",
    "new_session": "New session",
    "log_in": "Log in",
    "dismiss": "Dismiss",
}


class ProblemBar(Widget):
    """Hidden while nothing is wrong."""

    DEFAULT_CSS: ClassVar[str] = """
    ProblemBar { height: auto; display: none; padding: 0 1; background: $error 12%; }
    ProblemBar.-shown { display: block; }
    ProblemBar #problem-text { color: $text-error; text-style: bold; height: auto; }
    ProblemBar #problem-detail { color: $text-muted; height: auto; }
    ProblemBar #problem-remedies { height: 1; }
    """

    class Chosen(Message):
        """The person wants this done about it."""

        def __init__(self, remedy: Remedy) -> None:
            super().__init__()
            self.remedy: Remedy = remedy

    def __init__(self, chat: Chat, retry_key: str = "") -> None:
        super().__init__()
        self._chat = chat
        self._retry_key = retry_key
        self._shown: Problem | None = None
        # Whether the conversation tells of it.
        self._is_told = False

    def compose(self) -> ComposeResult:
        yield Static("", id="problem-text", markup=False)
        yield Static("", id="problem-detail", markup=False)
        yield Horizontal(id="problem-remedies")

    def refresh_chat(self) -> None:
        """Show what is wrong now, and how long until it may be tried again."""
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
            said.append(f"try again in {left:.0f} s" if left > 0 else "it may be tried again now")
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
        # The person may have left meanwhile.
        if place.is_attached:
            await place.mount(*buttons)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """One of the remedies."""
        event.stop()
        for remedy in _WORDS:
            if remedy == event.action:
                self.post_message(self.Chosen(remedy))


def _is_told(problem: Problem, chat: Chat) -> bool:
    last = chat.entries[-TOLD_LATELY:]
    return any(isinstance(one, Remark) and one.text == problem.text for one in last)


__all__ = ["ProblemBar"]
