"""What an agent tells in pieces, for secrets that are cut in two.

Messages, the content of tool calls and the output of terminals are streams.  The end of a piece
that may be the beginning of a secret waits for the next piece of the same stream, whatever else is
told meanwhile.

What always holds
    * Each stream keeps its order, and nothing of it is lost: what waits is said when the stream
      ends, before whatever ended it, and at the latest when its turn or its agent does.
    * A message is ended by what would stand behind it for a reader, and by a question to the user.
    * At most `STREAMS_MAX` streams are known; of the oldest what waits is said then.
"""

from __future__ import annotations

from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from accord.machine.redaction.redactor import Redactor
from accord.machine.redaction.secret_stream import SecretStream
from accord.machine.redaction.update_chunks import (
    FINAL,
    TERMINAL,
    TOLD_TERMINAL,
    WHOLE,
    Json,
    Key,
    Piece,
    kind_of,
    piece_of,
    stream_of,
    told_exit,
    with_text,
)
from accord.proxy.builtin.tool_output_redaction import Growing
from accord.proxy.message import Message, Neighbour
from accord.schema.method import SESSION_UPDATE

STREAMS_MAX: Final = 1024
MESSAGES: Final = frozenset({"agent_message_chunk", "agent_thought_chunk", "user_message_chunk"})
# Updates that no reader sees between two pieces of a message that has no name.
_BESIDE: Final = frozenset(
    {
        *("tool_call_content_chunk", "terminal_output_chunk", "session_message_chunk"),
        *("compaction_summary_chunk", "subagent_update", "usage_update", "session_info_update"),
        *("available_commands_update", "current_mode_update", "config_option_update"),
    }
)
_OF_CALLS: Final = frozenset({"tool_call", "tool_call_update", "tool_call_content_chunk"})

_Decoder = getincrementaldecoder("utf-8")
_Here: TypeAlias = tuple[Any, str | None, Key]
"""A stream: the conversation, the session, and what it is in there."""


@dataclass(slots=True)
class _Stream:
    """One text, and how to say what is left of it."""

    client: Neighbour
    secrets: SecretStream
    piece: Piece
    # Bytes may be cut in the middle of a letter.
    decoder: IncrementalDecoder = field(default_factory=lambda: _Decoder("surrogateescape"))


