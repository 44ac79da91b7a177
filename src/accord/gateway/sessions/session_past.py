"""A session as a snapshot and what came after it, so that its log does not grow without end.

When the log has grown enough, its events are compacted, stored as a snapshot, and removed from the
log.  A reader from the beginning gets the events of the snapshot and then those of the log; so does
whoever serves the session by another protocol.

What always holds
    * An event is in the log or in the snapshot, and a reader gets each of them once, in order.
    * A reader that stands between two events that were joined gets an error, never a hole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from anyio.abc import TaskGroup

from accord.errors import StoreError
from accord.gateway.engine.engine_errors import EngineError, Gap
from accord.gateway.engine.interface import Snapshot
from accord.gateway.sessions.compaction import Compactor
from accord.gateway.sessions.log_events import MARK, REMARK, Event, body_of
from accord.machine.redacted_logs import logger
from accord.schema.codec import encode, to_python

_log = logger("accord.gateway")

LOG_BYTES: Final = 8 * 1024 * 1024
"""How far a log grows before it is compacted."""
LOG_BYTES_MAX: Final = 64 * 1024 * 1024
"""How far it grows while somebody reads slowly; then the reader has to begin again."""
PAST_BYTES_MAX: Final = 32 * 1024 * 1024
"""What a snapshot holds; beyond it the oldest half is dropped, and a remark says so."""
EVENTS_PER_READ: Final = 500

CUT: Final = "The beginning of this conversation is no longer kept."


class PastLog(Protocol):
    """The log, as far as its past is concerned."""

    async def read_after(self, seq: int, limit: int) -> Sequence[Event]:
        """Return the next events behind a number."""
        ...

    async def snapshot(self) -> Snapshot | None:
        """Return the newest snapshot."""
        ...

    async def keep(self, seq: int, data: bytes) -> None:
        """Store a snapshot of the events up to a number."""
        ...

    async def trim(self, seq: int) -> None:
        """Remove the events up to a number."""
        ...


@dataclass(frozen=True)
class SessionSnapshot:
    """What a session adds up to after the event `seq`, as the events that show it."""

    seq: int
    events: tuple[Event, ...]

    def after(self, session: str, seq: int, limit: int) -> Sequence[Event]:
        """Return the next events behind a number.

        Raises:
            Gap: the number is that of an event which was joined to others.
        """
        if seq == 0:
            return self.events[:limit]
        for at, event in enumerate(self.events):
            if event.seq == seq:
                return self.events[at + 1 : at + 1 + limit]
            if event.seq > seq:
                break
        raise Gap(session, seq, self.seq + 1, self.seq)


class SessionPast:
    """Guards: `seq` is the last event of the snapshot, 0 if there is none."""

    def __init__(
        self, session: str, log: PastLog, tasks: TaskGroup, *, seq: int, grown: int
    ) -> None:
        """`grown` is the size of the log behind the snapshot."""
        self.seq = seq
        self._session = session
        self._log = log
        self._tasks = tasks
        self._grown = grown
        self._is_compacting = False
        # Kept while somebody reads it.
        self._kept: SessionSnapshot | None = None

    def grew(self, size: int, last_seq: int, read_seq: Callable[[], int]) -> None:
        """Take notice of new events in the log; `read_seq` is what all readers have by now."""
        self._grown += size
        if self._grown <= LOG_BYTES or self._is_compacting:
            return
        until = last_seq if self._grown > LOG_BYTES_MAX else read_seq()
        if until > self.seq:
            self._is_compacting = True
            self._tasks.start_soon(self._compact, until, name="compaction")

    async def read_after(self, seq: int, limit: int) -> Sequence[Event]:
        """Return events behind a number that the snapshot has.

        Raises:
            Gap: see `SessionSnapshot.after`.
        """
        if self._kept is None or self._kept.seq != self.seq:
            self._kept = await self._stored()
        found = self._kept.after(self._session, seq, limit)
        if not found or found[-1] is self._kept.events[-1]:
            # The next reader loads it again: it may be large.
            self._kept = None
        return found

    async def snapshot(self, last_seq: int) -> SessionSnapshot:
        """Return what the events up to a number add up to."""
        made, _ = await self._made(last_seq)
        return made

    async def _made(self, last_seq: int) -> tuple[SessionSnapshot, int]:
        """Return a snapshot, and how many bytes of the log it stands for."""
        stored = await self._stored()
        size = 0
        compactor = Compactor()
        events = [*stored.events]
        seq = stored.seq
        while seq < last_seq:
            page = [
                one
                for one in await self._log.read_after(seq, EVENTS_PER_READ)
                if one.seq <= last_seq
            ]
            if not page:
                break
            seq = page[-1].seq
            size += sum(len(one.body) for one in page)
            events += compactor.take(page)
        events += compactor.rest()
        if not events or events[-1].seq < last_seq:
            events.append(Event(last_seq, MARK, b"{}"))
        return SessionSnapshot(last_seq, tuple(events)), size

    async def _stored(self) -> SessionSnapshot:
        stored = await self._log.snapshot()
        return SessionSnapshot(0, ()) if stored is None else _read(stored)

    async def _compact(self, last_seq: int) -> None:
        try:
            made, size = await self._made(last_seq)
            await self._log.keep(last_seq, _written(_cut(made)))
            # Before the events are gone: a reader goes to the snapshot then.
            self.seq = last_seq
            await self._log.trim(last_seq)
            self._grown = max(self._grown - size, 0)
        except (EngineError, StoreError, ValueError) as error:
            _log.error("the log of session %s was not compacted: %s", self._session, error)
        finally:
            self._is_compacting = False


def _cut(snapshot: SessionSnapshot) -> SessionSnapshot:
    """Drop the oldest events of a snapshot that is too large."""
    size = sum(len(event.body) for event in snapshot.events)
    if size <= PAST_BYTES_MAX:
        return snapshot
    at = 0
    while size > PAST_BYTES_MAX // 2 and at < len(snapshot.events) - 1:
        size -= len(snapshot.events[at].body)
        at += 1
    remark = Event(snapshot.events[at - 1].seq, REMARK, body_of(text=CUT))
    return SessionSnapshot(snapshot.seq, (remark, *snapshot.events[at:]))


def _written(snapshot: SessionSnapshot) -> bytes:
    return encode([[one.seq, one.kind, one.body.decode()] for one in snapshot.events])


def _read(stored: Snapshot) -> SessionSnapshot:
    rows: list[Any] = to_python(stored.data)
    events = tuple(Event(seq, kind, body.encode()) for seq, kind, body in rows)
    return SessionSnapshot(stored.seq, events)
