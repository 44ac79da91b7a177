"""Streamed messages, and the compaction of a context."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from anyio import CancelScope

from accord.agent.serving.chunk_frames import Sender, text_sender
from accord.agent.serving.outgoing_checks import checked_block
from accord.errors import LocalProtocolError
from accord.schema import v2
from accord.schema.struct import UNSET, UnsetType

if TYPE_CHECKING:
    from accord.agent.session.updates import SessionUpdates

Emit = Callable[[Any], Awaitable[None]]


def as_block(part: str | v2.ContentBlock) -> v2.ContentBlock:
    """A content block made of text or of a block that the program gives."""
    if isinstance(part, str):
        return v2.TextContent(text=part)
    return checked_block(part)


class MessageStream:
    """A message that is streamed in chunks with one message id."""

    def __init__(
        self,
        updates: SessionUpdates,
        message_id: str,
        chunk: type[v2.AgentMessageChunk | v2.AgentThoughtChunk],
    ) -> None:
        self._updates = updates
        self._chunk = chunk
        self._send: Sender | None = None
        self._open = True
        self.message_id = message_id

    async def write(self, part: str | v2.ContentBlock) -> None:
        """Send the next chunk; empty text sends nothing."""
        if not self._open:
            raise LocalProtocolError("this message has ended")
        if not isinstance(part, str):
            await self._updates.emit(
                self._chunk(message_id=self.message_id, content=as_block(part))
            )
        elif part:
            if self._send is None:
                self._send = text_sender(self._updates, self._chunk, self.message_id)
            sending = self._send(part)
            if sending is not None:
                await sending

    def close(self) -> None:
        """Refuse further text, since the message has ended."""
        self._open = False

    async def __aenter__(self) -> MessageStream:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open = False


class Compaction:
    """The compaction of a context, from `in_progress` to exactly one final status."""

    def __init__(self, emit: Emit, compaction_id: str) -> None:
        self._emit = emit
        self._id = compaction_id
        self._status: str | None = None

    async def __aenter__(self) -> Compaction:
        if self._status is not None:
            raise LocalProtocolError("a compaction can be entered only once")
        self._status = "in_progress"
        await self._emit(v2.CompactionUpdate(compaction_id=self._id, status="in_progress"))
        return self

    async def write(self, text: str) -> None:
        """Stream the next chunk of the summary."""
        if self._status != "in_progress":
            raise LocalProtocolError("a compaction accepts text only inside its block")
        block = v2.TextContent(text=text)
        await self._emit(v2.CompactionSummaryChunk(compaction_id=self._id, content=block))

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        error: str | UnsetType = UNSET
        status = "completed"
        if isinstance(exc, Exception):
            status, error = "failed", str(exc) or type(exc).__name__
        elif exc is not None:
            status = "cancelled"
        with CancelScope(shield=True):
            await self.settle(status, error)

    async def settle(self, status: str, error: str | UnsetType = UNSET) -> None:
        """End the compaction with this status unless it has ended; the end of a turn does this."""
        if self._status == "in_progress":
            self._status = status
            await self._emit(
                v2.CompactionUpdate(compaction_id=self._id, status=status, error=error)
            )
