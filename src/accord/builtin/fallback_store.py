"""The store of the built-in agent: the user's file, or memory where that cannot be opened.

What always holds
    * A file that cannot be opened is left as it is, and the agent works without it.
    * A request for a session of such a file gets its error, not "no such session".
"""

from __future__ import annotations

from pathlib import Path

from accord.errors import StoreError
from accord.store import MemoryStore, Page, SessionLog, SessionRecord, SessionStore
from accord.store.sqlite import SqliteStore, try_store

IN_MEMORY = "This conversation is kept in memory and is lost when the agent exits."


class FallbackStore(MemoryStore):
    """Sessions of this process alone, in place of a store that cannot be opened."""

    def __init__(self, problem: StoreError) -> None:
        super().__init__()
        self.problem = problem

    async def get(self, session_id: str) -> SessionRecord | None:
        """The record of a session of this process.  Raises StoreError for all others."""
        record = await super().get(session_id)
        if record is None:
            raise self.problem
        return record

    async def open(self, session_id: str) -> SessionLog | None:
        """The log of a session of this process.  Raises StoreError for all others."""
        log = await super().open(session_id)
        if log is None:
            raise self.problem
        return log

    async def list(self, cwd: str | None, cursor: str | None, archived: bool | None = None) -> Page:
        """The sessions of this process.  Raises StoreError while there are none of the folder."""
        page = await super().list(cwd, cursor, archived)
        if not page.sessions:
            raise self.problem
        return page


def open_store(path: Path) -> SessionStore:
    """The sessions in a file; a `FallbackStore` where it cannot be opened."""
    try:
        # Try now, so that the user hears of it in the first session, not in the middle of a turn.
        try_store(path)
    except StoreError as problem:
        return FallbackStore(problem)
    return SqliteStore(path)
