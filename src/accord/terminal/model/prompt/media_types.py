"""Detect the media type of bytes by their beginning, or by the file name."""

from __future__ import annotations

from mimetypes import guess_type

HEAD_BYTES = 64

_BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\x7fELF", "application/x-executable"),
)
# Files in RIFF and ISO containers, by their type codes.
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_ISO = {b"avif": "image/avif", b"heic": "image/heic", b"M4A ": "audio/mp4"}


def media_type_of(name: str, head: bytes = b"") -> str:
    """Return the media type by the name and the first bytes; empty if unknown."""
    by_name = guess_type(name)[0] or ""
    found = _by_beginning(head)
    if found == "application/zip" and by_name:
        # Many formats are zip files with a name of their own.
        return by_name
    return found or by_name


def _by_beginning(head: bytes) -> str:
    if head.startswith(b"RIFF"):
        return _RIFF.get(head[8:12], "")
    if head[4:8] == b"ftyp":
        return _ISO.get(head[8:12], "")
    return next((kind for start, kind in _BEGINNINGS if head.startswith(start)), "")
