"""The frames of a WebSocket as a client reads and writes them.  Pure.

Whole text messages, which are nearly all that comes, are cut out of the stream here; the package
`websockets` would take eight times as long for each.  Every other frame is handed to that package
as it came: it answers pings, joins fragments, closes, and judges what is malformed.

What always holds: any split of a stream gives the same frames, and no more is held than one frame
of at most `message_bytes_max`.
"""

import os
import struct
from collections.abc import Iterable
from typing import Final

try:
    from websockets.speedups import apply_mask
except ImportError:  # pragma: no cover - a build of the package without its C part
    from websockets.utils import apply_mask

# One unfragmented text message: FIN, no reserved bits, opcode 1.
_TEXT: Final = 0x81
_FIN: Final = 0x80
_CONTROL: Final = 0x08
_MASKED: Final = 0x80
_LENGTH: Final = 0x7F
_LENGTH_16: Final = 126
_LENGTH_64: Final = 127
_HEADER_BYTES_MIN: Final = 2
_MASK_BYTES: Final = 4
# Masks are drawn many at a time, since each draw is a call of the system.
_MASKS_AT_ONCE: Final = 1024

_short_header: Final = struct.Struct("!BB").pack
_medium_header: Final = struct.Struct("!BBH").pack
_long_header: Final = struct.Struct("!BBQ").pack


class FrameReader:
    """Cuts a server's stream into frames.

    Guards: a text message inside of a fragmented one is not taken for a message.
    """

    def __init__(self, message_bytes_max: int) -> None:
        self._message_bytes_max = message_bytes_max
        self._pieces: list[bytes] = []
        self._held_bytes = 0
        # How many bytes the next frame, or its header, needs.
        self._needed_bytes = _HEADER_BYTES_MIN
        self._in_fragments = False
        self._is_broken = False

    def feed(self, data: bytes) -> list[list[bytes] | bytes]:
        """Return what these bytes complete, in order: runs of text messages, and other frames.

        A text message comes without its header.  After a header that announces too long a
        message, which comes as an other frame, nothing more is read.
        """
        if self._is_broken:
            return []
        if self._pieces:
            self._pieces.append(data)
            self._held_bytes += len(data)
            if self._held_bytes < self._needed_bytes:
                return []
            data = b"".join(self._pieces)
            self._pieces.clear()
        found: list[list[bytes] | bytes] = []
        rest = self._read(data, found)
        if rest < len(data) and not self._is_broken:
            self._pieces.append(data[rest:])
        self._held_bytes = len(data) - rest
        return found

    def _read(self, data: bytes, found: list[list[bytes] | bytes]) -> int:
        """Read whole frames, and return where the rest begins."""
        at, end = 0, len(data)
        texts: list[bytes] = []
        self._needed_bytes = _HEADER_BYTES_MIN
        while end - at >= _HEADER_BYTES_MIN:
            first, second = data[at], data[at + 1]
            length, start = second & _LENGTH, at + _HEADER_BYTES_MIN
            if length >= _LENGTH_16:
                start += 2 if length == _LENGTH_16 else 8
                if start > end:
                    self._needed_bytes = start - at
                    break
                length = int.from_bytes(data[at + _HEADER_BYTES_MIN : start])
            is_too_long = length > self._message_bytes_max
            if is_too_long:
                # The package reads the header, and closes the connection over it.
                length = 0
            if second & _MASKED:
                start += _MASK_BYTES
            stop = start + length
            if stop > end:
                self._needed_bytes = stop - at
                break
            if first == _TEXT and not (second & _MASKED or self._in_fragments or is_too_long):
                texts.append(data[start:stop])
            else:
                if texts:
                    found.append(texts)
                    texts = []
                self._note_fragments(first)
                found.append(data[at:stop])
                if is_too_long:
                    self._is_broken = True
                    return end
            at = stop
        if texts:
            found.append(texts)
        return at

    def _note_fragments(self, first: int) -> None:
        """Follow where a fragmented message begins and ends; control frames may come between."""
        if not first & _CONTROL:
            self._in_fragments = not first & _FIN


class FrameWriter:
    """Makes the frames of text messages, masked as those of a client must be."""

    def __init__(self) -> None:
        self._masks = b""
        self._at = 0

    def encode(self, messages: Iterable[bytes]) -> bytes:
        """Return the frames of some messages."""
        parts: list[bytes] = []
        for message in messages:
            mask = self._mask()
            length = len(message)
            if length < _LENGTH_16:
                parts.append(_short_header(_TEXT, _MASKED | length))
            elif length < 1 << 16:
                parts.append(_medium_header(_TEXT, _MASKED | _LENGTH_16, length))
            else:
                parts.append(_long_header(_TEXT, _MASKED | _LENGTH_64, length))
            parts.append(mask)
            parts.append(apply_mask(message, mask))
        return b"".join(parts)

    def _mask(self) -> bytes:
        if self._at >= len(self._masks):
            self._masks = os.urandom(_MASKS_AT_ONCE * _MASK_BYTES)
            self._at = 0
        mask = self._masks[self._at : self._at + _MASK_BYTES]
        self._at += _MASK_BYTES
        return mask


__all__ = ["FrameReader", "FrameWriter"]
