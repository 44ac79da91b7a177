"""Removes secrets from the frames of a conversation, also secrets split over many frames.

For what is written down: recordings, traces, reports.  A frame whose text ends with what may be
the beginning of a secret is held until the next piece of the same text, and so are all behind it.
No I/O.

What always holds
    * What comes out is in the order in which it went in, one for one.
    * A frame without secrets comes out as the very same bytes.
    * At most `FRAMES_HELD_MAX` frames and `BYTES_HELD_MAX` bytes are held.  Where that is not
      enough to tell whether a text is a secret, it is taken for one.
"""

from __future__ import annotations

from codecs import IncrementalDecoder, getincrementaldecoder
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeAlias, TypeVar

from accord.machine.redaction.redactor import Redactor, decoded, encoded
from accord.machine.redaction.secret_patterns import MARK
from accord.machine.redaction.secret_stream import SecretStream, Segment
from accord.machine.redaction.update_chunks import WHOLE, Piece, at, kind_of, piece_of, with_text

FRAMES_HELD_MAX: Final = 256
BYTES_HELD_MAX: Final = 1 << 20
STREAMS_MAX: Final = 1024
PROMPTS_MAX: Final = 64
"""Streams and open prompts that are remembered; the oldest are forgotten first."""

T = TypeVar("T")
_Decoder = getincrementaldecoder("utf-8")
_Key: TypeAlias = tuple[Any, ...]
_STDERR: Final = ("stderr",)
_NOISE: Final = "noise"


@dataclass(slots=True)
class _Held(Generic[T]):
    """An update that is sent once all of its text is decided."""

    what: T
    raw: bytes
    # The frame without secrets, but for its piece.
    value: Any = None
    piece: Piece | None = None
    text: str = ""
    undecided: int = 0
    said: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Stream(Generic[T]):
    """A text that comes in pieces, and the frames that have a part of it."""

    secrets: SecretStream
    frames: deque[_Held[T]] = field(default_factory=deque)
    # Bytes may be cut in the middle of a letter.
    decoder: IncrementalDecoder = field(default_factory=lambda: _Decoder("surrogateescape"))

    def give(self, segments: list[Segment]) -> None:
        """Hand out what was decided to the frames that it belongs to."""
        for segment in segments:
            left, text = segment.characters, segment.text
            while left:
                held = self.frames[0]
                taken = min(left, held.undecided)
                held.said.append(text if segment.is_secret else text[:taken])
                # Of a secret over several frames the first has the mark.
                text = "" if segment.is_secret else text[taken:]
                left -= taken
                held.undecided -= taken
                if not held.undecided:
                    self.frames.popleft()


