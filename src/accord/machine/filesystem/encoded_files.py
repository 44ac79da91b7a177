"""Parts of text files in any encoding, with the number of lines, for peers that ask for it.

These functions block.  UTF-8 is read and written as `local_files.py` does it; any other encoding is
taken at its word, without care for byte order marks and line ends.

It must not know sessions or wire types.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from accord.machine.errors import NotText, TooLarge
from accord.machine.filesystem.local_files import LocalFiles, ReplacedFile, Stored
from accord.machine.filesystem.newline_style import FileStyle, decode_text, encode_text

UTF_8 = "utf-8"


class UnknownEncoding(Exception):
    """No encoding of text has this name."""


@dataclass(frozen=True)
class TextPart:
    """Some lines of a file; of a very large one it is not known how many there are."""

    text: str
    total_lines: int | None
    truncated: bool


def text_codec(name: str) -> str:
    """The one name of an encoding of text.

    Raises:
        UnknownEncoding: there is none, or it is not an encoding of text.
    """
    try:
        found = codecs.lookup(name)
        # Codecs from bytes to bytes have names too, and one never works; both raise here.
        b"".decode(found.name)
        "".encode(found.name)
    except (LookupError, ValueError):
        raise UnknownEncoding(name) from None
    return found.name


def read_part(
    files: LocalFiles, path: str, encoding: str, start: int | None, end: int | None
) -> TextPart:
    """The lines from `start` to `end`, both included and counted from 1; None has no bound.

    Bytes that are not in the encoding become U+FFFD.

    Raises:
        FileFailure: with the reason as its class.
    """
    buffered = files.buffered(path)
    if buffered is not None:
        return _part(buffered, start, end)
    try:
        data = files.read_bytes(path)
    except TooLarge:
        if encoding != UTF_8 or (start is None and end is None):
            raise
        limit = None if end is None else max(end - max(start or 1, 1) + 1, 0)
        return TextPart(files.read_text(path, start, limit), None, end is not None)
    if encoding == UTF_8:
        return _part(decode_text(data, from_start=True), start, end)
    return _part(data.decode(encoding, "replace"), start, end)


def _part(text: str, start: int | None, end: int | None) -> TextPart:
    total = text.count("\n") + bool(text and not text.endswith("\n"))
    if start in (None, 0, 1) and end is None:
        return TextPart(text, total, truncated=False)
    lines = text.split("\n")
    first = max((start or 1) - 1, 0)
    last = len(lines) if end is None else max(end, first)
    wanted = "\n".join(lines[first:last])
    if last < len(lines) and first < last:
        wanted += "\n"
    return TextPart(wanted, total, truncated=end is not None and end < total)


def write_encoded(
    files: LocalFiles,
    path: str,
    content: str,
    encoding: str,
    *,
    at: str | None = None,
    create_parents: bool = True,
    overwrite: bool = True,
) -> Stored:
    """Make `content` the text of the file, whole and at once, in this encoding.

    Raises:
        AlreadyThere: the file exists, and is not to be overwritten.
        NotText: the encoding has no form for a part of it.
        FileFailure: another reason, as its class.
    """

    def encoded(path: str, content: str, existing: ReplacedFile | None) -> bytes:
        try:
            if encoding == UTF_8:
                data = _utf_8(path, content, existing)
            else:
                data = content.encode(encoding)
        except UnicodeError as error:
            raise NotText(path, f"the new text cannot be written as {encoding}: {error}") from None
        if len(data) > files.bytes_max:
            raise TooLarge(path, files.bytes_max)
        return data

    return files.store(
        path, content, encoded, at=at, create_parents=create_parents, overwrite=overwrite
    )


def _utf_8(path: str, content: str, existing: ReplacedFile | None) -> bytes:
    style = FileStyle() if existing is None else existing.style
    if not style.utf8 and "\ufffd" in content:
        raise NotText(path, "the file is not UTF-8 and the new text has replacement characters")
    return encode_text(content, style)
