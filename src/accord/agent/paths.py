"""Paths of a session: absolute for the protocol, relative for a person."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.agent.session import AgentSession


def absolute(session: "AgentSession", path: str) -> str:
    """A path as the protocol wants it: absolute, relative ones from the session's folder."""
    return os.path.normpath(os.path.join(session.record.cwd, path))


def relative(session: "AgentSession", path: str) -> str:
    """A path as a person wants to see it."""
    return os.path.relpath(path, session.record.cwd)
