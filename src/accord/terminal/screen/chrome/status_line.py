"""The status line: what happens now, and how to stop it.

This module does not know how a turn is stopped.

Invariants
    * Only the seconds change on their own.
    * All states are shown in words, not only by colour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from accord.terminal.model.chat import Chat
from accord.terminal.model.key_bindings import key_text
from accord.terminal.model.labels.amounts_and_durations import counted, span
from accord.terminal.model.labels.stop_reasons_and_exit_codes import turn_end_words
from accord.terminal.model.people import (
    ahead_words,
    here_words,
    stop_refusal,
    working_words,
)
from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.widgets.clickable_line import Part, PartsLine, fit

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import ChatController

_STOP = "stop"
_LAST_LEAST, _QUIET_LEAST = 12, 32
"""Columns for the agent's last action, which matters more while it is quiet."""


class StatusLine(PartsLine):
    """The state of the turn in one line."""

    DEFAULT_CSS = """
    StatusLine { height: 1; padding: 0 1; background: $background; }
    """

    class StopPressed(Message):
        """The user clicked Stop."""

    def __init__(self, chat: Chat, controller: ChatController) -> None:
        super().__init__()
        self._chat = chat
        self._controller = controller

    def refresh_chat(self) -> None:
        """Draw the line again if something changed."""
        self.renew()

    def parts(self, width: int) -> list[Part]:
        """The parts: the state on the left, Stop on the right."""
        right = self._stop()
        room = width - sum(part.cells for part in right) - (2 if right else 0)
        left = fit(self._now(), max(room, 0))
        if not right:
            return left
        blank = width - sum(part.cells for part in (*left, *right))
        return [*left, Part(" " * max(blank, 0), self.palette.text), *right]

    def _stop(self) -> list[Part]:
        is_going_on = self._chat.is_busy or self._chat.works_alone
        if not is_going_on or stop_refusal(self._chat) is not None:
            return []
        palette = self.palette
        keys = self._controller.settings.keys_of("stop")
        words = "Abandon it" if self._chat.phase == "stopping" else "Stop"
        found = [Part(f"[{words}]", palette.error, target=_STOP)]
        # An open dialog has the key.
        if keys and not self._chat.needs_answer:
            found.append(Part(f" {key_text(keys[0])}", palette.dim, target=_STOP))
        return found

    def _now(self) -> list[Part]:
        chat, palette = self._chat, self.palette
        if chat.needs_answer:
            count = chat.questions.waiting
            more = f" · {count} questions" if count > 1 else ""
            return [Part("◆ Waiting for you", palette.waiting), Part(more, palette.dim, weight=1)]
        if chat.phase == "starting":
            name = one_line(chat.agent_name)
            does = "Connecting to" if chat.is_remote else "Starting"
            return [Part(f"○ {does} {name}…" if name else "○ Starting…", palette.dim, least=12)]
        if chat.lacks_session:
            return [Part("✗ No session", palette.error)]
        if chat.lacks_login:
            return [Part("✗ Not logged in", palette.error)]
        if chat.phase == "lost":
            words = "Not connected" if chat.is_remote else "The agent is not running"
            return [Part(f"✗ {words}", palette.error)]
        if chat.phase == "stopping":
            return [Part("◌ Stopping…", palette.warning), *self._elapsed()]
        if chat.phase == "working":
            return self._working()
        behind = self._behind()
        if chat.works_alone:
            return [Part(f"● {working_words(chat)}", palette.running), *behind, *self._people()]
        return [*self._after(), *behind]

    def _working(self) -> list[Part]:
        chat, palette = self._chat, self.palette
        last = one_line(chat.last_did)
        quiet = chat.quiet_for
        if quiet is not None and quiet >= self._controller.settings.quiet_seconds:
            found = [Part(f"◌ Quiet for {span(quiet)}", palette.warning)]
            if last:
                words = f" — last: {last}"
                found.append(Part(words, palette.dim, weight=2, least=_QUIET_LEAST))
            return [*found, *self._elapsed()]
        found = [Part("● Working", palette.running), *self._elapsed()]
        ahead = ahead_words(chat)
        if ahead:
            return [*found, Part(f" · {ahead}", palette.dim), *self._people()]
        if last:
            found.append(Part(f" · {last}", palette.dim, weight=2, least=_LAST_LEAST))
        return [*found, *self._people()]

    def _elapsed(self) -> list[Part]:
        elapsed = self._chat.elapsed
        if elapsed is None or elapsed < 1:
            return []
        return [Part(f" · {span(elapsed)}", self.palette.dim, weight=1)]

    def _behind(self) -> list[Part]:
        """The number of background tasks."""
        count = len(self._chat.transcript.state.background or ())
        return (
            [Part(f" · {counted(count, 'task')} in the background", self.palette.dim)]
            if count
            else []
        )

    def _after(self) -> list[Part]:
        chat, palette = self._chat, self.palette
        if chat.problem is not None:
            return [Part("✗ See above", palette.error)]
        if chat.stop_reason in (None, "end_turn"):
            return [Part("Ready", palette.dim), *self._asks_again(), *self._people()]
        ended = turn_end_words(chat)
        # The conversation has the details.
        words = one_line(ended.text.partition(". ")[0].rstrip("."))
        style = palette.dim if ended.is_good else palette.warning
        found = [Part("Ready", palette.dim), Part(f" · {words}", style, least=_LAST_LEAST)]
        return [*found, *self._asks_again(), *self._people()]

    def _people(self) -> list[Part]:
        """Show the others in the session, and our own role."""
        words = here_words(self._chat)
        return [Part(f" · {words}", self.palette.dim, weight=2, least=_LAST_LEAST)] if words else []

    def _asks_again(self) -> list[Part]:
        """The hint about retrying what was denied."""
        keys = self._controller.settings.keys_of("retry")
        if self._chat.denied_request is None or not keys:
            return []
        words = f" · {key_text(keys[0])} asks again for what was denied"
        return [Part(words, self.palette.dim, weight=2, least=_LAST_LEAST)]

    def pressed(self, target: str) -> None:
        """The user clicked Stop."""
        self.post_message(self.StopPressed())
