"""Redacts streamed text, also where a secret is split between two pieces.

Messages, the content of tool calls and the output of terminals are streams.  If the end of a piece
may be the beginning of a secret, it is held back until the next piece of the same stream arrives.

What always holds
    * Each stream keeps its order, and nothing is lost: held-back text is sent when the stream
      ends, before the message that ended it, at the latest when the turn or the agent ends.
    * A message ends when a reader would see something after it, and when the user is asked.
    * At most `STREAMS_MAX` streams are open; beyond that, the oldest one is ended.
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
from accord.proxy.builtin.guard.tool_output_redaction import ToolOutputRedactor
from accord.proxy.message import Message, Neighbour
from accord.schema.method import SESSION_UPDATE

STREAMS_MAX: Final = 1024
MESSAGES: Final = frozenset({"agent_message_chunk", "agent_thought_chunk", "user_message_chunk"})
# Updates that a reader does not see between two pieces of a message without an id.
_UNRELATED: Final = frozenset(
    {
        *("tool_call_content_chunk", "terminal_output_chunk", "session_message_chunk"),
        *("compaction_summary_chunk", "subagent_update", "usage_update", "session_info_update"),
        *("available_commands_update", "current_mode_update", "config_option_update"),
    }
)
_TOOL_CALLS: Final = frozenset({"tool_call", "tool_call_update", "tool_call_content_chunk"})

_Decoder = getincrementaldecoder("utf-8")
_Here: TypeAlias = tuple[Any, str | None, Key]
"""A stream: the conversation, the session, and the key of the stream in the session."""


@dataclass(slots=True)
class _Stream:
    """One text, and the form of its last piece."""

    client: Neighbour
    secrets: SecretStream
    piece: Piece
    # Bytes may be split in the middle of a character.
    decoder: IncrementalDecoder = field(default_factory=lambda: _Decoder("surrogateescape"))


class StreamRedactor:
    """Redacts the streams of all sessions."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._tool_output = ToolOutputRedactor(redactor)
        self._streams: dict[_Here, _Stream] = {}

    def told(self, message: Message) -> bool | None:
        """Redact an update; return False if all of it is held back."""
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
        if kind_of(update) in _TOOL_CALLS:
            ready = self._tool_output.told(message, update)
        elif kind_of(update) == "state_update" and update.get("state") == "idle":
            self._tool_output.turn_ends(message)
        if piece is not None and text is not None:
            return self._feed(message, piece, text, ready)
        message.params = self._clean(message.params, ready)
        return None

    def _clean(self, params: Json, ready: Json) -> Json:
        """Redact the params, except for the parts that are already redacted."""
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

    # ---- ends of streams

    def asks(self, message: Message) -> None:
        """Send held-back messages, so that the user has read them before answering."""
        self._end(message, lambda key: key[0] in MESSAGES)

    def turn_ends(self, message: Message) -> None:
        """Send all held-back text of the session before this message."""
        self._end(message, lambda key: True)
        self._tool_output.turn_ends(message)

    def agent_gone(self, client: Neighbour) -> None:
        """Send all held-back text to this client: the agent is gone."""
        for here in [one for one in self._streams if one[0] is client.conversation]:
            self._release(here)
        self._tool_output.agent_gone(client)

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
    """Return a test for the streams of the session that an update ends."""
    kind = kind_of(update)
    if kind == "state_update":
        is_idle = update.get("state") == "idle"
        return lambda key: is_idle
    if kind in MESSAGES:
        own = None if piece is None else piece.key
        # Messages with ids of their own may continue; those without are read one after the other.
        return lambda key: key[0] in MESSAGES and key != own and (key[0] == kind or key[1] is None)
    if kind in WHOLE:
        # It replaces its pieces.
        chunk = WHOLE[kind][0]
        named = update.get("compactionId" if kind == "compaction_update" else "messageId")
        return lambda key: key == (chunk, named) or _is_unnamed(key)
    if kind in ("tool_call", "tool_call_update"):
        return _ended_by_call(update, piece)
    if kind == "terminal_update":
        ends = update.get("exitStatus") is not None or "output" in update
        return lambda key: ends and key == (TERMINAL, update.get("terminalId"))
    if kind not in _UNRELATED:
        return _is_unnamed
    # An item that is not text, such as an image, follows the text before it.
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
