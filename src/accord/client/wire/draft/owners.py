"""The session that a request of the 2026-02 draft belongs to, which does not name one.

What always holds: where the session is not clear, the request is refused; one session never uses
the rights of another.
"""

import os
from collections.abc import Iterable

from accord.client.connection.agent_connection import AgentLink
from accord.client.session.state import SessionCore
from accord.errors import RequestError
from accord.jsonrpc.error_codes import INVALID_SESSION_STATE


class Owners:
    """Whose a request is that names no session."""

    def __init__(self, link: AgentLink[SessionCore]) -> None:
        self._link = link

    @property
    def link(self) -> AgentLink[SessionCore]:
        """The connection that it is about."""
        return self._link

    def of_path(self, path: str | None) -> SessionCore:
        """The session that works where the path is; else the one whose turn runs; else the only.

        Raises:
            RequestError: there is no such one session.
        """
        sessions = list(self._link.sessions.values())
        if path is not None and os.path.isabs(path):
            near = _closest(sessions, os.path.normpath(path))
            if near:
                return _one_of(near)
        return _one_of(sessions)


def _closest(sessions: Iterable[SessionCore], path: str) -> list[SessionCore]:
    """Those with the innermost folder that has the path in it."""
    found: list[SessionCore] = []
    depth = 0
    for session in sessions:
        inside = max((len(root) for root in session.roots if _is_in(path, root)), default=0)
        if inside > depth:
            found, depth = [session], inside
        elif inside and inside == depth:
            found.append(session)
    return found


def _is_in(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _one_of(sessions: list[SessionCore]) -> SessionCore:
    running = [session for session in sessions if session.is_busy]
    for among in (running, sessions):
        if len(among) == 1:
            return among[0]
        if among:
            break
    reason = "no session is open" if not sessions else "it is not clear which session this is for"
    raise RequestError(INVALID_SESSION_STATE, reason, {"reason": "invalid_session_state"})


__all__ = ["Owners"]
