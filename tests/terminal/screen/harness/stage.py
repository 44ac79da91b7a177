"""What screens are tested on: chats without agents, a controller that records what is asked of it,
and the text on the screen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from textual.app import App, ComposeResult
from textual.strip import Strip
from textual.widget import Widget

from accord.client.connection.capabilities import AgentCapabilities
from accord.client.wire.wire_interface import SessionInfo
from accord.errors import AccordError
from accord.schema import v1
from accord.schema.codec import decode
from accord.terminal.model.chat import Chat
from accord.terminal.model.settings import Settings
from accord.terminal.screen.widget_themes import apply_theme, register_themes
from accord.transcript import Transcript

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import ChatController

WIDE = (100, 30)
NARROW = (60, 20)
# Commands to the terminal, markup of two sorts, letters that turn the order around, and emoji
# that are joined.
HOSTILE = (
    "\x1b]0;owned\x07[red]bold[/red] [@click=app.quit]x[/] \u202egpj.exe \x9b31m 家族👨‍👩‍👧 end"
)
LONG = "long " * 100
CJK = "漢字かな交じり文" * 20

ALL = AgentCapabilities(
    sessions=True, load=True, resume=True, listing=True, delete=True, fork=True, title=True
)


class Clock:
    """A time that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def a_chat(session_id: str = "s1", folder: str = "/home/me/project") -> Chat:
    """A chat that is ready."""
    chat = Chat(folder, clock=Clock())
    chat.agent_name = "Claude Agent"
    chat.adopt(Transcript("v1"), session_id)
    chat.set_phase("ready")
    return chat


def pass_time(chat: Chat, seconds: float) -> None:
    """Let the chat's clock go on."""
    assert isinstance(chat.clock, Clock)
    chat.clock.now += seconds


def hear(chat: Chat, **update: Any) -> None:
    """Let the agent say something; the words of the wire."""
    found: Any = decode(cast("Any", v1.SessionUpdate), json.dumps(update).encode())
    told = chat.transcript.apply(found)
    assert told is not None
    chat.listen(told)


def set_up(chat: Chat, **answer: Any) -> None:
    """Let the agent answer that the session is open."""
    raw = json.dumps({"sessionId": chat.session_id, **answer}).encode()
    chat.transcript.session_setup(decode(v1.NewSessionResponse, raw))
    chat.changed()


def select(option_id: str, name: str, values: Sequence[str], **more: Any) -> dict[str, Any]:
    """A config option of the wire."""
    options = [{"value": value, "name": value.title()} for value in values]
    found = {"type": "select", "id": option_id, "name": name, "options": options}
    return {**found, "currentValue": values[0], **more}


class ControllerDouble:
    """A controller without agents.  What is asked of it is in `asked`."""

    def __init__(self, *chats: Chat, can: AgentCapabilities | None = ALL) -> None:
        self.chats = list(chats)
        self.settings = Settings()
        self.can = can
        self.stored: list[SessionInfo] = []
        self.asked: list[tuple[Any, ...]] = []
        # Where it is set, everything fails with it.
        self.error: AccordError | None = None

    @property
    def controller(self) -> ChatController:
        """As what it stands for."""
        return cast("ChatController", self)

    def capabilities(self, chat: Chat) -> AgentCapabilities | None:
        return self.can

    def tell(self, chat: Chat, activity: str) -> None:
        """Nobody else is here."""

    def _note(self, *what: Any) -> None:
        self.asked.append(what)
        if self.error is not None:
            raise self.error

    async def sessions(self, chat: Chat) -> list[SessionInfo]:
        self._note("sessions")
        return self.stored

    async def open_stored(self, chat: Chat, info: SessionInfo) -> Chat:
        self._note("open", info.session_id)
        for other in self.chats:
            if other.session_id == info.session_id:
                return other
        other = a_chat(info.session_id)
        self.chats.append(other)
        return other

    async def rename(self, chat: Chat, session_id: str, title: str) -> str:
        self._note("rename", session_id, title)
        # An agent may make something else of it.
        return title.strip()[:10]

    async def fork_stored(self, chat: Chat, info: SessionInfo) -> Chat:
        self._note("fork_stored", info.session_id)
        return a_chat("forked")

    async def fork(self, chat: Chat) -> Chat:
        self._note("fork", chat.session_id)
        return a_chat("forked")

    async def delete(self, chat: Chat, session_id: str) -> None:
        self._note("delete", session_id)

    async def set_mode(self, chat: Chat, mode_id: str) -> None:
        self._note("mode", mode_id)
        hear(chat, sessionUpdate="current_mode_update", currentModeId=mode_id)

    async def set_option(self, chat: Chat, option_id: str, value: str | bool) -> None:
        self._note("option", option_id, value)


class Stage(App[None]):
    """An application that shows some widgets in one of our themes."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, *widgets: Widget, theme: str = "accord-dark") -> None:
        super().__init__()
        self._widgets = widgets
        register_themes(self)
        apply_theme(self, theme)
        self.ran: list[str] = []
        self.notes: list[str] = []

    def compose(self) -> ComposeResult:
        yield from self._widgets

    def action_perform(self, name: str) -> None:
        self.ran.append(name)

    def notify(self, message: str, **how: Any) -> None:
        """Note it, and that nothing in it is read as markup."""
        assert how.get("markup") is False
        self.notes.append(message)
        super().notify(message, **how)

    @property
    def strips(self) -> list[Strip]:
        """What is drawn now."""
        return self.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]

    @property
    def lines(self) -> list[str]:
        """What stands on the screen now."""
        width, height = self.size
        found = ["".join(segment.text for segment in strip).ljust(width) for strip in self.strips]
        return found[:height]

    @property
    def text(self) -> str:
        """The same as one text."""
        return "\n".join(self.lines)

    def line_with(self, words: str) -> str:
        """The line that has these words."""
        found = [line for line in self.lines if words in line]
        assert found, f"{words!r} is not in\n{self.text}"
        return found[0]


def place_of(app: Stage, words: str) -> tuple[int, int]:
    """Where words stand on the screen, for a click."""
    from rich.cells import cell_len

    for y, line in enumerate(app.lines):
        at = line.find(words)
        if at >= 0:
            return cell_len(line[:at]), y
    raise AssertionError(f"{words!r} is not in\n{app.text}")
