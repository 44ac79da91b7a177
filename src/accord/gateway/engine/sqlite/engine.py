"""The engine in one SQLite file, which one process uses.

`store/writer_thread.py` does all work in the order of the calls, many calls in one transaction, and
waits for the disk at the end of each: what an operation has returned survives a power cut.  Who
owns a session is checked in the transaction that writes.  How long a node owns its sessions is
known in memory only: the leases of a process end with it.

What always holds
    * Once an operation that writes has begun, cancelling its caller does not interrupt it: the
      caller gets the result, and is cancelled at its next wait.
    * Readers are woken after the commit, in the order of the log.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio
from anyio.abc import TaskStatus
from anyio.lowlevel import checkpoint, checkpoint_if_cancelled

from accord.errors import StoreError
from accord.gateway.engine.interface import (
    LEASE_SECONDS,
    PAGE_EVENTS,
    PAGE_SESSIONS,
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
    LOG_BYTES_MAX,
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
from accord.gateway.engine.node_leases import NodeLeases, random_incarnation
from accord.gateway.engine.sqlite import log_queries, record_queries
from accord.gateway.engine.sqlite.byte_budget import ByteBudget
from accord.gateway.engine.sqlite.gateway_file import GATEWAY_FILE
from accord.gateway.engine.sqlite.process_lock import lock, unlock
from accord.machine import clock
from accord.store.writer_thread import Writer

T = TypeVar("T")

# How far commits of a few events are apart, at least: what comes in between shares the next one.
GROUP_SECONDS = 0.005
PATIENT_EVENTS_MAX = 16

# Events and snapshots that wait for the disk; more of them wait in their callers.
QUEUED_BYTES_MAX = 64 * 1024 * 1024


class SqliteEngine:
    """All sessions of one file.  `now` is the time of day, `lease_clock` never goes back."""

    def __init__(
        self,
        path: str | Path,
        *,
        now: Callable[[], float] = clock.seconds,
        lease_clock: Callable[[], float] = time.monotonic,
        lease_seconds: float = LEASE_SECONDS,
        log_bytes_max: int = LOG_BYTES_MAX,
        queued_bytes_max: int = QUEUED_BYTES_MAX,
    ) -> None:
        self.path = Path(path)
        self._now = now
        self._log_bytes_max = log_bytes_max
        self._writer = Writer(self.path, "FULL", GATEWAY_FILE, group_seconds=GROUP_SECONDS)
        self._budget = ByteBudget(queued_bytes_max)
        self._lock: int | None = None
        self._nodes = NodeLeases(lease_clock, lease_seconds, random_incarnation)
        # The newest lease of each session that was owned since this process began.
        self._owners: dict[str, Lease] = {}
        self._watch = LogWatch(self.log_state)
        self._messages = LocalMessages(self._live_owner)

    @property
    def commits(self) -> int:
        """The number of writing transactions; operations that arrive together share one."""
        return self._writer.commits

    async def __aenter__(self) -> SqliteEngine:
        """Open the file, or create it.

        Raises:
            StoreError: another process uses it, or it is out of reach, damaged, or newer than this
                program.
        """
        self._lock = await anyio.to_thread.run_sync(lock, self.path)
        try:
            # What was deleted last may not have been erased before the process ended.
            await self._erase()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close()

    async def _close(self) -> None:
        """Finish what has begun, and close the file."""
        held, self._lock = self._lock, None
        try:
            await self._writer.aclose()
        finally:
            if held is not None:
                unlock(held)

    # ---- transactions

    def _check_open(self) -> None:
        if self._lock is None:
            raise StoreError("store_closed", f"{self.path} is closed", path=str(self.path))

    async def _read(self, work: Callable[[sqlite3.Connection], T | Exception]) -> T:
        self._check_open()
        return _result(await self._writer.submit(work, reads=True))

    async def _write(
        self,
        work: Callable[[sqlite3.Connection], T | Exception],
        then: Callable[[T], None] | None = None,
        size: int = 0,
        *,
        is_patient: bool = False,
    ) -> T:
        """Do some work in a transaction; `then` follows the commit, whoever waits for it."""

        def follow(outcome: T | Exception) -> None:
            if then is not None and not isinstance(outcome, Exception):
                then(outcome)

        await checkpoint_if_cancelled()
        await self._budget.take(size)
        with self._budget.lent(size):
            self._check_open()
            pending = self._writer.submit(work, then=follow, is_patient=is_patient)
            return _result(await _shielded(pending))

    # ---- the log

    async def append(self, lease: Lease, events: Sequence[NewEvent]) -> int:
        """Store a group of events."""
        size = size_of(events)
        work = partial(
            log_queries.append,
            session=lease.session,
            epoch=lease.epoch,
            events=tuple(events),
            at=self._milliseconds(),
            size=size,
            size_max=self._log_bytes_max,
        )
        announce = partial(self._watch.announce, lease.session)
        is_patient = len(events) <= PATIENT_EVENTS_MAX
        return await self._write(work, announce, size, is_patient=is_patient)

    async def read_after(self, session: str, seq: int, limit: int = PAGE_EVENTS) -> LogPage:
        """Return the events after `seq`."""
        check_page(limit, PAGE_EVENTS_MAX)
        check_seq(seq)
        return await self._read(
            partial(log_queries.read_after, session=session, seq=seq, limit=limit)
        )

    async def wait(self, session: str, seq: int) -> int:
        """Wait for an event after `seq`."""
        check_seq(seq)
        return await self._watch.wait(session, seq)

    async def log_state(self, session: str) -> LogState:
        """Return the extent of a log."""
        return await self._read(partial(log_queries.log_state, session=session))

    async def extend_snapshot(self, lease: Lease, seq: int, data: bytes, bytes_max: int) -> None:
        """Add a part to the snapshot."""
        check_bytes("a part of a snapshot", data, SNAPSHOT_PART_BYTES_MAX)
        work = partial(
            log_queries.extend_snapshot,
            session=lease.session,
            epoch=lease.epoch,
            seq=seq,
            data=data,
            bytes_max=bytes_max,
        )
        await self._write(work, size=len(data))

    async def snapshot_after(self, session: str, seq: int) -> SnapshotPart | None:
        """Return the first part that ends behind an event."""
        check_seq(seq)
        return await self._read(partial(log_queries.snapshot_after, session=session, seq=seq))

    async def trim(self, lease: Lease, seq: int) -> None:
        """Remove the events up to `seq`, in several transactions."""
        work = partial(log_queries.trim, session=lease.session, epoch=lease.epoch, seq=seq)
        while not await self._write(work):
            pass

    # ---- ownership

    async def enter(self, name: str) -> Node:
        """Begin an incarnation of a node."""
        await checkpoint()
        self._check_open()
        return self._nodes.enter(name)

    async def renew(self, node: Node) -> float:
        """Extend the time of a node."""
        await checkpoint()
        return self._nodes.renew(node)

    async def leave(self, node: Node) -> None:
        """End the incarnation of a node."""
        await checkpoint()
        self._nodes.leave(node)

    async def own(self, session: str, node: Node) -> Lease:
        """Make a node the owner of a session."""
        await checkpoint_if_cancelled()
        self._nodes.renew(node)
        work = partial(
            log_queries.own, session=session, node=node, seconds_left=self._nodes.all_seconds_left()
        )
        return await self._write(work, self._note_owner)

    def _note_owner(self, lease: Lease) -> None:
        self._owners[lease.session] = lease

    async def release(self, lease: Lease) -> None:
        """Give a session up."""
        work = partial(log_queries.release, session=lease.session, epoch=lease.epoch)

        def forget(_: None) -> None:
            known = self._owners.get(lease.session)
            if known is not None and known.epoch == lease.epoch:
                del self._owners[lease.session]

        await self._write(work, forget)

    def _live_owner(self, session: str) -> Node | None:
        lease = self._owners.get(session)
        if lease is None or self._nodes.seconds_left(lease.node) <= 0:
            return None
        return lease.node

    async def owner(self, session: str) -> Owner | None:
        """Return the owner of a session."""
        await self.log_state(session)
        lease = self._owners.get(session)
        left = 0.0 if lease is None else self._nodes.seconds_left(lease.node)
        return None if lease is None or left <= 0 else Owner(lease.node.name, lease.epoch, left)

    # ---- records

    async def create(self, record: SessionRecord) -> SessionRecord:
        """Store a new session."""
        check_record(record)
        return await self._write(
            partial(record_queries.create, record=record, at=self._milliseconds())
        )

    async def get(self, session: str) -> SessionRecord | None:
        """Return the record of a session."""
        return await self._read(partial(record_queries.get, session=session))

    async def put(self, record: SessionRecord) -> SessionRecord:
        """Replace the record of a session."""
        check_record(record)
        return await self._write(
            partial(record_queries.put, record=record, at=self._milliseconds())
        )

    async def delete(self, session: str) -> bool:
        """Delete a session; its events are erased in several transactions."""

        def forget(_: bool) -> None:
            self._owners.pop(session, None)
            self._watch.forget(session)

        found = await self._write(partial(record_queries.delete, session=session), forget)
        if found:
            await self._erase()
        return found

    async def _erase(self) -> None:
        while not await self._write(record_queries.erase):
            pass

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
        return await self._read(
            partial(
                record_queries.page, principal=principal, state=state, cursor=cursor, length=limit
            )
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

    def _milliseconds(self) -> int:
        return int(self._now() * 1000)


async def _shielded(pending: Awaitable[T]) -> T:
    with anyio.CancelScope(shield=True):
        return await pending
    raise AssertionError("a scope that was not cancelled has swallowed an exception")


def _result(outcome: T | Exception) -> T:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome
