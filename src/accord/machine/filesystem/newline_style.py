"""Text as files hold it: lines, byte order mark, newline style.  Pure functions.

It must not know paths or descriptors.

What is promised
    * A line ends with "\n" and keeps it; "\r\n" stays "\r\n"; nothing else ends a line.
    * Reading is total: bytes that are not UTF-8 become U+FFFD, a leading byte order mark is left
      out.  An agent then sees plain text and no edit of it can move or double the mark.
    * Writing keeps what the file had: its byte order mark, and CRLF where every line used it and
      the new text uses none.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass

CHUNK_BYTES = 256 * 1024
"""How much is looked at in one step; small enough that a wanted first line comes at once."""

SCAN_BYTES_MAX = 1024 * 1024 * 1024
"""How far into a file lines are counted before giving up."""

_BOM = b"\xef\xbb\xbf"


class ByteBoundPassed(Exception):
    """More bytes than allowed; the caller adds the path."""

    def __init__(self, bytes_max: int) -> None:
        super().__init__(f"more than {bytes_max} bytes")
        self.bytes_max = bytes_max


def take_lines(
    read: Callable[[int], bytes], line: int | None, limit: int | None, bytes_max: int
) -> bytes:
    """Read the lines from number `line` (1-based, 0 and None mean 1), at most `limit` of them.

    Only as much is read as is needed: the bound is on what is returned, not on the file.

    Raises:
        ByteBoundPassed: the result is longer than `bytes_max`, or the start was not found
            within SCAN_BYTES_MAX.
        ValueError: a negative `line` or `limit`.
    """
    skip, wanted = max((line or 1) - 1, 0), limit
    if (line or 0) < 0 or (limit or 0) < 0:
        raise ValueError("line and limit count lines and cannot be negative")
    kept: list[bytes] = []
    size = scanned = 0
    while wanted != 0 and (chunk := read(CHUNK_BYTES)):
        scanned += len(chunk)
        if skip:
            if scanned > SCAN_BYTES_MAX:
                raise ByteBoundPassed(SCAN_BYTES_MAX)
            newlines = chunk.count(b"\n")
            if newlines < skip:
                skip -= newlines
                continue
            chunk = chunk[_end_of_line(chunk, skip) :]
            skip = 0
        if wanted is not None:
            newlines = chunk.count(b"\n")
            if newlines >= wanted:
                chunk = chunk[: _end_of_line(chunk, wanted)]
            wanted = max(wanted - newlines, 0)
        kept.append(chunk)
        size += len(chunk)
        if size > bytes_max:
            raise ByteBoundPassed(bytes_max)
    return b"".join(kept)


def _end_of_line(chunk: bytes, number: int) -> int:
    """The offset behind the newline of the given number, which must exist."""
    offset = 0
    for _ in range(number):
        offset = chunk.index(b"\n", offset) + 1
    return offset


def decode_text(data: bytes, *, from_start: bool) -> str:
    """Bytes of a file as text; with `from_start` a byte order mark at the front is left out."""
    if from_start and data.startswith(_BOM):
        data = data[len(_BOM) :]
    return data.decode("utf-8", "replace")


@dataclass(frozen=True)
class FileStyle:
    """What an existing file looks like, as far as its sample shows."""

    bom: bool = False
    crlf: bool = False
    utf8: bool = True


def style_of(sample: bytes, *, whole: bool) -> FileStyle:
    """Judge a file by its beginning, or its whole; CRLF counts where every line ends so."""
    newlines = sample.count(b"\n")
    try:
        # A part may end within a character; only what cannot become one is wrong.
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=whole)
        utf8 = True
    except UnicodeDecodeError:
        utf8 = False
    return FileStyle(
        bom=sample.startswith(_BOM),
        crlf=newlines > 0 and sample.count(b"\r\n") == newlines,
        utf8=utf8,
    )


def encode_text(text: str, style: FileStyle) -> bytes:
    """The bytes to store for `text` in a file of the given style.

    Raises:
        UnicodeEncodeError: the text has half of a surrogate pair.
    """
    data = text.encode("utf-8")
    if style.crlf and b"\r" not in data:
        data = data.replace(b"\n", b"\r\n")
    if style.bom and not data.startswith(_BOM):
        data = _BOM + data
    return data
