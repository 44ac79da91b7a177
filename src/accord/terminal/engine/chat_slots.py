"""Which chats there are, what is behind each, and what can be set in them.

Must not know how an agent is started or a turn is taken.  What needs a client is loaded when there
is one: the screen is drawn before that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from accord.errors import LocalProtocolError
from accord.terminal.model.chat import Chat

if TYPE_CHECKING:
    from accord.client.client import Client
    from accord.client.connection.capabilities import AgentCapabilities
    from accord.client.permissions.grants import Grant
    from accord.client.permissions.permissions import Permissions
    from accord.client.session.session import Session
    from accord.client.wire.wire import SessionInfo
    from accord.terminal.engine.agent_process import AgentLink
    from accord.terminal.engine.launch_options import Order
    from accord.terminal.engine.turns import Turns
    from accord.terminal.model.changes.journal import Journal
    from accord.terminal.model.traffic import Traffic


class Seat:
    """A chat and what is behind it.  `turns` is there while its session is open."""

    def __init__(self, chat: Chat, order: Order) -> None:
        self.chat = chat
        self.order = order
        self.link: AgentLink | None = None
        self.turns: Turns | None = None
        self.recorded: set[str] = set()
        self._journal: Journal | None = None

    @property
    def journal(self) -> Journal:
        """What the agent changed in files; made when it is first asked for."""
        if self._journal is None:
            from accord.terminal.model.changes.journal import Journal

            self._journal = Journal(self.chat)
        return self._journal


class Seats:
    """The chats and what is behind them.  Guards: a chat has one seat as long as it is shown."""

    def __init__(self, permissions: Permissions) -> None:
        self.permissions = permissions
        self._seats: dict[int, Seat] = {}

    # ---- what there is

    @property
    def chats(self) -> list[Chat]:
        """The chats in the order of their tabs."""
        return [seat.chat for seat in self._seats.values()]

    def _seat(self, chat: Chat) -> Seat:
        return self._seats[id(chat)]

    def _client(self, chat: Chat) -> Client:
        link = self._seat(chat).link
        if link is None or link.client is None:
            raise LocalProtocolError("the agent is not there")
        return link.client

    def _session(self, chat: Chat) -> Session:
        turns = self._seat(chat).turns
        if turns is None:
            raise LocalProtocolError("there is no session yet")
        return turns.session

    def capabilities(self, chat: Chat) -> AgentCapabilities | None:
        """What the agent of a chat can do; None while it is not there."""
        link = self._seat(chat).link
        return None if link is None or link.client is None else link.client.capabilities

    def order(self, chat: Chat) -> Order:
        """How the chat was begun."""
        return self._seat(chat).order

    def roots(self, chat: Chat) -> tuple[str, ...]:
        """The folders of a chat's session; before there is one, those that it will have."""
        seat = self._seat(chat)
        return seat.order.roots if seat.turns is None else seat.turns.session.roots

    def traffic(self, chat: Chat) -> Traffic:
        """Every message between us and the agent of a chat."""
        from accord.terminal.model.traffic import Traffic

        link = self._seat(chat).link
        return Traffic() if link is None else link.traffic

    def journal(self, chat: Chat) -> Journal:
        """What the agent changed in files."""
        return self._seat(chat).journal

    def remembered(self) -> tuple[Grant, ...]:
        """Every remembered answer, of whichever agent."""
        return self.permissions.remembered()

    def revoke(self, grant_id: str) -> bool:
        """Forget a remembered answer, in running sessions too."""
        return self.permissions.revoke(grant_id)

    # ---- sessions of the agent

    async def sessions(self, chat: Chat) -> list[SessionInfo]:
        """All sessions of the agent, the one that was used last first."""
        from accord.terminal.engine.name_lookup import sessions_of

        return await sessions_of(self._client(chat), None)

    async def rename(self, chat: Chat, session_id: str, title: str) -> str:
        """Name a session; what the agent made of the title is what is shown."""
        stored = await self._client(chat).unstable.set_title(session_id, title)
        for other in self.chats:
            if other.session_id == session_id:
                other.own_title = stored
                other.changed()
        return stored

    async def delete(self, chat: Chat, session_id: str) -> None:
        """Take a session off the agent's list for good."""
        await self._client(chat).delete_session(session_id)

    # ---- settings of a session

    async def set_mode(self, chat: Chat, mode_id: str) -> None:
        """Switch the mode."""
        await self._session(chat).set_mode(mode_id)
        chat.changed()

    async def cycle_mode(self, chat: Chat) -> None:
        """The next mode of those that there are."""
        from accord.terminal.engine.name_lookup import option_of

        option = option_of(chat.transcript.config_options, "mode")
        if option is not None:
            modes: Sequence[str] = [choice.value for choice in option.choices]
            current = option.value
        else:
            modes = [mode.mode_id for mode in chat.transcript.modes.available]
            current = chat.transcript.modes.current
        if len(modes) < 2:
            raise LocalProtocolError("the agent has no modes to choose from")
        at = modes.index(current) if current in modes else -1
        await self.set_mode(chat, modes[(at + 1) % len(modes)])

    async def set_option(self, chat: Chat, option_id: str, value: str | bool) -> None:
        """Set a config option."""
        await self._session(chat).set_option(option_id, value)
        chat.changed()


__all__ = ["Seat", "Seats"]
