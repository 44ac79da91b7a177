"""The output of a command as the client gets it: masked and bounded.  No I/O.

It must not know terminals.

What always holds
    * The client gets the beginning up to the bound, then a note, and at the end the newest part, so
      that endless output costs neither the log nor the client more than that.
    * The mask also hides what arrives in several parts.
"""

from __future__ import annotations

from typing import Protocol

from accord.machine.terminals.output_buffer import cut_front, output_omitted

TAIL_BYTES = 8 * 1024
"""How much of the end is sent after output was omitted."""


class OutputMask(Protocol):
    """Hides parts of a stream; a possible beginning of such a part waits for the next data."""

    def feed(self, data: bytes) -> bytes:
        """The output that can be shown now."""
        ...

    def finish(self) -> bytes:
        """The rest, when nothing more comes."""
        ...


class OutputReport:
    """Takes output as it comes, and returns what to send."""

    def __init__(self, bytes_max: int | None, mask: OutputMask | None = None) -> None:
        """Without `bytes_max` everything is sent."""
        self._bytes_max = bytes_max
        self._mask = mask
        self._sent = 0
        self._omitted = 0
        self._tail = bytearray()

    def feed(self, data: bytes) -> bytes:
        """What to send of the next output; nothing once the bound is reached."""
        return self._bounded(data if self._mask is None else self._mask.feed(data))

    def finish(self) -> bytes:
        """What to send at the end: how much was omitted, and the last part of it."""
        last = b"" if self._mask is None else self._bounded(self._mask.finish())
        if not self._omitted:
            return last
        tail = cut_front(self._tail, TAIL_BYTES)
        omitted = self._omitted - len(tail)
        if not omitted:
            return last + tail
        return last + f"\n[… {output_omitted(omitted)} …]\n".encode() + tail

    def _bounded(self, data: bytes) -> bytes:
        if self._bytes_max is None:
            return data
        room = self._bytes_max - self._sent
        now, rest = data[:room], data[room:]
        self._sent += len(now)
        if rest:
            self._omitted += len(rest)
            self._tail += rest
            if len(self._tail) > 2 * TAIL_BYTES:
                del self._tail[:-TAIL_BYTES]
        return now
