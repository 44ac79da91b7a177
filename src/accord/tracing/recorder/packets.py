"""The packets between recorder and writer: a source, a time and bytes.

Must not know what the bytes are.

What always holds: the writer reads ahead up to a limit; beyond that the pipe fills, and the
recorder counts what it cannot send.
"""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Callable, Iterator

PACKET = struct.Struct("!BdQ")
"""The header of a packet: source, time, number of bytes."""

SOURCES = ("client", "agent", "stderr", "gap-client", "gap-agent", "gap-stderr", "end")
READ_BYTES = 1 << 18
AHEAD_BYTES_MAX = 64 << 20
"""How much is read from the pipe ahead of writing, so that the recorder need not keep it."""


def pack(source: str, time: float, data: bytes) -> bytes:
    return PACKET.pack(SOURCES.index(source), time, len(data)) + data


class ReadAhead:
    """Reads a pipe in a thread.  Guards: the order of its bytes, and the limit."""

    def __init__(self, descriptor: int, bytes_max: int = AHEAD_BYTES_MAX) -> None:
        self._descriptor = descriptor
        self._bytes_max = bytes_max
        self._chunks: list[bytes] = []
        self._bytes = 0
        self._ended = False
        self._changed = threading.Condition()
        threading.Thread(target=self._run, daemon=True).start()

    def read(self) -> bytes:
        """Return everything since the last call, waiting for some; empty at the end."""
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
    """Yield the packets of a pipe, and None whenever all so far were yielded."""
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
