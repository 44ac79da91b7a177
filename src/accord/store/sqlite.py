"""Stores sessions in one SQLite file that several processes can share.

`writer_thread.py` explains when a write is durable, `owner_process.py` who owns a session, and
`migrations.py` what is in the file.

What always holds
    * An awaited `append` is in the file, however the process ends.
    * A session is written by one store object at a time.
    * No file is touched before the first session is requested.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

from accord.errors import StoreError
from accord.machine import clock
from accord.schema import v2
from accord.schema.codec import Invalid, encode, reading
from accord.store import queries
from accord.store.chunk_merge import Coalescer
from accord.store.database_file import Synchronous, close_unchanged, open_file
from accord.store.owner_process import Owner, is_alive, this_process
from accord.store.session_store import PAGE_SESSIONS, Page, SessionLog, SessionRecord, check_kept
from accord.store.store_errors import explained, session_damaged
from accord.store.writer_thread import Writer

# How many updates are read at a time: enough to be fast, and few enough not to block writers.
SLICE_UPDATES = 2000


@cache
def update_reader() -> Callable[[bytes], Any]:
    # Created with the first replay: a decoder of all updates takes some milliseconds.
    return reading(cast("Any", v2.SessionUpdate))


class SqliteLog:
    """The log of one session."""

    __slots__ = ("_number", "_owner", "_session_id", "_writer")

    def __init__(self, writer: Writer, owner: Owner, session_id: str, number: int) -> None:
        self._writer = writer
        self._owner = owner
        self._session_id = session_id
        self._number = number

    def append(self, update: Any) -> Awaitable[None]:
        """Add one update; it is committed once this has been awaited.

        Raises (when awaited):
            StoreError: it could not be written, and is not in the log.
        """
        at, data = int(clock.seconds() * 1000), encode(update)
        return self._writer.submit(
            partial(queries.append, number=self._number, owner=self._owner, at=at, data=data)
        )

    async def replay(self) -> AsyncIterator[Any]:
        """Yield the updates that existed when the replay began, with runs of chunks merged."""
        coalescer = Coalescer()
        after, last = 0, await self._writer.submit(self._last, reads=True)
        while after < last:
            part = partial(self._slice, after, last, coalescer)
            after, updates = await self._writer.submit(part, reads=True)
            for update in updates:
                yield update
        for update in coalescer.rest():
            yield update

    def _last(self, db: sqlite3.Connection) -> int:
        query = "SELECT coalesce(max(seq), 0) FROM events WHERE session = ?"
        return int(db.execute(query, (self._number,)).fetchone()[0])

    def _slice(
        self, after: int, last: int, coalescer: Coalescer, db: sqlite3.Connection
    ) -> tuple[int, list[Any]]:
        query = (
            "SELECT seq, data FROM events WHERE session = ? AND seq > ? AND seq <= ?"
            " ORDER BY seq LIMIT ?"
        )
        try:
            rows = db.execute(query, (self._number, after, last, SLICE_UPDATES)).fetchall()
            read = update_reader()
            updates = coalescer.take([read(data) for _, data in rows])
        except (Invalid, TypeError, ValueError) as error:
            raise session_damaged(self._session_id, str(error)) from None
        return (rows[-1][0] if rows else last), updates


def try_store(path: Path) -> None:
    """Open or create a store, and check that a session could be added.

    Raises:
        StoreError: it cannot be used; the message says why, and what to do.
    """
    connection = open_file(path, "NORMAL")
    nobody = Owner("", 0, 0, "")
    try:
        connection.execute("BEGIN IMMEDIATE")
        number = queries.insert(connection, SessionRecord(os.urandom(16).hex(), "/"), nobody)
        queries.append(connection, number, nobody, 0, b"{}")
    except StoreError:
        close_unchanged(connection, path)
        raise
    except (sqlite3.Error, UnicodeError, OSError) as error:
        close_unchanged(connection, path)
        raise explained(error, path) from None
    else:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        connection.close()


class SqliteStore:
    """All sessions of one file."""

    def __init__(
        self,
        path: str | Path,
        *,
        page_sessions: int = PAGE_SESSIONS,
        synchronous: Synchronous = "NORMAL",
    ) -> None:
        self.path = Path(path)
        self._page_sessions = page_sessions
        self._writer = Writer(self.path, synchronous)
        self._owner = this_process()
        # How often each session is open here; the last `release` gives it back.
        self._holders: dict[str, int] = {}

    @property
    def commits(self) -> int:
        """The number of writing transactions so far; updates that arrive together share one."""
        return self._writer.commits

    async def create(self, record: SessionRecord) -> SessionLog:
        """Store a new session and open its log."""

        def work(db: sqlite3.Connection) -> int:
            queries.sweep(db, self._owner)
            return queries.insert(db, record, self._owner)

        return self._opened(record.session_id, await self._writer.submit(work))

    def _opened(self, session_id: str, number: int) -> SqliteLog:
        self._holders[session_id] = self._holders.get(session_id, 0) + 1
        return SqliteLog(self._writer, self._owner, session_id, number)

    async def get(self, session_id: str) -> SessionRecord | None:
        """Return the record, if there is one."""

        def work(db: sqlite3.Connection) -> SessionRecord | None:
            row = queries.find(db, session_id)
            return None if row is None else row.record()

        return await self._writer.submit(work, reads=True)

    async def _find(self, session_id: str) -> queries.Row | None:
        return await self._writer.submit(partial(queries.find, session_id=session_id), reads=True)

    async def open(self, session_id: str) -> SessionLog | None:
        """Return the log, if there is one; the session is ours until it is released."""
        number = await self._writer.submit(
            partial(queries.take, session_id=session_id, owner=self._owner)
        )
        return None if number is None else self._opened(session_id, number)

    async def release(self, session_id: str) -> None:
        """Give up a session after its last user here has released it."""
        left = self._holders.get(session_id, 0) - 1
        if left > 0:
            self._holders[session_id] = left
            return
        if self._holders.pop(session_id, None) is not None:
            await self._give_back(session_id)

    async def put(self, record: SessionRecord) -> None:
        """Replace the record of a known session."""
        await self._writer.submit(partial(queries.update, record=record, owner=self._owner))

    async def list(self, cwd: str | None, cursor: str | None, archived: bool | None = None) -> Page:
        """List one page, newest first; added or deleted sessions do not shift it."""
        return await self._writer.submit(
            partial(
                queries.page, cwd=cwd, cursor=cursor, archived=archived, length=self._page_sessions
            ),
            reads=True,
        )

    async def delete(self, session_id: str) -> bool:
        """Delete a session; raises StoreError while another process has it open."""
        gone = await self._writer.submit(
            partial(queries.delete, session_id=session_id, owner=self._owner)
        )
        self._holders.pop(session_id, None)
        return gone

    async def fork(self, session_id: str, record: SessionRecord) -> SessionLog | None:
        """Copy log and values to a new record; the source may be open anywhere."""
        number = await self._writer.submit(
            partial(queries.copy, session_id=session_id, record=record, owner=self._owner)
        )
        return None if number < 0 else self._opened(record.session_id, number)

    async def keep(self, session_id: str, name: str, value: bytes) -> None:
        """Store a value with a known session."""
        check_kept(name, value)

        def work(db: sqlite3.Connection) -> None:
            row = queries.find_free(db, session_id, self._owner)
            if row is not None:
                values = (row.number, name, value)
                db.execute("INSERT OR REPLACE INTO kept VALUES (?,?,?)", values)

        await self._writer.submit(work)

    async def kept(self, session_id: str, name: str) -> bytes | None:
        """Return the value of this name."""
        query = "SELECT value FROM kept JOIN sessions ON session = number WHERE id = ? AND name = ?"

        def work(db: sqlite3.Connection) -> bytes | None:
            try:
                row = db.execute(query, (session_id, name)).fetchone()
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError as error:
                # The damage is in this value; other sessions are not affected.
                raise session_damaged(session_id, str(error)) from None
            if row is not None and not isinstance(row[0], bytes):
                raise session_damaged(session_id, f"{name!r} is not bytes")
            return None if row is None else row[0]

        return await self._writer.submit(work, reads=True)

    # ---- only for a store on disk

    async def read(self, session_id: str) -> SessionLog | None:
        """Return the log of a session for reading; the session may be open elsewhere."""
        row = await self._find(session_id)
        if row is None:
            return None
        await self._writer.submit(partial(queries.check_log, row=row), reads=True)
        nobody = Owner("", 0, 0, "")
        return SqliteLog(self._writer, nobody, session_id, row.number)

    async def holder(self, session_id: str) -> Owner | None:
        """Return the running process that has a session open, if any."""
        row = await self._find(session_id)
        owner = None if row is None else row.owner
        alive = row is not None and owner is not None and is_alive(owner, row.updated_at)
        return owner if alive else None

    async def prune(self, before: datetime, *, keep: int = 0) -> Sequence[str]:
        """Delete sessions last used before then, except for the `keep` newest; return their ids.

        Open sessions are kept.  Loading a deleted one raises an error that says so.
        """
        text = before.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return await self._writer.submit(
            partial(queries.prune, before=text, owner=self._owner, keep=keep)
        )

    async def aclose(self) -> None:
        """Give all sessions back and close the file."""
        held, self._holders = tuple(self._holders), {}
        try:
            for session_id in held:
                await self._give_back(session_id)
        finally:
            await self._writer.aclose()

    async def _give_back(self, session_id: str) -> None:
        try:
            await self._writer.submit(
                partial(queries.give_back, session_id=session_id, owner=self._owner)
            )
        except StoreError as error:
            # A damaged file is not written to; the session becomes free when this process ends.
            if error.reason != "store_damaged":
                raise


__all__ = ["SqliteLog", "SqliteStore", "StoreError", "try_store"]
