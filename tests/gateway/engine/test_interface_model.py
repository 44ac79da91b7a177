"""Whatever is done to an engine, it answers as a simple model does."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio.from_thread
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from accord.gateway.engine.engine_errors import (
    Conflict,
    EngineError,
    Fenced,
    Gap,
    LogFull,
    NodeReplaced,
    NoOwner,
    NoSession,
    OwnedElsewhere,
    SessionExists,
)
from accord.gateway.engine.interface import Lease, NewEvent, Node, SessionRecord, SnapshotPart
from accord.gateway.engine.limits import EVENT_OVERHEAD_BYTES
from tests.gateway.engine.worlds import (
    LEASE_SECONDS,
    LOG_BYTES_MAX,
    MemoryWorld,
    SqliteWorld,
    World,
    all_events,
    record,
)

SESSIONS = st.sampled_from(("s", "t"))
NODES = st.sampled_from(("a", "b"))
SNAPSHOT_BYTES_MAX = 10
SIZES = st.lists(st.sampled_from((0, 1, 30_000)), min_size=1, max_size=4)


@dataclass
class Known:
    """What the model knows of a session."""

    record: SessionRecord
    number: int
    lease: Lease | None = None
    epoch: int = 0
    frames: list[tuple[int, bytes]] = field(default_factory=list)
    first: int = 1
    snapshot: list[SnapshotPart] = field(default_factory=list)

    @property
    def snapshot_seq(self) -> int | None:
        return self.snapshot[-1].seq if self.snapshot else None

    @property
    def last(self) -> int:
        return len(self.frames)

    @property
    def size_bytes(self) -> int:
        kept = self.frames[self.first - 1 :]
        return sum(EVENT_OVERHEAD_BYTES + len(frame) for _, frame in kept)


class Model(RuleBasedStateMachine):
    """Does everything to an engine and knows what it must answer."""

    make_world: Callable[[Path], World]

    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp())
        self._context = anyio.from_thread.start_blocking_portal()
        self._portal = self._context.__enter__()
        self._world = self.make_world(self._folder)
        self._sessions: dict[str, Known] = {}
        self._nodes: dict[str, tuple[Node, float]] = {}
        # Every lease and node that there ever was: old ones must not work.
        self._leases: list[Lease] = []
        self._old_nodes: list[Node] = []
        self._epoch = 0
        self._made = 0

    def teardown(self) -> None:
        self._portal.call(self._world.__aexit__)
        self._context.__exit__(None, None, None)
        shutil.rmtree(self._folder)

    def _do(self, method: str, *arguments: Any, **options: Any) -> Any:
        """What the engine answers; a refusal is an answer too."""

        async def ask() -> Any:
            try:
                return await getattr(self._world.engine, method)(*arguments, **options)
            except EngineError as error:
                return error

        return self._portal.call(ask)

    def _refused(self, kind: type[EngineError], method: str, *arguments: Any) -> Any:
        answer = self._do(method, *arguments)
        assert type(answer) is kind, (method, answer)
        return answer

    def _seconds_left(self, node: Node) -> float:
        current, until = self._nodes.get(node.name, (None, 0.0))
        return max(0.0, until - self._world.lease_now) if current == node else 0.0

    def _fencing(self, lease: Lease) -> type[EngineError] | None:
        """Why this lease does not work, if it does not."""
        known = self._sessions.get(lease.session)
        if known is None:
            return NoSession
        return None if known.lease == lease else Fenced

    @initialize()
    def begin(self) -> None:
        self._portal.call(self._world.__aenter__)

    # ---- records

    @rule(session=SESSIONS, principal=NODES, members=st.lists(NODES, max_size=1))
    def create(self, session: str, principal: str, members: list[str]) -> None:
        new = record(session, principal=principal, members=dict.fromkeys(members, "editor"))
        if session in self._sessions:
            self._refused(SessionExists, "create", new)
            return
        self._made += 1
        stored = self._do("create", new)
        assert replace(stored, created_at=0.0, updated_at=0.0, revision=0) == new
        self._sessions[session] = Known(stored, self._made)

    @rule(
        session=SESSIONS, title=st.text(st.characters(codec="utf-8"), max_size=3), old=st.booleans()
    )
    def put(self, session: str, title: str, old: bool) -> None:
        known = self._sessions.get(session)
        if known is None:
            self._refused(NoSession, "put", record(session))
        elif old:
            self._refused(Conflict, "put", replace(known.record, revision=0))
        else:
            stored = self._do("put", replace(known.record, title=title))
            assert stored.revision != known.record.revision
            assert stored.title == title
            known.record = stored

    @rule(session=SESSIONS)
    def delete(self, session: str) -> None:
        assert self._do("delete", session) == (self._sessions.pop(session, None) is not None)

    # ---- ownership

    @rule(name=NODES)
    def enter(self, name: str) -> None:
        node = self._do("enter", name)
        assert node not in self._old_nodes
        self._old_nodes.append(node)
        self._nodes[name] = (node, self._world.lease_now + LEASE_SECONDS)

    @rule(seconds=st.sampled_from((1.0, LEASE_SECONDS)))
    def pass_time(self, seconds: float) -> None:
        self._world.lease_now += seconds
        self._world.now += seconds

    @precondition(lambda self: self._old_nodes)
    @rule(data=st.data(), leaves=st.booleans())
    def renew_or_leave(self, data: st.DataObject, leaves: bool) -> None:
        node = data.draw(st.sampled_from(self._old_nodes))
        current = self._nodes.get(node.name, (None, 0.0))[0] == node
        if leaves:
            self._do("leave", node)
            if current:
                del self._nodes[node.name]
        elif not current:
            self._refused(NodeReplaced, "renew", node)
        else:
            assert self._do("renew", node) == LEASE_SECONDS
            self._nodes[node.name] = (node, self._world.lease_now + LEASE_SECONDS)

    @precondition(lambda self: self._old_nodes)
    @rule(session=SESSIONS, data=st.data())
    def own(self, session: str, data: st.DataObject) -> None:
        node = data.draw(st.sampled_from(self._old_nodes))
        if self._nodes.get(node.name, (None, 0.0))[0] != node:
            self._refused(NodeReplaced, "own", session, node)
            return
        self._nodes[node.name] = (node, self._world.lease_now + LEASE_SECONDS)
        known = self._sessions.get(session)
        if known is None:
            self._refused(NoSession, "own", session, node)
            return
        owner = None if known.lease is None else known.lease.node
        if owner is not None and owner != node and self._seconds_left(owner) > 0:
            error = self._refused(OwnedElsewhere, "own", session, node)
            assert (error.node, error.seconds_left) == (owner.name, self._seconds_left(owner))
            return
        lease = self._do("own", session, node)
        assert lease == Lease(session, node, lease.epoch, known.last)
        assert lease.epoch > self._epoch
        self._epoch = known.epoch = lease.epoch
        known.lease = lease
        self._leases.append(lease)

    @precondition(lambda self: self._leases)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        lease = data.draw(st.sampled_from(self._leases))
        self._do("release", lease)
        known = self._sessions.get(lease.session)
        if known is not None and known.lease == lease:
            known.lease = None

    # ---- the log

    @precondition(lambda self: self._leases)
    @rule(data=st.data(), sizes=SIZES)
    def append(self, data: st.DataObject, sizes: list[int]) -> None:
        frames = [bytes(size) for size in sizes]
        lease = data.draw(st.sampled_from(self._leases[-3:]))
        group = [NewEvent("k", frame) for frame in frames]
        fencing = self._fencing(lease)
        if fencing is not None:
            self._refused(fencing, "append", lease, group)
            return
        known = self._sessions[lease.session]
        size = sum(EVENT_OVERHEAD_BYTES + len(frame) for frame in frames)
        if known.size_bytes + size > LOG_BYTES_MAX:
            self._refused(LogFull, "append", lease, group)
            return
        assert self._do("append", lease, group) == known.last + len(frames)
        known.frames += [(lease.epoch, frame) for frame in frames]

    @precondition(lambda self: self._leases)
    @rule(data=st.data(), trims=st.booleans(), size=st.integers(0, SNAPSHOT_BYTES_MAX + 1))
    def extend_snapshot(self, data: st.DataObject, trims: bool, size: int) -> None:
        lease = data.draw(st.sampled_from(self._leases[-3:]))
        fencing = self._fencing(lease)
        known = self._sessions.get(lease.session)
        first = 1 if known is None else (known.snapshot_seq or 0) + 1
        if fencing is not None:
            self._refused(fencing, "extend_snapshot", lease, first, b"", SNAPSHOT_BYTES_MAX)
            self._refused(fencing, "trim", lease, first)
            return
        assert known is not None
        if first > known.last:
            return
        seq = data.draw(st.integers(first, known.last))
        part = SnapshotPart(first, seq, bytes(size))
        assert self._do("extend_snapshot", lease, seq, part.data, SNAPSHOT_BYTES_MAX) is None
        known.snapshot.append(part)
        while sum(len(one.data) for one in known.snapshot) > SNAPSHOT_BYTES_MAX:
            if len(known.snapshot) == 1:
                break
            known.snapshot.pop(0)
        if trims:
            assert self._do("trim", lease, seq) is None
            known.first = max(known.first, seq + 1)

    @rule(session=SESSIONS, data=st.data())
    def read(self, session: str, data: st.DataObject) -> None:
        known = self._sessions.get(session)
        if known is None:
            self._refused(NoSession, "read_after", session, 0)
            return
        after = data.draw(st.integers(0, known.last + 1))
        if not known.first - 1 <= after <= known.last:
            self._refused(Gap, "read_after", session, after)
        else:
            events = self._portal.call(partial(all_events, self._world.engine, session, after))
            assert [(event.epoch, event.frame) for event in events] == known.frames[after:]
        if after < known.last:
            assert self._do("wait", session, after) == known.last

    @rule()
    def restart(self) -> None:
        """The process ends, and all its nodes with it."""
        self._portal.call(self._world.restart)
        self._nodes.clear()

    # ---- what can be seen at any time

    @invariant()
    def logs_are_known(self) -> None:
        for session in ("s", "t"):
            known = self._sessions.get(session)
            if known is None:
                self._refused(NoSession, "log_state", session)
                continue
            state = (known.first, known.last, known.size_bytes, known.snapshot_seq)
            assert self._do("log_state", session) == state
            parts: list[SnapshotPart] = []
            while part := self._do("snapshot_after", session, parts[-1].seq if parts else 0):
                parts.append(part)
            assert parts == known.snapshot

    @invariant()
    def owners_are_known(self) -> None:
        for session, known in self._sessions.items():
            left = 0.0 if known.lease is None else self._seconds_left(known.lease.node)
            owner = self._do("owner", session)
            if known.lease is None or left <= 0:
                assert owner is None
            else:
                assert owner == (known.lease.node.name, known.lease.epoch, left)
            # Nobody serves.
            self._refused(NoOwner, "send_to_owner", session, b"")

    @invariant()
    def records_are_known(self) -> None:
        newest_first = sorted(self._sessions.values(), key=lambda one: -one.number)
        for name in (None, "a", "b"):
            expected = [
                one.record
                for one in newest_first
                if name in (None, one.record.principal) or name in one.record.members
            ]
            assert list(self._do("records", name).records) == expected


class OverMemory(Model):
    """The engine in memory."""

    make_world = staticmethod(lambda _: MemoryWorld())


class OverSqlite(Model):
    """The engine in a file."""

    make_world = staticmethod(SqliteWorld)


TestOverMemory = OverMemory.TestCase
TestOverMemory.settings = settings(max_examples=60, stateful_step_count=30)
TestOverSqlite = OverSqlite.TestCase
TestOverSqlite.settings = settings(max_examples=25, stateful_step_count=30)
