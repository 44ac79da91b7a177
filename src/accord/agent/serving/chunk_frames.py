"""Pieces of text of one message, sent with everything that they have in common made once.

An agent that streams sends thousands of these, and all of them are alike but for their text: the
frame around it is made with the first one.  What is not plain, such as a session that is being
replayed or a client that is slow, goes the way of every other update.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from anyio.lowlevel import checkpoint_if_cancelled

from accord.jsonrpc.envelope import notification_framer
from accord.schema import v2
from accord.schema.codec import encode
from accord.schema.method import SESSION_UPDATE

if TYPE_CHECKING:
    from accord.agent.session.session import AgentSession

    # Only here: at run time it would load the types before the first turn needs them.
    Chunk: TypeAlias = type[v2.AgentMessageChunk | v2.AgentThoughtChunk]

# Stands for the text while the frame around it is made; no id can hold it unescaped.
_PLACE = "\x00text\x00"

Sender = Callable[[str], Awaitable[None] | None]


def text_sender(session: AgentSession, chunk: Chunk, message_id: str) -> Sender:
    """A function that sends one piece of text; what it returns, if anything, must be awaited."""
    connection, append = session.connection, session.log.append
    check_is_due, wait_is_due = connection.check_is_due, connection.wait_is_due
    post_frame = connection.frame_poster(SESSION_UPDATE)
    text_content = v2.TextContent
    around = _frame_around(session, chunk, message_id)

    async def send_carefully(text: str) -> None:
        await checkpoint_if_cancelled()
        await session.emit(chunk(message_id=message_id, content=text_content(text=text)))

    if around is None:
        return send_carefully
    before, behind = around

    def send(text: str) -> Awaitable[None] | None:
        if check_is_due() or session.is_not_plain:
            return send_carefully(text)
        try:
            frame = before + encode(text) + behind
        except UnicodeEncodeError:
            return send_carefully(text)
        writing = append(chunk(message_id=message_id, content=text_content(text=text)))
        if writing is not None:
            return send_after(writing, frame)
        post_frame(frame)
        return connection.give_way() if wait_is_due() else None

    async def send_after(writing: Awaitable[None], frame: bytes) -> None:
        await session.logging_first.then(writing, partial(post_frame, frame))
        if wait_is_due():
            await connection.give_way()

    return send


def _frame_around(
    session: AgentSession, chunk: Chunk, message_id: str
) -> tuple[bytes, bytes] | None:
    """What stands before and behind the text in the frame of a piece."""
    if not session.wire.pieces_alike:
        return None
    sample = chunk(message_id=message_id, content=v2.TextContent(text=_PLACE))
    said = session.wire.updates(session.id, sample)
    if len(said) != 1:
        return None
    before, _, behind = notification_framer(SESSION_UPDATE)(said[0]).partition(encode(_PLACE))
    return before, behind


__all__ = ["Sender", "text_sender"]
