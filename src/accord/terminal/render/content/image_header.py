"""Read the type and the size in pixels from the header of an image.

Pure.  Bytes that are not an image, or a truncated one, are not an error: the result is None.
"""

from __future__ import annotations

import struct
from typing import NamedTuple


class ImageFacts(NamedTuple):
    """The media type by the bytes themselves, and the size in pixels."""

    format: str
    width: int
    height: int


def image_facts(data: bytes) -> ImageFacts | None:
    """The type and size by the header; None if the format is unknown."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
            return ImageFacts("png", *struct.unpack(">II", data[16:24]))
        if data.startswith((b"GIF87a", b"GIF89a")):
            return ImageFacts("gif", *struct.unpack("<HH", data[6:10]))
        if data.startswith(b"\xff\xd8"):
            return _jpeg(data)
        if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            return _webp(data)
    except (struct.error, IndexError):
        pass
    return None


# Frames whose header has the size: all kinds of encoding, without the tables between them.
_JPEG_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
# Marks that stand alone.
_JPEG_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})
JPEG_MARKS_MAX = 1000


def _jpeg(data: bytes) -> ImageFacts | None:
    at = 2
    for _ in range(JPEG_MARKS_MAX):
        if data[at] != 0xFF:
            return None
        mark = data[at + 1]
        if mark == 0xFF:
            at += 1
            continue
        if mark in _JPEG_ALONE:
            at += 2
            continue
        if mark in _JPEG_FRAMES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return ImageFacts("jpeg", width, height)
        at += 2 + max(struct.unpack(">H", data[at + 2 : at + 4])[0], 2)
    return None


def _webp(data: bytes) -> ImageFacts | None:
    kind = data[12:16]
    if kind == b"VP8X":
        width = int.from_bytes(data[24:27], "little") + 1
        height = int.from_bytes(data[27:30], "little") + 1
        return ImageFacts("webp", width, height) if len(data) >= 30 else None
    if kind == b"VP8L":
        bits = struct.unpack("<I", data[21:25])[0]
        return ImageFacts("webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return ImageFacts("webp", width & 0x3FFF, height & 0x3FFF)
    return None
