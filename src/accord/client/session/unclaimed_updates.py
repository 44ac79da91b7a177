"""Updates of sessions that the agent has not announced yet.

An agent may tell about a session before the answer to `session/new` has named it.  Such updates
wait here for the answer; over the bound the oldest are dropped, counted and reported, and so are
those behind which much has been read: they may be large.
"""

from collections import deque
from typing import Any

from accord.machine.logs import logger

_log = logger("accord.client")


class EarlyUpdates:
    """Guards: never more than the bound are kept, and order within a session is the wire's."""

    def __init__(self, updates_max: int) -> None:
        self._waiting: deque[tuple[str, Any]] = deque()
        self._max = updates_max
        # The newest when much had been read the last time.
        self._seen: tuple[str, Any] | None = None
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, session_id: str, update: Any) -> None:
        """Keep one until its session is known."""
        self._waiting.append((session_id, update))
        if len(self._waiting) > self._max:
            self._drop_oldest()

    def much_came(self) -> None:
        """Drop what has been here since the last time."""
        while self._seen is not None and any(one is self._seen for one in self._waiting):
            self._drop_oldest()
        self._seen = self._waiting[-1] if self._waiting else None

    def _drop_oldest(self) -> None:
        self._waiting.popleft()
        self.dropped += 1
        if self.dropped & (self.dropped - 1) == 0:
            _log.warning("%d updates of unknown sessions were dropped so far", self.dropped)

    def take(self, session_id: str) -> list[Any]:
        """Those of one session, in order; they are no longer kept."""
        if not self._waiting:
            return []
        taken = [update for owner, update in self._waiting if owner == session_id]
        if taken:
            self._waiting = deque(entry for entry in self._waiting if entry[0] != session_id)
        return taken


__all__ = ["EarlyUpdates"]
