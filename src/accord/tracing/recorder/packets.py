"""What the recorder tells the scribe through a pipe: packets of a source, a time and bytes.

Must not know what the bytes are.

What always holds: what is read ahead of the writing is bounded; beyond that the pipe fills up, and
the recorder counts what it cannot tell.
"""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Callable, Iterator

PACKET = struct.Struct("!BdQ")
"""What comes before the bytes of a packet: its source, its time, how many bytes."""

SOURCES = ("client", "agent", "stderr", "gap-client", "gap-agent", "gap-stderr", "end")
READ_BYTES = 1 << 18
AHEAD_BYTES_MAX = 64 << 20
"""What is taken from the pipe before it is written, so that the recorder need not keep it."""


def pack(source: str, time: float, data: bytes) -> bytes:
    """A packet."""
    return PACKET.pack(SOURCES.index(source), time, len(data)) + data


class Ahead:
    """Reads a pipe in a thread.  Guards: the order of its bytes, and the bound."""

    def __init__(self, descriptor: int, bytes_max: int = AHEAD_BYTES_MAX) -> None:
        self._descriptor = descriptor
        self._bytes_max = bytes_max
        self._chunks: list[bytes] = []
        self._bytes = 0
        self._ended = False
        self._changed = threading.Condition()
        threading.Thread(target=self._run, daemon=True).start()

    def read(self) -> bytes:
        """All that came since the last time, at least something; nothing at the end."""
        with self._changed:
            while not self._chunks and not self._ended:
                self._changed.wait()
            data = b"".join(self._chunks)
            self._chunks, self._bytes = [], 0
            self._changed.notify()
            return data

    def _run(self) -> None:
        while chunk := os.read(self._descriptor, READ_BYTES):
            with self._changed:
                while self._bytes >= self._bytes_max:
                    self._changed.wait()
                self._chunks.append(chunk)
                self._bytes += len(chunk)
                self._changed.notify()
        with self._changed:
            self._ended = True
            self._changed.notify()


def packets(read: Callable[[], bytes]) -> Iterator[tuple[str, float, bytes] | None]:
    """The packets of a pipe; None whenever all that came so far was handed out."""
    buffer = bytearray()
    while chunk := read():
        buffer += chunk
        at = 0
        while len(buffer) - at >= PACKET.size:
            source, time, size = PACKET.unpack_from(buffer, at)
            end = at + PACKET.size + size
            if len(buffer) < end:
                break
            yield SOURCES[source], time, bytes(buffer[at + PACKET.size : end])
            at = end
        del buffer[:at]
        yield None


__all__ = ["SOURCES", "Ahead", "pack", "packets"]
