"""Paths and addresses as text.  Nothing here looks at a disk."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote, urlsplit

_DRIVE_LENGTH: Final = 3


def is_absolute(path: str) -> bool:
    """Whether a path is absolute on some machine: POSIX, a drive letter, or UNC."""
    if path.startswith(("/", "\\\\")):
        return True
    return len(path) >= _DRIVE_LENGTH and path[0].isalpha() and path[1] == ":" and path[2] in "\\/"


def resolved(path: str, folder: str) -> str:
    """Resolve a path of the draft; relative ones start at the session's folder."""
    if is_absolute(path):
        return path
    mark = "\\" if "\\" in folder and "/" not in folder else "/"
    return f"{folder.rstrip(mark)}{mark}{path.removeprefix('./')}"


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is in a folder, by its text."""
    base = folder.rstrip("/\\")
    return path.startswith(base) and path[len(base) : len(base) + 1] in "/\\"


def file_uri(path: str) -> str:
    """Return the URI of a file."""
    plain = path.replace("\\", "/")
    return "file://" + quote(plain if plain.startswith("/") else f"/{plain}")


def last_part(uri: str) -> str:
    """Return a name for something of which only the URI is known."""
    try:
        path = urlsplit(uri).path
    except ValueError:
        path = uri
    return unquote(path.rstrip("/").rpartition("/")[2]) or uri or "resource"
