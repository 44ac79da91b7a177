"""An engine in memory, without threads, for simulations and tests.

What a disk would hold is a `MemoryDisk`: a new engine over the same one is a process that was
started again.  The logs are bounded; the number of sessions is not.

`pause` is awaited before each operation takes effect, and after an append has: a simulation delays
and reorders operations there, and cancels them on their way and on their way back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import anyio
from anyio.abc import TaskStatus
from anyio.lowlevel import checkpoint

from accord.gateway.engine.engine_errors import (
    Conflict,
    Fenced,
    Gap,
    LogFull,
    NoSession,
    OwnedElsewhere,
    SessionExists,
)
from accord.gateway.engine.interface import (
    LEASE_SECONDS,
    PAGE_EVENTS,
    PAGE_SESSIONS,
    Event,
    Handler,
    Lease,
    LogPage,
    LogState,
    NewEvent,
    Node,
    Owner,
    RecordPage,
    SessionRecord,
    SnapshotPart,
)
from accord.gateway.engine.limits import (
    EVENT_OVERHEAD_BYTES,
    LOG_BYTES_MAX,
    PAGE_BYTES_MAX,
    PAGE_EVENTS_MAX,
    PAGE_SESSIONS_MAX,
    SNAPSHOT_PART_BYTES_MAX,
    check_bytes,
    check_page,
    check_record,
    check_seq,
    size_of,
)
from accord.gateway.engine.local_messages import LocalMessages
from accord.gateway.engine.log_watch import LogWatch
from accord.gateway.engine.node_leases import NodeLeases
from accord.machine import clock
from accord.store.queries import below as number_in

T = TypeVar("T")


@dataclass(slots=True)
class _Session:
    number: int
    record: SessionRecord
    epoch: int = 0
    owner: Node | None = None
    first: int = 1
    events: list[Event] = field(default_factory=list)
    size_bytes: int = 0
    snapshot: list[SnapshotPart] = field(default_factory=list)

    @property
    def snapshot_seq(self) -> int | None:
        return self.snapshot[-1].seq if self.snapshot else None

    @property
    def last(self) -> int:
        return self.first + len(self.events) - 1


@dataclass(slots=True)
class MemoryDisk:
    """What outlives an engine."""

    sessions: dict[str, _Session] = field(default_factory=dict)
    made: int = 0
    epoch: int = 0
    incarnations: int = 0


class MemoryEngine:
    """All sessions of one `MemoryDisk`, which one engine uses at a time.

    `now` is the time of day; `lease_clock` never goes back.
    """

    def __init__(
        self,
        disk: MemoryDisk | None = None,
        *,
        now: Callable[[], float] = clock.seconds,
        lease_clock: Callable[[], float] = anyio.current_time,
        lease_seconds: float = LEASE_SECONDS,
        log_bytes_max: int = LOG_BYTES_MAX,
        pause: Callable[[], Awaitable[None]] = checkpoint,
    ) -> None:
        self._disk = MemoryDisk() if disk is None else disk
        self._now = now
        self._log_bytes_max = log_bytes_max
        self._pause = pause
        self._nodes = NodeLeases(lease_clock, lease_seconds, self._incarnation)
        self._watch = LogWatch(self.log_state)
        self._messages = LocalMessages(self._live_owner)

    def _incarnation(self) -> str:
        self._disk.incarnations += 1
        return str(self._disk.incarnations)

    async def __aenter__(self) -> MemoryEngine:
        return self

    async def __aexit__(self, *_: object) -> None:
        await checkpoint()

    def _session(self, session: str) -> _Session:
        found = self._disk.sessions.get(session)
        if found is None:
            raise NoSession(session)
        return found

    def _owned(self, lease: Lease) -> _Session:
        found = self._session(lease.session)
        if found.epoch != lease.epoch or found.owner is None:
            raise Fenced(lease.session, lease.epoch, found.epoch)
        return found

    # ---- the log

    async def append(self, lease: Lease, events: Sequence[NewEvent]) -> int:
        """Store a group of events."""
        size = size_of(events)
        await self._pause()
        log = self._owned(lease)
        if log.size_bytes + size > self._log_bytes_max:
            raise LogFull(lease.session, log.size_bytes, self._log_bytes_max)
        at = int(self._now() * 1000) / 1000
        log.events += [
            Event(seq, lease.epoch, *event, at) for seq, event in enumerate(events, log.last + 1)
        ]
        log.size_bytes += size
        last = log.last
        self._watch.announce(lease.session, last)
        await self._pause()
        return last

    async def read_after(self, session: str, seq: int, limit: int = PAGE_EVENTS) -> LogPage:
        """Return the events after `seq`."""
        check_page(limit, PAGE_EVENTS_MAX)
        check_seq(seq)
        await self._pause()
        log = self._session(session)
        if not log.first - 1 <= seq <= log.last:
            raise Gap(session, seq, log.first, log.last)
        start = seq + 1 - log.first
        found: list[Event] = []
        size = 0
        for event in log.events[start : start + limit]:
            found.append(event)
            size += len(event.frame)
            if size >= PAGE_BYTES_MAX:
                break
        return LogPage(tuple(found), log.first, log.last)

    async def wait(self, session: str, seq: int) -> int:
        """Wait for an event after `seq`."""
        check_seq(seq)
        return await self._watch.wait(session, seq)

    async def log_state(self, session: str) -> LogState:
        """Return the extent of a log."""
        await self._pause()
        log = self._session(session)
        return LogState(log.first, log.last, log.size_bytes, log.snapshot_seq)

    async def extend_snapshot(self, lease: Lease, seq: int, data: bytes, bytes_max: int) -> None:
        """Add a part to the snapshot."""
        check_bytes("a part of a snapshot", data, SNAPSHOT_PART_BYTES_MAX)
        await self._pause()
        log = self._owned(lease)
        first = (log.snapshot_seq or 0) + 1
        if not first <= seq <= log.last:
            raise ValueError(f"a snapshot goes on with event {first} to {log.last}, not {seq}")
        log.snapshot.append(SnapshotPart(first, seq, data))
        while len(log.snapshot) > 1 and sum(len(one.data) for one in log.snapshot) > bytes_max:
            del log.snapshot[0]

    async def snapshot_after(self, session: str, seq: int) -> SnapshotPart | None:
        """Return the first part that ends behind an event."""
        check_seq(seq)
        await self._pause()
        return next((one for one in self._session(session).snapshot if one.seq > seq), None)

    async def trim(self, lease: Lease, seq: int) -> None:
        """Remove the events up to `seq`."""
        await self._pause()
        log = self._owned(lease)
        if log.snapshot_seq is None or log.snapshot_seq < seq:
            raise ValueError(f"no snapshot covers event {seq}")
        count = max(0, seq + 1 - log.first)
        gone, log.events = log.events[:count], log.events[count:]
        log.first += count
        log.size_bytes -= sum(EVENT_OVERHEAD_BYTES + len(event.frame) for event in gone)

    # ---- ownership

    async def enter(self, name: str) -> Node:
        """Begin an incarnation of a node."""
        await self._pause()
        return self._nodes.enter(name)

    async def renew(self, node: Node) -> float:
        """Extend the time of a node."""
        await self._pause()
        return self._nodes.renew(node)

    async def leave(self, node: Node) -> None:
        """End the incarnation of a node."""
        await self._pause()
        self._nodes.leave(node)

    async def own(self, session: str, node: Node) -> Lease:
        """Make a node the owner of a session."""
        await self._pause()
        self._nodes.renew(node)
        log = self._session(session)
        if log.owner is not None and log.owner != node:
            left = self._nodes.seconds_left(log.owner)
            if left > 0:
                raise OwnedElsewhere(session, log.owner.name, left)
        self._disk.epoch += 1
        log.epoch, log.owner = self._disk.epoch, node
        return Lease(session, node, log.epoch, log.last)

    async def release(self, lease: Lease) -> None:
        """Give a session up."""
        await self._pause()
        log = self._disk.sessions.get(lease.session)
        if log is not None and log.epoch == lease.epoch:
            log.owner = None

    def _live_owner(self, session: str) -> Node | None:
        log = self._disk.sessions.get(session)
        if log is None or log.owner is None or self._nodes.seconds_left(log.owner) <= 0:
            return None
        return log.owner

    async def owner(self, session: str) -> Owner | None:
        """Return the owner of a session."""
        await self._pause()
        epoch = self._session(session).epoch
        node = self._live_owner(session)
        return None if node is None else Owner(node.name, epoch, self._nodes.seconds_left(node))

    # ---- records

    async def create(self, record: SessionRecord) -> SessionRecord:
        """Store a new session."""
        check_record(record)
        await self._pause()
        if record.session in self._disk.sessions:
            raise SessionExists(record.session)
        self._disk.made += 1
        at = int(self._now() * 1000) / 1000
        stored = replace(
            record, members=dict(record.members), created_at=at, updated_at=at, revision=1
        )
        self._disk.sessions[record.session] = _Session(self._disk.made, stored)
        return stored

    async def get(self, session: str) -> SessionRecord | None:
        """Return the record of a session."""
        await self._pause()
        found = self._disk.sessions.get(session)
        return None if found is None else found.record

    async def put(self, record: SessionRecord) -> SessionRecord:
        """Replace the record of a session."""
        check_record(record)
        await self._pause()
        found = self._session(record.session)
        if found.record.revision != record.revision:
            raise Conflict(record.session, found.record.revision)
        found.record = replace(
            record,
            members=dict(record.members),
            created_at=found.record.created_at,
            updated_at=int(self._now() * 1000) / 1000,
            revision=record.revision + 1,
        )
        return found.record

    async def delete(self, session: str) -> bool:
        """Delete a session with all it has."""
        await self._pause()
        found = self._disk.sessions.pop(session, None)
        self._watch.forget(session)
        return found is not None

    async def records(
        self,
        principal: str | None = None,
        *,
        state: str | None = None,
        cursor: str | None = None,
        limit: int = PAGE_SESSIONS,
    ) -> RecordPage:
        """List sessions, newest first."""
        check_page(limit, PAGE_SESSIONS_MAX)
        await self._pause()
        below = self._disk.made + 1 if cursor is None else number_in(cursor, self._disk.made)
        found = [
            one
            for one in self._disk.sessions.values()
            if one.number < below
            and state in (None, one.record.state)
            and (principal in (None, one.record.principal) or principal in one.record.members)
        ]
        page = found[: -limit - 1 : -1]
        more = len(found) > len(page)
        return RecordPage(
            tuple(one.record for one in page), f"below:{page[-1].number}" if more else None
        )

    # ---- routing

    async def serve(
        self,
        node: Node,
        handler: Handler,
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Answer messages to the sessions of a node."""
        await self._messages.serve(node, handler, task_status)

    async def send_to_owner(self, session: str, message: bytes) -> bytes:
        """Send a message to the owner of a session."""
        return await self._messages.send(session, message)
