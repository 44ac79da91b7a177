"""Frames of streamed text: what all chunks of one message have in common is encoded once.

A streaming agent sends thousands of chunks that differ only in their text, so the frame around the
text is made with the first one.  Anything unusual, such as a session that is being replayed or a
client that is slow, takes the path of every other update.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from anyio.lowlevel import checkpoint_if_cancelled

from accord.schema import v2
from accord.schema.codec import encode
from accord.schema.method import SESSION_UPDATE

if TYPE_CHECKING:
    from accord.agent.session.updates import SessionUpdates

    # At run time this would load the types before the first turn needs them.
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
