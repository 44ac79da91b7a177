"""A session as a snapshot and what came after it, so that its log does not grow without end.

When the log has grown enough, its events are compacted, stored as parts of a snapshot, and
removed from the log.  A reader from the beginning gets the events of the snapshot and then those of
the log; so does whoever serves the session by another protocol.

What always holds
    * An event is in the log or in the snapshot, and a reader gets each of them once, in order.
    * A reader that stands between two events that were joined gets an error, never a hole.
    * One part at a time is in memory, however long the session is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

from anyio.abc import TaskGroup

from accord.errors import StoreError
from accord.gateway.engine.engine_errors import EngineError, Gap
from accord.gateway.engine.interface import SnapshotPart
from accord.gateway.sessions.compaction import Compactor
from accord.gateway.sessions.log_events import MARK, REMARK, Event, body_of
from accord.machine.redacted_logs import logger
from accord.schema.codec import encode, to_python

_log = logger("accord.gateway")

LOG_BYTES: Final = 8 * 1024 * 1024
"""How far a log grows before it is compacted."""
LOG_BYTES_MAX: Final = 64 * 1024 * 1024
"""How far it grows while somebody reads nothing; then the reader has to begin again.

Twice as far while somebody reads slowly.
"""
STILL_BYTES: Final = 2 * LOG_BYTES
"""A client that was sent nothing while so much was written does not read."""
PART_LOG_BYTES: Final = 2 * 1024 * 1024
"""How much of a log becomes one part: it is in memory several times while it is compacted."""
PAST_BYTES_MAX: Final = 32 * 1024 * 1024
"""What a snapshot holds; beyond it the oldest parts are dropped, and a remark says so."""
EVENTS_PER_READ: Final = 500

CUT: Final = "The beginning of this conversation is no longer kept."


class PastLog(Protocol):
    """The log, as far as its past is concerned."""

    async def read_after(self, seq: int, limit: int) -> Sequence[Event]:
        """Return the next events behind a number."""
        ...

    async def snapshot_after(self, seq: int) -> SnapshotPart | None:
        """Return the part of the snapshot that comes behind an event."""
        ...

    async def extend_snapshot(self, seq: int, data: bytes, bytes_max: int) -> None:
        """Add what the next events, up to a number, add up to."""
        ...

    async def trim(self, seq: int) -> None:
        """Remove the events up to a number."""
        ...


class PastEvents(NamedTuple):
    """The events that one part of a snapshot consists of; it begins behind the event `start`."""

    start: int
    seq: int
    events: tuple[Event, ...]

    def after(self, session: str, seq: int, limit: int) -> Sequence[Event]:
        """Return the next events behind a number.

        Raises:
            Gap: the number is that of an event which was joined to others.
        """
        if seq == self.start:
            return self.events[:limit]
        if seq == 0:
            # What came before this part was dropped.
            remark = Event(self.start, REMARK, body_of(text=CUT))
            return (remark, *self.events[: limit - 1])
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
        # Once it has grown so far, it is worth looking again what all readers have.
        self._grown_next = 0
        self._is_compacting = False
        # Kept while somebody reads it.
        self._kept: PastEvents | None = None

    def grew(self, size: int, last_seq: int, read_seq: Callable[[int | None], int]) -> None:
        """Take notice of new events in the log.

        `read_seq` is what all readers have by now, or all that were sent something while so much
        was written.
        """
        self._grown += size
        if self._grown <= max(LOG_BYTES, self._grown_next) or self._is_compacting:
            return
        self._grown_next = self._grown + LOG_BYTES // 8
        still_bytes = None if self._grown <= LOG_BYTES_MAX else STILL_BYTES
        must = self._grown > 2 * LOG_BYTES_MAX

        def until() -> int:
            # Somebody may come while the log is compacted.
            return last_seq if must else min(last_seq, read_seq(still_bytes))

        if until() > self.seq:
            self._is_compacting = True
            self._tasks.start_soon(self._compact, until, name="compaction")

    async def read_after(self, seq: int, limit: int) -> Sequence[Event]:
        """Return events behind a number that the snapshot has.

        Raises:
            Gap: see `PastEvents.after`.
        """
        kept = self._kept
        if kept is None or not (kept.start <= seq < kept.seq):
            stored = await self._log.snapshot_after(seq)
            if stored is None:
                raise Gap(self._session, seq, self.seq + 1, self.seq)
            kept = self._kept = _read(stored)
        found = kept.after(self._session, seq, limit)
        if found[-1] is kept.events[-1]:
            # The next reader loads it again: it may be large.
            self._kept = None
        return found

    async def _compact(self, until: Callable[[], int]) -> None:
        try:
            while self.seq < until():
                await self._compact_some(until)
        except (EngineError, StoreError, ValueError) as error:
            _log.error("the log of session %s was not compacted: %s", self._session, error)
        finally:
            self._is_compacting = False
            self._grown_next = self._grown + LOG_BYTES // 8

    async def _compact_some(self, until: Callable[[], int]) -> None:
        """Move the next events from the log to the snapshot."""
        compactor = Compactor()
        events: list[Event] = []
        seq, size = self.seq, 0
        while seq < (end := until()) and size < PART_LOG_BYTES:
            page = await self._log.read_after(seq, min(EVENTS_PER_READ, end - seq))
            seq = page[-1].seq
            size += sum(len(one.body) for one in page)
            events += compactor.take(page)
        events += compactor.rest()
        if until() < seq:
            # Somebody reads these events now, and would stand in the middle of the part.
            return
        if not events or events[-1].seq < seq:
            events.append(Event(seq, MARK, b"{}"))
        await self._log.extend_snapshot(seq, _written(events), PAST_BYTES_MAX)
        # Before the events are gone: a reader goes to the snapshot then.
        self.seq = seq
        await self._log.trim(seq)
        self._grown = max(self._grown - size, 0)


def _written(events: Sequence[Event]) -> bytes:
    return encode([[one.seq, one.kind, one.body.decode()] for one in events])


def _read(stored: SnapshotPart) -> PastEvents:
    rows: list[Any] = to_python(stored.data)
    events = tuple(Event(seq, kind, body.encode()) for seq, kind, body in rows)
    return PastEvents(stored.first - 1, stored.seq, events)