class ConversationRedactor(Generic[T]):
    """Takes frames with attached values, and returns them once they may be shown."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._queue: deque[_Held[T]] = deque()
        self._bytes = 0
        self._printing_key: set[str] = set()
        self._streams: dict[_Key, _Stream[T]] = {}
        self._prompts: dict[str, Any] = {}

    def frame(self, what: T, speaker: str, frame: bytes) -> list[tuple[T, bytes]]:
        """Take the next frame of a side; return the frames that are ready."""
        has_edge = b"PRIVATE KEY-----" in frame or b"PRIVATE KEY BLOCK-----" in frame
        is_printed = not frame.lstrip().startswith((b"{", b"[", b'"'))
        if is_printed and (has_edge or speaker in self._printing_key):
            # A private key that somebody printed between messages goes over several lines.
            if has_edge and b"-----END" not in frame:
                self._printing_key.add(speaker)
            elif has_edge:
                self._printing_key.discard(speaker)
            return self._line(what, (_NOISE, speaker), frame)
        held = self._held(what, speaker, frame)
        return self._put(_Held(what, self._redactor.frame(frame)) if held is None else held)

    def stderr(self, what: T, line: bytes) -> list[tuple[T, bytes]]:
        """Take the next line of the agent's stderr; return what is ready."""
        return self._line(what, _STDERR, line)

    def other(self, what: T, raw: bytes = b"") -> list[tuple[T, bytes]]:
        """Take an item without secrets that keeps its place in the order."""
        return self._put(_Held(what, raw))

    def finish(self) -> list[tuple[T, bytes]]:
        """Return everything that is left, at the end of the conversation."""
        self._end(*self._streams)
        return self._ready()

    def _line(self, what: T, key: _Key, line: bytes) -> list[tuple[T, bytes]]:
        text = line.decode("utf-8", "surrogateescape") + "\n"
        held = _Held(what, line, text=text)
        self._feed(key, held, text)
        return self._put(held)

    def _held(self, what: T, speaker: str, frame: bytes) -> _Held[T] | None:
        """A frame that has to be read because of its place; None for one that stands alone."""
        is_answer = bool(self._prompts) and b'"id"' in frame
        if b"session/update" not in frame and b"session/prompt" not in frame and not is_answer:
            return None
        try:
            message, is_whole = decoded(frame)
            if isinstance(message, list) and is_whole:
                return self._of_array(what, speaker, message)
            if not isinstance(message, dict) or not is_whole:
                return None
            self._note_turn(speaker, message)
            return self._of_update(what, speaker, frame, message)
        except (ValueError, RecursionError):
            return None

    def _of_array(self, what: T, speaker: str, entries: list[Any]) -> _Held[T]:
        """An array without the pieces in it: each could be the middle of a secret."""
        kept: list[Any] = []
        for entry in entries:
            if isinstance(entry, dict):
                self._note_turn(speaker, entry)
                update = at(entry, ("params", "update"))
                piece = piece_of(update) if isinstance(update, dict) else None
                if piece is not None and piece.text:
                    path = ("params", "update", *piece.path)
                    entry = with_text(entry, path, piece.encoded(MARK))
            kept.append(entry)
        return _Held(what, self._redactor.frame(encoded(kept)))

    def _note_turn(self, speaker: str, message: dict[str, Any]) -> None:
        """End the streams of a turn that has ended."""
        request_id = repr(message.get("id"))
        if message.get("method") == "session/prompt":
            self._prompts[request_id] = at(message, ("params", "sessionId"))
            if len(self._prompts) > PROMPTS_MAX:
                del self._prompts[next(iter(self._prompts))]
        elif speaker == "agent" and "method" not in message and request_id in self._prompts:
            session = self._prompts.pop(request_id)
            # In v2 this only says that the prompt was accepted.
            if at(message, ("result", "stopReason")) is not None or "error" in message:
                self._end_session(session)

    def _of_update(
        self, what: T, speaker: str, frame: bytes, message: dict[str, Any]
    ) -> _Held[T] | None:
        params = message.get("params")
        if message.get("method") != "session/update" or not isinstance(params, dict):
            return None
        update, path = params.get("update"), ("params", "update")
        if not isinstance(update, dict):
            # The draft's envelope.
            data, path = params.get("data"), ("params", "data")
            update = {**data, "sessionUpdate": params.get("type")} if isinstance(data, dict) else {}
        told = WHOLE.get(kind_of(update), ("", ""))[1]
        blocks = update.get(told)
        if isinstance(blocks, list) and (made := self._redactor.blocks(blocks)) is not blocks:
            update = {**update, told: made}
            message = {**message, "params": {**params, path[1]: update}}
            frame = encoded(message)
        piece = piece_of(update)
        text = None if piece is None else piece.decoded()
        session = repr(params.get("sessionId"))
        if piece is None or text is None:
            if update.get("sessionUpdate") == "state_update" and update.get("state") == "idle":
                self._end_session(params.get("sessionId"))
            return None
        whole = piece._replace(path=(*path, *piece.path))
        bare = with_text(message, whole.path, "")
        clean = self._redactor.value(bare)
        held = _Held(what, frame if clean == bare else b"", clean, whole)
        self._feed((speaker, session, piece.key), held, text)
        return held

    def _feed(self, key: _Key, held: _Held[T], text: str | bytes) -> None:
        stream = self._streams.pop(key, None) or _Stream(self._redactor.stream())
        self._streams[key] = stream
        read = text if isinstance(text, str) else stream.decoder.decode(text)
        held.text, held.undecided = read, len(read)
        if read:
            stream.frames.append(held)
            stream.give(stream.secrets.segments(read))
        if len(self._streams) > STREAMS_MAX:
            self._end(next(iter(self._streams)))

    def _end_session(self, session: Any) -> None:
        self._end(*(key for key in self._streams if key != _STDERR and key[1] == repr(session)))

    def _end(self, *keys: _Key) -> None:
        for key in keys:
            stream = self._streams.pop(key)
            stream.give(stream.secrets.last_segments())

    def _put(self, held: _Held[T]) -> list[tuple[T, bytes]]:
        self._queue.append(held)
        self._bytes += len(held.raw) + len(held.text)
        if len(self._queue) > FRAMES_HELD_MAX or self._bytes > BYTES_HELD_MAX:
            for stream in self._streams.values():
                if stream.frames:
                    stream.give(stream.secrets.give_up())
        return self._ready()

    def _ready(self) -> list[tuple[T, bytes]]:
        ready: list[tuple[T, bytes]] = []
        while self._queue and not self._queue[0].undecided:
            held = self._queue.popleft()
            self._bytes -= len(held.raw) + len(held.text)
            ready.append((held.what, self._made(held)))
        return ready

    def _made(self, held: _Held[T]) -> bytes:
        text = "".join(held.said)
        if held.piece is not None:
            if text == held.text and held.raw:
                return held.raw
            return encoded(with_text(held.value, held.piece.path, held.piece.encoded(text)))
        if not held.text:
            return held.raw
        return self._redactor.line(text).removesuffix("\n").encode("utf-8", "surrogateescape")
