"""Notifications of one method that are written together, such as a replayed session history."""

from typing import Protocol

from accord.connection.limits import Limits
from accord.jsonrpc.envelope import CARRIAGE_RETURN, LINE_FEED, notification_head, one_line
from accord.jsonrpc.peer import Peer
from accord.schema.codec import encode_into

# How much of a notification batch is written at once; a write per message would cost most.
BATCH_BYTES_MAX = 64 * 1024
BATCH_BYTES_FIRST = 4 * 1024
_BETWEEN = b"\0"


class BatchWriter(Protocol):
    """The part of a connection that a batch uses."""

    limits: Limits
    peer: Peer

    def write_lines(self, lines: bytes) -> None:
        """Write checked frames, one per line."""
        ...

    async def give_way(self) -> None:
        """Wait while the backlog is full, and let other tasks run."""
        ...


class NotificationBatch:
    """Encodes notifications one behind the other; call `flush` last, or the rest is not sent."""

    __slots__ = ("_begin", "_buffer", "_bytes_wanted", "_method", "_next", "_writer")

    def __init__(self, writer: BatchWriter, method: str, before: bytes, behind: bytes) -> None:
        self._writer = writer
        self._method = method
        self._begin = notification_head(method) + before
        # Ends one notification and begins the next.  No JSON contains the byte between them.
        self._next = behind + b"}" + _BETWEEN + self._begin
        self._buffer = bytearray(self._begin)
        # The first ones are sent early, so that the peer can start to work.
        self._bytes_wanted = BATCH_BYTES_FIRST

    def add(self, value: object) -> bool:
        """Encode one more; True when the batch should be flushed."""
        buffer = self._buffer
        encode_into(value, buffer, -1)
        buffer += self._next
        return len(buffer) >= self._bytes_wanted

    async def flush(self) -> None:
        """Write the batch and let other tasks run.

        Raises:
            LocalProtocolError: a notification exceeds the frame limit; those before it are
                written.
        """
        self._bytes_wanted = min(2 * self._bytes_wanted, BATCH_BYTES_MAX)
        batch, self._buffer = self._buffer, bytearray(self._begin)
        del batch[len(batch) - len(self._begin) :]
        # One search through all of them, since a match is very rare.
        if (
            LINE_FEED in batch
            or CARRIAGE_RETURN in batch
            or len(batch) > self._writer.limits.frame_bytes
        ):
            self._write_each(bytes(batch))
        elif batch:
            self._writer.write_lines(bytes(batch.replace(_BETWEEN, b"\n")))
        await self._writer.give_way()

    def _write_each(self, batch: bytes) -> None:
        for frame in batch.split(_BETWEEN)[:-1]:
            checked = self._writer.peer.checked(one_line(frame), self._method)
            self._writer.write_lines(checked + b"\n")
