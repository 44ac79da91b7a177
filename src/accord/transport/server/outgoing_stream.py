"""One stream of events to a client: the connection's own, or that of a session.

What always holds
    * A stream has at most one reader.
    * Events are numbered from 1 and sent in order; none is sent twice unless a reader asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from accord.transport.resume.numbered_frames import SentFrames

# How much is handed to the server at once.
CHUNK_BYTES_MAX = 256 * 1024


class StreamReader(Protocol):
    """The response that carries a stream."""

    def wake(self) -> None:
        """Look for new events, or for the end."""
        ...

    def detach(self) -> None:
        """End the response: another one carries the stream from now on."""
        ...


class OutgoingStream:
    """The events of one stream that its client may still need."""

    __slots__ = ("_then", "frames", "keeps", "reader")

    def __init__(self, kept_bytes_max: int) -> None:
        """Events are kept within this bound; its owner may keep less of them."""
        self.frames = SentFrames(kept_bytes_max)
        # Whether events are kept after they were sent.
        self.keeps = kept_bytes_max > 0
        self.reader: StreamReader | None = None
        # What happens as soon as the event of that number was sent.
        self._then: list[tuple[int, Callable[[], object]]] = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing would be lost with it."""
        return self.reader is None and not self.frames.has_unsent

    def append(self, frame: bytes) -> None:
        """Add an event; the reader sends it as soon as it can."""
        self.frames.append(frame)
        if self.reader is not None:
            self.reader.wake()

    def take(self, fits: Callable[[int, int], bool]) -> tuple[list[bytes], int]:
        """Return the next events as they are written, and how many bytes of messages they have.

        `fits` says whether, after this many bytes, this many more may be sent; if not, they wait.
        """
        frames, pieces, size = self.frames, list[bytes](), 0
        while size < CHUNK_BYTES_MAX and frames.has_unsent and fits(size, frames.next_bytes):
            frame = frames.take()
            assert frame is not None, "a frame is unsent"
            size += len(frame)
            # A message has no line break inside: see `jsonrpc/envelope.py`.
            pieces.append(b"id: %d\ndata: %b\n\n" % (frames.sent_count, frame))
        if not self.keeps:
            frames.acknowledge(frames.sent_count)
        return pieces, size

    def afterwards(self, act: Callable[[], object]) -> None:
        """Do something as soon as everything that waits now was sent; at once if nobody reads."""
        if self.reader is None or not self.frames.has_unsent:
            act()
        else:
            self._then.append((self.frames.count, act))

    def was_sent(self) -> None:
        """Take notice that everything that was taken was sent, or that nobody reads any more."""
        sent = self.frames.count if self.reader is None else self.frames.sent_count
        while self._then and self._then[0][0] <= sent:
            self._then.pop(0)[1]()

    def attach(self, reader: StreamReader, last_event: int | None) -> bool:
        """Give the stream to a reader, from the event after `last_event` or from the next one.

        Returns False, and changes nothing, if one of the events in between is gone.
        """
        if last_event is not None and not self.frames.rewind(last_event):
            return False
        before, self.reader = self.reader, reader
        if before is not None:
            before.detach()
        return True

    def leave(self, reader: StreamReader) -> bool:
        """Take the stream from a reader; False if another one has it already."""
        if self.reader is not reader:
            return False
        self.reader = None
        return True


__all__ = ["OutgoingStream", "StreamReader"]
