"""What a client is told of a command's output: masked, and no more than a bound.  No I/O.

It must not know terminals.

What always holds
    * The client gets the beginning up to the bound, then a note, and at the end the newest part:
      a command that prints without end costs neither the log nor the client more than that.
    * What the mask hides is hidden also where it came in several pieces.
"""

from __future__ import annotations

from typing import Protocol

from accord.machine.terminals.output_buffer import cut_front

TAIL_BYTES = 8 * 1024
"""How much of the end is told after output was left out."""


class OutputMask(Protocol):
    """Hides parts of a stream; what may be the beginning of such a part waits for the next."""

    def feed(self, data: bytes) -> bytes:
        """What can be shown now."""
        ...

    def finish(self) -> bytes:
        """What was waiting, when nothing more comes."""
        ...


class ToldOutput:
    """Bytes as they come in, bytes to tell out."""

    def __init__(self, bytes_max: int | None, mask: OutputMask | None = None) -> None:
        """Without `bytes_max` everything is told."""
        self._bytes_max = bytes_max
        self._mask = mask
        self._told = 0
        self._left_out = 0
        self._tail = bytearray()

    def feed(self, data: bytes) -> bytes:
        """What to tell of the next output; nothing once the bound is reached."""
        return self._bounded(data if self._mask is None else self._mask.feed(data))

    def finish(self) -> bytes:
        """What to tell when there is no more: how much was left out, and the end of it."""
        last = b"" if self._mask is None else self._bounded(self._mask.finish())
        if not self._left_out:
            return last
        tail = cut_front(self._tail, TAIL_BYTES)
        left_out = self._left_out - len(tail)
        if not left_out:
            return last + tail
        return last + f"\n[… {left_out:,} bytes of output left out …]\n".encode() + tail

    def _bounded(self, data: bytes) -> bytes:
        if self._bytes_max is None:
            return data
        room = self._bytes_max - self._told
        now, rest = data[:room], data[room:]
        self._told += len(now)
        if rest:
            self._left_out += len(rest)
            self._tail += rest
            if len(self._tail) > 2 * TAIL_BYTES:
                del self._tail[:-TAIL_BYTES]
        return now


__all__ = ["TAIL_BYTES", "OutputMask", "ToldOutput"]
