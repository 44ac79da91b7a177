"""Read the type and the size of an image from its header, and the pixels of a small PNG.

Pure and bounded.  Bytes that are not an image, or a truncated one, are not an error: the result is
None.  Large, interlaced or broken images are not decoded; the caller shows their size.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
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


RAW_BYTES_MAX = 400_000
"""Decompressed bytes of an image; decoding that many takes about a tenth of a second."""

_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
# The allowed bits per channel, by colour type.
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}


class Pixels(NamedTuple):
    """Rows of red, green, blue, three bytes each."""

    width: int
    height: int
    rows: list[bytes]


def read_png(data: bytes) -> Pixels | None:
    """Decode the pixels; None if the image is broken, too large or of an unsupported kind."""
    try:
        return _read(data)
    except (struct.error, zlib.error, IndexError, ValueError):
        return None


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 8
    while at + 8 <= len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += 12 + length


def _read(data: bytes) -> Pixels | None:
    chunks = list(_chunks(data))
    if not data.startswith(b"\x89PNG") or not chunks or chunks[0][0] != b"IHDR":
        return None
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", chunks[0][1][:13])
    if depth not in _DEPTHS.get(colour, ()) or interlace or not width:
        return None
    bits = _CHANNELS[colour] * depth
    line = (width * bits + 7) // 8
    if not height or (line + 1) * height > RAW_BYTES_MAX:
        return None
    packed = b"".join(body for kind, body in chunks if kind == b"IDAT")
    raw = zlib.decompressobj().decompress(packed, (line + 1) * height)
    palette = next((body for kind, body in chunks if kind == b"PLTE"), b"")
    rows: list[bytes] = []
    before = bytearray(line)
    for y in range(height):
        begin = y * (line + 1)
        now = bytearray(raw[begin + 1 : begin + 1 + line])
        if len(now) < line:
            return None
        _unfilter(raw[begin], now, before, max(bits // 8, 1))
        rows.append(_rgb(now, width, depth, colour, palette))
        before = now
    return Pixels(width, height, rows)


def _unfilter(kind: int, now: bytearray, before: bytearray, step: int) -> None:
    if kind == 1:
        for at in range(step, len(now)):
            now[at] = (now[at] + now[at - step]) & 255
    elif kind == 2:
        now[:] = bytes([(a + b) & 255 for a, b in zip(now, before, strict=True)])
    elif kind == 3:
        for at, up in enumerate(before):
            left = now[at - step] if at >= step else 0
            now[at] = (now[at] + (left + up) // 2) & 255
    elif kind == 4:
        for at, up in enumerate(before):
            left, corner = (now[at - step], before[at - step]) if at >= step else (0, 0)
            to_left, to_up = abs(up - corner), abs(left - corner)
            to_corner = abs(left + up - 2 * corner)
            if to_left <= to_up and to_left <= to_corner:
                best = left
            else:
                best = up if to_up <= to_corner else corner
            now[at] = (now[at] + best) & 255


def _rgb(line: bytearray, width: int, depth: int, colour: int, palette: bytes) -> bytes:
    """One row as red, green, blue; transparent pixels are drawn on black."""
    if depth == 16:
        line = line[::2]
    elif depth < 8:
        top = (1 << depth) - 1
        scale = 1 if colour == 3 else 255 // top
        line = bytearray(
            (byte >> shift & top) * scale for byte in line for shift in range(8 - depth, -1, -depth)
        )[:width]
    if colour == 2:
        return bytes(line)
    if colour == 3:
        known = palette + bytes(768)
        return b"".join(known[3 * one : 3 * one + 3] for one in line)
    if colour == 0:
        return bytes(one for one in line for _ in range(3))
    if colour == 4:
        greys, veils = line[::2], line[1::2]
        return bytes(g * v // 255 for g, v in zip(greys, veils, strict=True) for _ in range(3))
    found = bytearray(3 * width)
    veil = line[3::4]
    for channel in range(3):
        found[channel::3] = bytes(
            one * v // 255 for one, v in zip(line[channel::4], veil, strict=True)
        )
    return bytes(found)
