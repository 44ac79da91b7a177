"""The sessions of one user of a server, among those of all users in one store.

The owner of a session is kept beside its log.  To everybody else the session does not exist.
"""

from typing import Final

from accord.store.session_store import Page, SessionLog, SessionRecord, SessionStore

OWNER: Final = "accord.owner"


class OwnedSessions:
    """A store in which one user sees their own sessions only."""

    def __init__(self, store: SessionStore, owner: str) -> None:
        self._store = store
        self._owner = owner.encode()

    async def _owns(self, session_id: str) -> bool:
        return await self._store.kept(session_id, OWNER) == self._owner

    async def create(self, record: SessionRecord) -> SessionLog:
        """Keep a new session, and whose it is."""
        log = await self._store.create(record)
        await self._store.keep(record.session_id, OWNER, self._owner)
        return log

    async def get(self, session_id: str) -> SessionRecord | None:
        """The record of an own session."""
        return await self._store.get(session_id) if await self._owns(session_id) else None

    async def open(self, session_id: str) -> SessionLog | None:
        """The log of an own session."""
        return await self._store.open(session_id) if await self._owns(session_id) else None

    async def release(self, session_id: str) -> None:
        """Give back what `create`, `open` or `fork` gave."""
        await self._store.release(session_id)

    async def put(self, record: SessionRecord) -> None:
        """Replace the record of an own session."""
        if await self._owns(record.session_id):
            await self._store.put(record)

    async def list(self, cwd: str | None, cursor: str | None, archived: bool | None = None) -> Page:
        """Own sessions, newest first."""
        while True:
            page = await self._store.list(cwd, cursor, archived)
            own = [one for one in page.sessions if await self._owns(one.session_id)]
            cursor = page.next_cursor
            if own or cursor is None:
                return Page(tuple(own), cursor)

    async def delete(self, session_id: str) -> bool:
        """Forget an own session."""
        return await self._owns(session_id) and await self._store.delete(session_id)

    async def fork(self, session_id: str, record: SessionRecord) -> SessionLog | None:
        """Copy an own session; what is kept beside it, such as its owner, is copied too."""
        if not await self._owns(session_id):
            return None
        return await self._store.fork(session_id, record)

    async def keep(self, session_id: str, name: str, value: bytes) -> None:
        """Keep a value beside the log of an own session."""
        if name != OWNER and await self._owns(session_id):
            await self._store.keep(session_id, name, value)

    async def kept(self, session_id: str, name: str) -> bytes | None:
        """What was kept beside the log of an own session."""
        return await self._store.kept(session_id, name) if await self._owns(session_id) else None
