"""The chats that are shown, and the process, session and journal behind each.

This module does not know how an agent starts or how a turn runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from accord.errors import LocalProtocolError
from accord.terminal.model.chat import Chat

if TYPE_CHECKING:
    from accord.client.client import Client
    from accord.client.session.session import Session
    from accord.terminal.engine.agent_process import AgentProcess
    from accord.terminal.engine.launch_options import LaunchOptions
    from accord.terminal.engine.turns import Turns
    from accord.terminal.model.changes.journal import Journal


class ChatSlot:
    """A chat and what is behind it.  `turns` is set while its session is open."""

    def __init__(self, chat: Chat, launch: LaunchOptions) -> None:
        self.chat = chat
        self.launch = launch
        self.process: AgentProcess | None = None
        self.turns: Turns | None = None
        # Ids of the tool calls that are in the audit log.
        self.recorded: set[str] = set()
        self._journal: Journal | None = None

    @property
    def journal(self) -> Journal:
        """The journal of the agent's file changes, created on first use."""
        if self._journal is None:
            # Imported here: the screen is drawn before anything of this is needed.
            from accord.terminal.model.changes.journal import Journal

            self._journal = Journal(self.chat)
        return self._journal

    @property
    def client(self) -> Client | None:
        """The connection to the agent, while it is running."""
        return None if self.process is None else self.process.client


class ChatSlots:
    """All slots in the order of their tabs.

    Guards: a chat has exactly one slot as long as it is shown.
    """

    def __init__(self) -> None:
        self._slots: dict[int, ChatSlot] = {}

    def __iter__(self) -> Iterator[ChatSlot]:
        # A copy: chats may be closed while somebody iterates.
        return iter(tuple(self._slots.values()))

    @property
    def chats(self) -> list[Chat]:
        """The chats in the order of their tabs."""
        return [slot.chat for slot in self]

    def add(self, slot: ChatSlot) -> None:
        """Add a slot behind the others."""
        self._slots[id(slot.chat)] = slot

    def remove(self, chat: Chat) -> ChatSlot:
        """Remove the slot of a chat and return it."""
        return self._slots.pop(id(chat))

    def of(self, chat: Chat) -> ChatSlot:
        """The slot of a chat."""
        return self._slots[id(chat)]

    def client(self, chat: Chat) -> Client:
        """The connection to the agent of a chat.

        Raises:
            LocalProtocolError: the agent is not running.
        """
        client = self.of(chat).client
        if client is None:
            raise LocalProtocolError("the agent is not running")
        return client

    def session(self, chat: Chat) -> Session:
        """The open session of a chat.

        Raises:
            LocalProtocolError: no session is open.
        """
        turns = self.of(chat).turns
        if turns is None:
            raise LocalProtocolError("there is no session yet")
        return turns.session
