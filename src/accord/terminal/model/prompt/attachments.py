"""Create attachments from dropped, pasted or named files, images and long text.

This module does not know any screen, nor which agent it is for.

Invariants
    * Every attachment has a unique mark in the text.
    * A pasted text is taken for file names only where each of them is a file that is there.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Container, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from accord.terminal.model.prompt.content_blocks import IMAGE_BYTES_MAX, PromptError, is_beneath
from accord.terminal.model.prompt.media_types import HEAD_BYTES, media_type_of
from accord.terminal.model.prompt.unsent_prompts import Attachment, AttachmentKind

PASTED_CHARACTERS_MAX = 2_000
"""Longer pasted text becomes an attachment."""

PASTED_LINES_MAX = 20
PASTE_CHARACTERS_MAX = 8 << 20
"""The maximum length of a paste; the rest is cut off."""

PATHS_MAX = 20
_PATHS_CHARACTERS_MAX = 8_000
_NAMED_BY_PERSON = re.compile(r"^(?:file://|~|[/\\]|[A-Za-z]:\\|['\"][/~])")


def attachment_of(path: Path, roots: Sequence[str], *, name: str | None = None) -> Attachment:
    """The file as an attachment; below the first folder it is named from there.

    Touches the disk.

    Raises:
        PromptError: there is no such file, or it cannot be read; a sentence.
    """
    shown = name or str(path)
    try:
        shown = name or _shown(path, roots)
        if path.is_dir():
            raise PromptError(f"{shown} is a folder; choose a file in it.")
        if not path.is_file():
            raise PromptError(f"File not found: {shown}")
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
            size = os.fstat(file.fileno()).st_size
    except (OSError, ValueError) as error:
        if isinstance(error, PromptError):
            raise
        raise PromptError(f"{shown} cannot be read: {error}.") from None
    media_type = media_type_of(path.name, head)
    return Attachment(
        kind=_kind(media_type, head),
        name=shown,
        mark=f"@{shown}",
        path=str(path.absolute()),
        media_type=media_type or ("" if b"\0" in head else "text/plain"),
        file_bytes=size,
    )


def _shown(path: Path, roots: Sequence[str]) -> str:
    absolute = path.absolute()
    if roots and is_beneath(path, roots[:1]) and absolute.is_relative_to(roots[0]):
        return absolute.relative_to(roots[0]).as_posix()
    return str(absolute)


def _kind(media_type: str, head: bytes) -> AttachmentKind:
    if media_type.startswith("image/") and media_type != "image/svg+xml":
        return "image"
    if media_type.startswith("audio/"):
        return "audio"
    return "binary" if b"\0" in head else "file"


def image_of(data: bytes, marks: Container[str]) -> Attachment | None:
    """Bytes from the clipboard as a picture; None if they are none, or too many."""
    media_type = media_type_of("", data[:HEAD_BYTES])
    if not media_type.startswith("image/") or len(data) > IMAGE_BYTES_MAX:
        return None
    mark = _unused("image", marks)
    return Attachment("image", mark.strip("[]"), mark, media_type=media_type, data=data)


def long_text(text: str, marks: Container[str]) -> Attachment | None:
    """Pasted text that is too long to be shown as it is; None if it is not."""
    lines = text.rstrip("\n").count("\n") + 1
    if len(text) <= PASTED_CHARACTERS_MAX and lines <= PASTED_LINES_MAX:
        return None
    what = f"pasted {lines} lines" if lines > 1 else f"pasted {len(text)} characters"
    mark = f"[{what}]"
    if mark in marks:
        mark = _unused(f"{what},", marks, 2)
    data = text.encode("utf-8", "replace")
    return Attachment("text", mark.strip("[]"), mark, media_type="text/plain", data=data)


def _unused(what: str, marks: Container[str], number: int = 1) -> str:
    while f"[{what} {number}]" in marks:
        number += 1
    return f"[{what} {number}]"


def pasted_paths(text: str) -> list[Path]:
    """Return the files that a pasted text names; terminals paste the names of dropped files.

    Touches the disk.
    """
    text = text.strip()
    if not _NAMED_BY_PERSON.match(text) or len(text) > _PATHS_CHARACTERS_MAX:
        return []
    for names in _readings(text):
        if 0 < len(names) <= PATHS_MAX:
            paths = [_path(name) for name in names]
            found = [path for path in paths if path is not None]
            if len(found) == len(paths):
                return found
    return []


def _readings(text: str) -> list[list[str]]:
    """A name as it is, one on each line, or names as a shell would read them."""
    readings = [[text], [line.strip() for line in text.splitlines() if line.strip()]]
    try:
        readings.append(shlex.split(text))
    except ValueError:
        # A quote without its other half: no shell would read it.
        pass
    return readings


def _path(name: str) -> Path | None:
    if name.startswith("file://"):
        name = unquote(urlsplit(name).path)
    try:
        path = Path(name).expanduser()
        return path if path.is_absolute() and path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def size_words(size: int) -> str:
    """A size for people: `840 bytes`, `12 kB`, `3.4 MB`."""
    if size < 1000:
        return f"{size} byte{'' if size == 1 else 's'}"
    for unit, factor in (("kB", 1e3), ("MB", 1e6), ("GB", 1e9)):
        if size < 1000 * factor or unit == "GB":
            number = size / factor
            return f"{number:.1f} {unit}" if number < 10 else f"{number:.0f} {unit}"
    raise AssertionError


def kind_words(one: Attachment) -> str:
    """What it is, in a word or two: `png image`, `text`, `pdf`."""
    main, _, sub = one.media_type.partition("/")
    sub = sub.removeprefix("x-").partition("+")[0].partition(";")[0]
    if one.kind in ("image", "audio"):
        return f"{sub} {one.kind}" if sub else one.kind
    if one.kind == "text" or main == "text":
        return sub if main == "text" and sub != "plain" else "text"
    return sub if sub and sub != "octet-stream" else one.kind