class Pieces:
    """The streams of all sessions."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._growing = Growing(redactor)
        self._streams: dict[_Here, _Stream] = {}

    def told(self, message: Message) -> bool | None:
        """Take secrets out of an update; False where all of it waits."""
        if message.method != SESSION_UPDATE:
            return None
        update = message.params.get("update")
        if not isinstance(update, dict):
            message.params = self._redactor.value(message.params, keep_ids=True)
            return None
        told = WHOLE.get(kind_of(update), ("", ""))[1]
        if isinstance(update.get(told), list):
            update = {**update, told: self._redactor.blocks(update[told])}
            message.params = {**message.params, "update": update}
        piece = piece_of(update)
        text = None if piece is None else piece.decoded()
        if text is None:
            piece = None
        if self._streams:
            self._end(message, _ended_by(update, piece))
        ready: Json = {}
        if kind_of(update) in _OF_CALLS:
            ready = self._growing.told(message, update)
        elif kind_of(update) == "state_update" and update.get("state") == "idle":
            self._growing.turn_ends(message)
        if piece is not None and text is not None:
            return self._feed(message, piece, text, ready)
        message.params = self._clean(message.params, ready)
        return None

    def _clean(self, params: Json, ready: Json) -> Json:
        """The params without secrets, with what is ready in its place."""
        update = {**params["update"], **dict.fromkeys(ready)}
        made: Json = self._redactor.value({**params, "update": update}, keep_ids=True)
        made["update"].update(ready)
        return made

    def _feed(self, message: Message, piece: Piece, text: str | bytes, ready: Json) -> bool | None:
        here: _Here = message.conversation, message.session_id, piece.key
        piece = piece._replace(more=self._redactor.value(piece.more, keep_ids=True))
        stream = self._streams.pop(here, None)
        if stream is None:
            stream = _Stream(message.client, self._redactor.stream(), piece)
        stream.piece = piece
        read = text if isinstance(text, str) else stream.decoder.decode(text, piece.is_last)
        said = stream.secrets.finish(read) if piece.is_last else stream.secrets.feed(read)
        if not piece.is_last:
            self._streams[here] = stream
            if len(self._streams) > STREAMS_MAX:
                self._release(next(iter(self._streams)))
        path = ("update", *piece.path)
        params = self._clean(with_text(message.params, path, ""), ready)
        if piece.text and not said and params == _of(message.session_id, piece.more):
            return False
        message.params = with_text(params, path, piece.encoded(said))
        return None

    # ---- ends

    def asks(self, message: Message) -> None:
        """The agent asks the user something, who is to have read what it said before."""
        self._end(message, lambda key: key[0] in MESSAGES)

    def turn_ends(self, message: Message) -> None:
        """All that waits in the session of this message is said, before it."""
        self._end(message, lambda key: True)
        self._growing.turn_ends(message)

    def agent_gone(self, client: Neighbour) -> None:
        """The agent will say no more: all that waits for this client is said."""
        for here in [one for one in self._streams if one[0] is client.conversation]:
            self._release(here)
        self._growing.agent_gone(client)

    def _end(self, message: Message, is_ended: Callable[[Key], bool]) -> None:
        of = message.conversation, message.session_id
        for here in [one for one in self._streams if one[:2] == of and is_ended(one[2])]:
            self._release(here)

    def _release(self, here: _Here) -> None:
        stream = self._streams.pop(here)
        piece = stream.piece
        said = stream.secrets.finish(stream.decoder.decode(b"", True))
        if said:
            update = with_text(piece.more, piece.more_path, piece.encoded(said))
            stream.client.notify(SESSION_UPDATE, _of(here[1], update))


def _of(session_id: str | None, update: Json) -> Json:
    return {"sessionId": session_id, "update": update}


def _ended_by(update: Json, piece: Piece | None) -> Callable[[Key], bool]:
    """Which streams of its session an update ends."""
    kind = kind_of(update)
    if kind == "state_update":
        is_idle = update.get("state") == "idle"
        return lambda key: is_idle
    if kind in MESSAGES:
        own = None if piece is None else piece.key
        # Others that have a name of their own may go on; what has none is read in a row.
        return lambda key: key[0] in MESSAGES and key != own and (key[0] == kind or key[1] is None)
    if kind in WHOLE:
        # It takes the place of its pieces.
        chunk = WHOLE[kind][0]
        named = update.get("compactionId" if kind == "compaction_update" else "messageId")
        return lambda key: key == (chunk, named) or _is_unnamed(key)
    if kind in ("tool_call", "tool_call_update"):
        return _ended_by_call(update, piece)
    if kind == "terminal_update":
        ends = update.get("exitStatus") is not None or "output" in update
        return lambda key: ends and key == (TERMINAL, update.get("terminalId"))
    if kind not in _BESIDE:
        return _is_unnamed
    # What is no text, such as an image, stands behind the text before it.
    added_to = stream_of(update) if piece is None else None
    return lambda key: key == added_to


def _is_unnamed(key: Key) -> bool:
    return key[0] in MESSAGES and key[1] is None


def _ended_by_call(update: Json, piece: Piece | None) -> Callable[[Key], bool]:
    is_new = kind_of(update) == "tool_call"
    ends = "content" in update or update.get("status") in FINAL
    exited: object = told_exit(update)
    call: tuple[str, object] = "tool_call_content_chunk", update.get("toolCallId")

    def is_ended(key: Key) -> bool:
        if key[0] in MESSAGES:
            return is_new
        if key[0] == TOLD_TERMINAL:
            return key[1] == exited and (piece is None or piece.key != key)
        return ends and key == call

    return is_ended


__all__ = ["Pieces"]
