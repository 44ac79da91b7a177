"""Updates of sessions that are not open: not announced yet, over, or unknown.

An agent may send updates of a session before its answer to `session/new`.  They wait here for the
answer.  Above the bound the oldest are dropped, counted and logged.  Old ones are also dropped when
much has been read since, because updates may be large.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Any

from accord.machine.redacted_logs import logger

if TYPE_CHECKING:
    from accord.connection.connection import Connection

# The number of closed sessions whose ids are remembered.
FORMER_IDS_MAX = 1024


_log = logger("accord.client")


class EarlyUpdates:
    """Guards: never more than the bound are kept, in wire order within a session."""

    # Nobody waits for these: they are taken when their session opens.
    is_waiting = False

    def __init__(self, updates_max: int) -> None:
        self._waiting: deque[tuple[str, Any]] = deque()
        self._max = updates_max
        # The newest update at the last call of `much_came`.
        self._seen: tuple[str, Any] | None = None
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, session_id: str, update: Any) -> None:
        """Keep an update until its session is known."""
        self._waiting.append((session_id, update))
        if len(self._waiting) > self._max:
            self._drop_oldest()

    def much_came(self) -> None:
        """Drop the updates that were here at the last call."""
        while self._seen is not None and any(one is self._seen for one in self._waiting):
            self._drop_oldest()
        self._seen = self._waiting[-1] if self._waiting else None

    def _drop_oldest(self) -> None:
        self._waiting.popleft()
        self.dropped += 1
        if self.dropped & (self.dropped - 1) == 0:
            _log.warning("%d updates of unknown sessions have been dropped so far", self.dropped)

    def take(self, session_id: str) -> list[Any]:
        """Remove and return the updates of one session, in order."""
        if not self._waiting:
            return []
        taken = [update for owner, update in self._waiting if owner == session_id]
        if taken:
            self._waiting = deque(entry for entry in self._waiting if entry[0] != session_id)
        return taken


def report_unknown_session(session_id: str, connection: Connection) -> None:
    """Tell the user that the agent sent an update for a session that was never opened."""
    text = f"an update for the session {session_id!r}, which is unknown"
    connection.tolerate(text, logging.WARNING, kind="unknown session")


def log_ended_session(session_id: str) -> None:
    """Log an update of a session that is over, which is usual after its end."""
    _log.debug("an update for the session %r, which is over", session_id)
