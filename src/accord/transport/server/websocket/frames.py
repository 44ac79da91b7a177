"""The frames of a WebSocket as a server reads and writes them.  Pure.

Whole text messages and pongs, which are nearly all that comes, are read here without an object
that stays.  Every other frame is handed on as it came, for the package `websockets` to judge.

What always holds: any split of a stream gives the same frames, and no more is held than one frame
of at most `message_bytes_max`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final, NamedTuple

try:
    from websockets.speedups import apply_mask
except ImportError:  # pragma: no cover - a build of the package without its C part
    from websockets.utils import apply_mask

# FIN, no reserved bits, and the opcode.
_TEXT: Final = 0x81
_PONG: Final = 0x8A
_PING: Final = 0x89
_FIN: Final = 0x80
_CONTROL: Final = 0x08
_MASKED: Final = 0x80
_LENGTH: Final = 0x7F
_LENGTH_16: Final = 126
_LENGTH_64: Final = 127
_HEADER_BYTES_MIN: Final = 2
_MASK_BYTES: Final = 4

_medium_header: Final = struct.Struct("!BBH").pack
_long_header: Final = struct.Struct("!BBQ").pack

PING_FRAME: Final = bytes((_PING, 0))


class OtherFrame(NamedTuple):
    """A frame that is neither a whole text message nor a pong, with its header."""

    data: bytes


class TooLongFrame(NamedTuple):
    """The header of a message over the limit; nothing after it is read."""


Found = bytes | OtherFrame | TooLongFrame


class ServerFrameReader:
    """Cuts a client's stream into frames.

    Guards: a text message inside of a fragmented one is not taken for a message.
    """

    __slots__ = ("_held", "_in_fragments", "_is_broken", "_message_bytes_max", "_needed_bytes")

    def __init__(self, message_bytes_max: int) -> None:
        self._message_bytes_max = message_bytes_max
        # Allocated while a frame is incomplete.
        self._held: bytearray | None = None
        self._needed_bytes = 0
        self._in_fragments = False
        self._is_broken = False

    @property
    def held_bytes(self) -> int:
        """How much there is of an incomplete frame."""
        return 0 if self._held is None else len(self._held)

    def feed(self, data: bytes) -> list[Found]:
        """Return what these bytes complete, in order; a text message without its header."""
        if self._is_broken:
            return []
        if self._held is not None:
            self._held += data
            if len(self._held) < self._needed_bytes:
                return []
            data, self._held = bytes(self._held), None
        found: list[Found] = []
        rest = self._read(data, found)
        if rest < len(data) and not self._is_broken:
            self._held = bytearray(data[rest:])
        return found

    def _read(self, data: bytes, found: list[Found]) -> int:
        """Read whole frames, and return where the rest begins."""
        at, end = 0, len(data)
        self._needed_bytes = _HEADER_BYTES_MIN
        while end - at >= _HEADER_BYTES_MIN:
            first, second = data[at], data[at + 1]
            length, start = second & _LENGTH, at + _HEADER_BYTES_MIN
            if length >= _LENGTH_16:
                start += 2 if length == _LENGTH_16 else 8
                if start > end:
                    self._needed_bytes = start - at
                    return at
                length = int.from_bytes(data[at + _HEADER_BYTES_MIN : start])
            if length > self._message_bytes_max:
                self._is_broken = True
                found.append(TooLongFrame())
                return end
            is_masked = bool(second & _MASKED)
            stop = start + length + (_MASK_BYTES if is_masked else 0)
            if stop > end:
                self._needed_bytes = stop - at
                return at
            if first == _TEXT and is_masked and not self._in_fragments:
                mask = data[start : start + _MASK_BYTES]
                found.append(apply_mask(data[start + _MASK_BYTES : stop], mask))
            elif first != _PONG or not is_masked or length >= _LENGTH_16:
                if not first & _CONTROL:
                    self._in_fragments = not first & _FIN
                found.append(OtherFrame(data[at:stop]))
            at = stop
        return at


def encode_texts(messages: Iterable[bytes]) -> bytes:
    """Return the frames of some messages, as a server sends them."""
    parts: list[bytes] = []
    for message in messages:
        length = len(message)
        if length < _LENGTH_16:
            parts.append(bytes((_TEXT, length)))
        elif length < 1 << 16:
            parts.append(_medium_header(_TEXT, _LENGTH_16, length))
        else:
            parts.append(_long_header(_TEXT, _LENGTH_64, length))
        parts.append(message)
    return b"".join(parts)


__all__ = [
    "PING_FRAME",
    "OtherFrame",
    "ServerFrameReader",
    "TooLongFrame",
    "encode_texts",
]
