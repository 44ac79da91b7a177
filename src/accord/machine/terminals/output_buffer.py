"""The text a command printed, kept to a number of bytes.  No I/O.

Always holds
    * The text is the newest part of the output, at most `bytes_max` bytes of UTF-8, and begins at
      a character.  Bytes that are not UTF-8 are counted as the U+FFFD they are shown as.
    * A character whose bytes came in several pieces is whole; its first bytes alone are not shown.
    * Feeding costs time in proportion to what is fed, however much is kept.
"""

from __future__ import annotations

import codecs

OUTPUT_BYTES_DEFAULT = 1024 * 1024
"""Of the output of a command, kept where nobody asks for another number."""
OUTPUT_BYTES_MAX = 16 * 1024 * 1024
"""Kept at most, whatever is asked for: it has to fit a frame with JSON's escapes."""

EARLIER_OUTPUT_OMITTED = "earlier output was omitted"

_utf8_decoder = codecs.getincrementaldecoder("utf-8")


def output_omitted(count: int) -> str:
    """The words for a gap of this many bytes."""
    return f"{count:,} bytes of output were omitted"


def cut_front(data: bytes | bytearray, bytes_max: int) -> bytes:
    """The longest end of valid UTF-8 within `bytes_max` bytes that begins at a character."""
    start = max(len(data) - bytes_max, 0)
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    return bytes(data[start:])


class OutputBuffer:
    """Bytes in, bounded text out."""

    def __init__(self, bytes_max: int) -> None:
        """Keep this many bytes, and never more than OUTPUT_BYTES_MAX."""
        if bytes_max < 0:
            raise ValueError("a byte limit cannot be negative")
        self.bytes_max = min(bytes_max, OUTPUT_BYTES_MAX)
        self._decoder = _utf8_decoder("replace")
        self._kept = bytearray()
        self._cut = False

    @property
    def truncated(self) -> bool:
        """Whether older output was dropped."""
        return self._cut or len(self._kept) > self.bytes_max

    @property
    def text(self) -> str:
        """The bytes that are kept, as text."""
        return cut_front(self._kept, self.bytes_max).decode("utf-8")

    def feed(self, data: bytes) -> None:
        """Take the next output."""
        self._append(self._decoder.decode(data))

    def finish(self) -> None:
        """There will be no more: half a character at the end is shown as U+FFFD."""
        self._append(self._decoder.decode(b"", final=True))

    def _append(self, text: str) -> None:
        self._kept += text.encode("utf-8")
        # Cutting only at twice the bound moves each kept byte at most once on average.
        if len(self._kept) > 2 * self.bytes_max:
            self._kept = bytearray(cut_front(self._kept, self.bytes_max))
            self._cut = True
