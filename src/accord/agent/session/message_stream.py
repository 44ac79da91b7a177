"""Streamed messages: what all chunks of one message have in common is encoded once.

A streaming agent sends thousands of chunks that differ only in their text, so the frame around the
text is made with the first one.  Anything unusual, such as a session that is being replayed or a
client that is slow, takes the path of every other update.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias

from anyio.lowlevel import checkpoint_if_cancelled

from accord.agent.serving.outgoing_checks import checked_block
from accord.errors import LocalProtocolError
from accord.schema import v2
from accord.schema.codec import encode
from accord.schema.method import SESSION_UPDATE

if TYPE_CHECKING:
    from accord.agent.session.updates import SessionUpdates

    Chunk: TypeAlias = type[v2.AgentMessageChunk | v2.AgentThoughtChunk]


# Placeholder for the text while the frame is made; no id can contain it unescaped.
_PLACE = "\x00text\x00"

Sender = Callable[[str], Awaitable[None] | None]


def text_sender(updates: SessionUpdates, chunk: Chunk, message_id: str) -> Sender:
    """Make a function that sends one chunk of text; await what it returns unless that is None."""
    connection, append = updates.connection, updates.log.append
    check_is_due, text_content = connection.check_is_due, v2.TextContent
    around = _params_around(updates, chunk, message_id)

    async def send_carefully(text: str) -> None:
        await checkpoint_if_cancelled()
        await updates.emit(chunk(message_id=message_id, content=text_content(text=text)))

    if around is None:
        return send_carefully
    post = connection.poster(SESSION_UPDATE, *around)

    def send(text: str) -> Awaitable[None] | None:
        if check_is_due() or updates.is_not_plain:
            return send_carefully(text)
        try:
            encoded = encode(text)
        except UnicodeEncodeError:
            return send_carefully(text)
        writing = append(chunk(message_id=message_id, content=text_content(text=text)))
        if writing is not None:
            return send_after(writing, encoded)
        return connection.give_way() if post(encoded) else None

    async def send_after(writing: Awaitable[None], encoded: bytes) -> None:
        await updates.log_then_send.then(writing, partial(post, encoded))
        if connection.wait_is_due():
            await connection.give_way()

    return send


def _params_around(
    updates: SessionUpdates, chunk: Chunk, message_id: str
) -> tuple[bytes, bytes] | None:
    """The bytes before and behind the text in the params of a chunk."""
    if not updates.wire.pieces_alike:
        return None
    sample = chunk(message_id=message_id, content=v2.TextContent(text=_PLACE))
    said = updates.wire.updates(updates.session_id, sample)
    if len(said) != 1:
        return None
    before, _, behind = said[0].partition(encode(_PLACE))
    return before, behind


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
