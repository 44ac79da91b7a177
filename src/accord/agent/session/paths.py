"""Paths of a session: absolute for the protocol, relative for a person."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.agent.session.session import AgentSession

_IS_POSIX = os.sep == "/"


def absolute(session: "AgentSession", path: str) -> str:
    """A path as the protocol wants it: absolute, relative ones from the session's folder."""
    path = os.fspath(path)  # a Path does as well
    if (
        _IS_POSIX
        and path.startswith("/")
        and not ("/." in path or "//" in path or path.endswith("/"))
    ):
        # Nothing to do, as for nearly all that is asked for often.
        return path
    return os.path.normpath(os.path.join(session.record.cwd, path))


def relative(session: "AgentSession", path: str) -> str:
    """A path as a person wants to see it."""
    return os.path.relpath(path, session.record.cwd)
