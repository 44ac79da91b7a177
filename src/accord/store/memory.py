"""Stores sessions in memory, within a bound; they are lost when the process exits."""

from collections.abc import AsyncIterator
from typing import Any

from accord.store.session_store import (
    PAGE_SESSIONS,
    BadCursor,
    Page,
    SessionLog,
    SessionRecord,
    check_kept,
)

# The oldest updates of a very long session are dropped, so that it cannot fill the memory.
LOG_UPDATES_MAX = 200_000


class MemoryLog:
    """The log of one session as a list."""

    __slots__ = ("_updates",)

    def __init__(self, updates: list[Any] | None = None) -> None:
        self._updates: list[Any] = updates if updates is not None else []

    def append(self, update: Any) -> None:
        """Add one update; over the bound the older half is dropped at once, which is cheap."""
        self._updates.append(update)
        if len(self._updates) > LOG_UPDATES_MAX:
            del self._updates[: LOG_UPDATES_MAX // 2]

    async def replay(self) -> AsyncIterator[Any]:
        """Yield the updates that existed when the replay began."""
        for update in tuple(self._updates):
            yield update

    def copy(self) -> "MemoryLog":
        """Return an independent log with the same updates."""
        return MemoryLog(list(self._updates))


class MemoryStore:
    """All sessions of one process.  Guards: a record and its log come and go together."""

    def __init__(self, *, page_sessions: int = PAGE_SESSIONS) -> None:
        self._page_sessions = page_sessions
        self._records: dict[str, SessionRecord] = {}
        self._logs: dict[str, MemoryLog] = {}
        self._kept: dict[str, dict[str, bytes]] = {}
        # Numbers in the order of creation, so that a cursor outlives the session it points to.
        self._numbers: dict[str, int] = {}
        self._made = 0

    def _keep(self, record: SessionRecord, log: MemoryLog) -> SessionLog:
        self._made += 1
        self._numbers[record.session_id] = self._made
        self._records[record.session_id] = record
        self._logs[record.session_id] = log
        self._kept[record.session_id] = {}
        return log

    async def create(self, record: SessionRecord) -> SessionLog:
        """Store a new session."""
        return self._keep(record, MemoryLog())

    async def get(self, session_id: str) -> SessionRecord | None:
        """Return the record, if there is one."""
        return self._records.get(session_id)

    async def open(self, session_id: str) -> SessionLog | None:
        """Return the log, if there is one."""
        return self._logs.get(session_id)

    async def release(self, session_id: str) -> None:
        """Do nothing: no other process can open the session."""

    async def put(self, record: SessionRecord) -> None:
        """Replace a known record."""
        if record.session_id in self._records:
            self._records[record.session_id] = record

    async def list(self, cwd: str | None, cursor: str | None, archived: bool | None = None) -> Page:
        """List newest first; a cursor is the number below which the next page starts."""
        below = self._made + 1 if cursor is None else self._number_in(cursor)
        ids = [
            key
            for key, record in self._records.items()
            if cwd in (None, record.cwd)
            and archived in (None, record.archived)
            and self._numbers[key] < below
        ]
        ids.reverse()
        page = ids[: self._page_sessions]
        more = len(ids) > len(page)
        return Page(
            tuple(self._records[key] for key in page),
            f"below:{self._numbers[page[-1]]}" if more else None,
        )

    def _number_in(self, cursor: str) -> int:
        number = cursor.removeprefix("below:")
        known = number != cursor and number.isascii() and number.isdigit() and len(number) < 20
        if not known or int(number) > self._made:
            raise BadCursor(cursor)
        return int(number)

    async def delete(self, session_id: str) -> bool:
        self._logs.pop(session_id, None)
        self._kept.pop(session_id, None)
        self._numbers.pop(session_id, None)
        return self._records.pop(session_id, None) is not None

    async def fork(self, session_id: str, record: SessionRecord) -> SessionLog | None:
        """Copy a log to a new record."""
        source = self._logs.get(session_id)
        if source is None:
            return None
        copied = dict(self._kept[session_id])
        log = self._keep(record, source.copy())
        self._kept[record.session_id] = copied
        return log

    async def keep(self, session_id: str, name: str, value: bytes) -> None:
        """Store a value with a known session."""
        check_kept(name, value)
        if session_id in self._kept:
            self._kept[session_id][name] = value

    async def kept(self, session_id: str, name: str) -> bytes | None:
        """Return the value of this name."""
        return self._kept.get(session_id, {}).get(name)
