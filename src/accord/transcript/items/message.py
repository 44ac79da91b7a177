"""Messages: of the user, of the agent, its thoughts, and messages between sessions."""

from __future__ import annotations

from typing import Literal, TypeAlias

from accord.schema.struct import UNSET, Patch
from accord.transcript.items.content import Content

Role: TypeAlias = Literal["user", "agent", "thought"]


class Message(Content):
    """One message of one role.

    Guards: the role never changes, and `order` grows with the order of first sight.  A role and
    an id together name at most one message of a transcript; the id alone does not.
    """

    __slots__ = ("is_own", "message_id", "order", "role")

    def __init__(self, role: Role, message_id: str | None, order: int) -> None:
        # Written out: a call to the constructor above costs as much as all of this.
        self._meta = None
        self._blocks = ()
        self._fresh = None
        self._joinable = False
        self._text = ""
        self._counted = self.replacements = 0
        self.role: Role = role
        self.message_id = message_id
        self.order = order
        # True for a prompt that we sent ourselves, echoed or not.
        self.is_own = False

    def __repr__(self) -> str:
        return f"Message({self.role!r}, {self.message_id!r}, {self.text!r})"

    def dump(self) -> dict[str, object]:
        """Plain values and wire structs."""
        return {
            "type": "message",
            "role": self.role,
            "messageId": self.message_id,
            "text": self.text,
            "blocks": self.blocks,
            "meta": self.meta,
        }


class SessionMessage(Content):
    """A message between two sessions, as the session of this transcript sees it.

    Guards: whoever was named as sender or recipient stays named until a null clears it.
    """

    __slots__ = (
        "message_id",
        "recipient_message_id",
        "recipient_session_id",
        "sender_message_id",
        "sender_session_id",
    )

    def __init__(self, message_id: str) -> None:
        super().__init__()
        self.message_id = message_id
        self.sender_session_id: str | None = None
        self.recipient_session_id: str | None = None
        self.sender_message_id: str | None = None
        self.recipient_message_id: str | None = None

    def __repr__(self) -> str:
        return f"SessionMessage({self.message_id!r}, {self.text!r})"

    def patch_participants(
        self,
        *,
        sender_session_id: Patch[str],
        recipient_session_id: Patch[str],
        sender_message_id: Patch[str],
        recipient_message_id: Patch[str],
    ) -> None:
        """Keep, clear or replace who wrote to whom, and under which ids."""
        if sender_session_id is not UNSET:
            self.sender_session_id = sender_session_id
        if recipient_session_id is not UNSET:
            self.recipient_session_id = recipient_session_id
        if sender_message_id is not UNSET:
            self.sender_message_id = sender_message_id
        if recipient_message_id is not UNSET:
            self.recipient_message_id = recipient_message_id

    def dump(self) -> dict[str, object]:
        """Plain values and wire structs."""
        return {
            "type": "session_message",
            "messageId": self.message_id,
            "senderSessionId": self.sender_session_id,
            "recipientSessionId": self.recipient_session_id,
            "senderMessageId": self.sender_message_id,
            "recipientMessageId": self.recipient_message_id,
            "text": self.text,
            "meta": self.meta,
        }
