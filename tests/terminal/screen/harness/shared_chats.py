"""Chats of sessions that a gateway shares, without a gateway."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accord.client.people import SessionPeople
from accord.terminal.model.chat import Chat
from tests.terminal.screen.harness.stage import a_chat

ANN = {"user": "ann", "displayName": "Ann", "role": "admin", "here": True}
BOB = {"user": "bob", "displayName": "Bob", "role": "viewer", "here": True, "typing": True}
EVE = {"user": "eve", "role": "editor", "here": False}


class Wire:
    """A gateway that answers who is there."""

    def __init__(self, members: Sequence[dict[str, Any]], user: str) -> None:
        self.answer = {"members": list(members), "you": {"user": user}}
        self.extensions = frozenset({"_accord.session/members"})

    async def call_extension(self, method: str, params: object = None) -> Any:
        return self.answer

    async def notify_extension(self, method: str, params: object = None) -> None:
        """Nobody hears it."""


def shared_chat(user: str, *members: dict[str, Any]) -> Chat:
    chat = a_chat()
    chat.people = SessionPeople(Wire(members, user), "s1", {})
    return chat
