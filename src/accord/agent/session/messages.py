"""Messages and thoughts that are streamed in chunks."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from accord.agent.serving.chunk_frames import Sender, text_sender
from accord.agent.serving.outgoing_checks import checked_block
from accord.errors import LocalProtocolError
from accord.schema import v2

if TYPE_CHECKING:
    from accord.agent.session.updates import SessionUpdates


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
