"""Paths of a session: absolute for the protocol, relative for a person."""

import os
from typing import Protocol

_IS_POSIX = os.sep == "/"


class HasRoots(Protocol):
    """A session, as far as its folders go."""

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders that it works in, the working folder first."""
        ...


def absolute(session: HasRoots, path: str) -> str:
    """The absolute path; a relative one starts from the session's folder."""
    path = os.fspath(path)  # accepts a Path as well
    if (
        _IS_POSIX
        and path.startswith("/")
        and not ("/." in path or "//" in path or path.endswith("/"))
    ):
        # Most paths need no change.
        return path
    return os.path.normpath(os.path.join(session.roots[0], path))


def relative(session: HasRoots, path: str) -> str:
    """The path as a person reads it, relative to the session's folder."""
    return os.path.relpath(path, session.roots[0])
