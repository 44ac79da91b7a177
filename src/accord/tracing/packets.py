"""What the recorder tells the scribe through a pipe: packets of a source, a time and bytes.

Must not know what the bytes are.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

PACKET = struct.Struct("!BdQ")
"""What comes before the bytes of a packet: its source, its time, how many bytes."""

SOURCES = ("client", "agent", "stderr", "gap-client", "gap-agent", "gap-stderr", "end")
READ_BYTES = 1 << 18


def pack(source: str, time: float, data: bytes) -> bytes:
    """A packet."""
    return PACKET.pack(SOURCES.index(source), time, len(data)) + data


def packets(descriptor: int) -> Iterator[tuple[str, float, bytes] | None]:
    """The packets of a pipe; None whenever all that came so far was handed out."""
    buffer = bytearray()
    while chunk := os.read(descriptor, READ_BYTES):
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


__all__ = ["SOURCES", "pack", "packets"]
