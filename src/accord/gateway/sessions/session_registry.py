"""The sessions of a gateway: in memory while somebody needs them, in the engine always.

What always holds
    * A session that is in memory is owned by this node, and only its owner writes its log.
    * A session whose process ended, or whose gateway was killed, is found again by its id.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

import anyio

from accord.errors import StoreError
from accord.gateway.access.principal import Principal
from accord.gateway.agents.agent_process import Version
from accord.gateway.engine.engine_errors import EngineError, SessionExists
from accord.gateway.engine.interface import (
    Engine,
    Lease,
    NewEvent,
    Node,
    SessionRecord,
    SnapshotPart,
)
from accord.gateway.sessions.hosted_session import Host, HostedSession
from accord.gateway.sessions.log_events import Event, last_turn
from accord.gateway.sessions.people.invites import has_invite
from accord.gateway.sessions.session_facts import SessionFacts, role_in
from accord.machine.redacted_logs import logger
from accord.protocol.negotiation import NUMBERS
from accord.schema.codec import encode, to_python

_log = logger("accord.gateway")

# By the number in a stored record.
_VERSIONS: Final[dict[int, Version]] = {1: "v1", 2: "v2"}

KEPT: Final = ("opened_with", "opened", "initialize", "invites", "unused", "is_renamed")
"""What a record keeps as JSON, because the engine does not need to know it."""

INTERRUPTED: Final = (
    "The gateway ended while a turn was running, or could not store it. The turn was interrupted."
)


class EngineLog:
    """The log of one session, under the lease of this node."""

    def __init__(self, engine: Engine, lease: Lease) -> None:
        self._engine = engine
        self.lease = lease

    async def append(self, events: Sequence[tuple[str, bytes]]) -> int:
        """Store events; return the number of the last one."""
        return await self._engine.append(self.lease, [NewEvent(*one) for one in events])

    async def read_after(self, seq: int, limit: int) -> Sequence[Event]:
        """Return the next events behind a number."""
        page = await self._engine.read_after(self.lease.session, seq, limit)
        return [Event(one.seq, one.kind, one.frame) for one in page.events]

    async def snapshot_after(self, seq: int) -> SnapshotPart | None:
        """Return the part of the snapshot that comes behind an event."""
        return await self._engine.snapshot_after(self.lease.session, seq)

    async def extend_snapshot(self, seq: int, data: bytes, bytes_max: int) -> None:
        """Add what the next events, up to a number, add up to."""
        await self._engine.extend_snapshot(self.lease, seq, data, bytes_max)

    async def trim(self, seq: int) -> None:
        """Remove the events up to a number."""
        await self._engine.trim(self.lease, seq)


class SessionRegistry:
    """Guards: a session is in memory once."""

    def __init__(self, engine: Engine, node: Node, host: Callable[[], Host]) -> None:
        self.live: dict[str, HostedSession] = {}
        self._engine = engine
        self._node = node
        self._host = host
        self._opening = anyio.Lock()
        self._record_lock = anyio.Lock()
        self._unstored: dict[str, HostedSession] = {}
        self._storing = False

    async def create(self, facts: SessionFacts) -> HostedSession:
        """Store a new session.  If its id is taken, it gets another one: see its facts."""
        while True:
            try:
                await self._engine.create(_record_of(facts))
                break
            except SessionExists:
                facts.session_id = f"{facts.agent_session_id}-{secrets.token_hex(8)}"
                facts.opened["sessionId"] = facts.session_id
        lease = await self._engine.own(facts.session_id, self._node)
        session = HostedSession(facts, EngineLog(self._engine, lease), self._host())
        self.live[facts.session_id] = session
        return session

    async def has(self, session_id: str) -> bool:
        """Whether the id is taken."""
        return session_id in self.live or await self._engine.get(session_id) is not None

    async def find(
        self,
        session_id: str,
        principal: Principal,
        may_open: Callable[[SessionFacts], bool] = lambda _: False,
    ) -> HostedSession | None:
        """Return a session that somebody may see, or may open; None for all others.

        It stays in memory at least until the caller's next `await`.
        """

        def may(facts: SessionFacts) -> bool:
            return role_in(facts, principal) is not None or may_open(facts)

        async with self._opening:
            session = self.live.get(session_id)
            if session is not None and session.is_over:
                await self._forget(session)
                session = None
            if session is None:
                record = await self._engine.get(session_id)
                if record is None or not may(_facts_of(record)):
                    return None
                session = await self._open(record)
        return session if may(session.facts) else None

    async def find_invited(
        self, session_id: str, principal: Principal, code: str
    ) -> HostedSession | None:
        """Return a session that somebody may see, or join with a code."""

        def may_join(facts: SessionFacts) -> bool:
            return principal.role_for(facts.agent) is not None and has_invite(facts, code)

        return await self.find(session_id, principal, may_join)

    async def _open(self, record: SessionRecord) -> HostedSession:
        lease = await self._engine.own(record.session, self._node)
        state = await self._engine.log_state(record.session)
        past_seq = state.snapshot_seq or 0
        facts, log = _facts_of(record), EngineLog(self._engine, lease)
        turn = await last_turn(
            log, lease.last, facts.version, past_seq=past_seq, was_open=facts.turn_open
        )
        facts.turn_open, facts.unused = False, facts.unused and not turn.was_prompted
        session = HostedSession(
            facts,
            log,
            self._host(),
            last_seq=lease.last,
            past_seq=past_seq,
            log_bytes=state.size_bytes,
        )
        self.live[record.session] = session
        if turn.is_open:
            session.interrupted(INTERRUPTED, unanswered=turn.unanswered)
            await session.flush()
            self.changed(session)
        return session

    async def page(
        self, principal: str, agent: str, cursor: str | None, cwd: str | None
    ) -> tuple[list[SessionRecord], str | None]:
        """Return sessions of one agent that somebody may see, newest first."""
        page = await self._engine.records(principal, cursor=cursor)
        fits = [
            one for one in page.records if one.agent == agent and (cwd is None or one.cwd == cwd)
        ]
        return fits, page.next_cursor

    def changed(self, session: HostedSession) -> None:
        """Store the facts of a session soon; the newest ones count."""
        self._unstored[session.session_id] = session
        if not self._storing:
            self._storing = True
            self._host().tasks.start_soon(self._store, name="session records")

    async def _store(self) -> None:
        try:
            while self._unstored:
                _, session = self._unstored.popitem()
                await self._store_one(session)
        finally:
            self._storing = False

    async def store(self, session: HostedSession) -> None:
        """Store the facts of a session now.

        Raises:
            EngineError: the engine refuses them.
            StoreError: its file cannot be written.
            ValueError: they are too large.
        """
        async with self._record_lock:
            self._unstored.pop(session.session_id, None)
            stored = await self._engine.get(session.session_id)
            if stored is not None:
                new = _record_of(session.facts)
                await self._engine.put(replace(new, revision=stored.revision))

    async def _store_one(self, session: HostedSession) -> None:
        try:
            await self.store(session)
        except (EngineError, StoreError, ValueError) as error:
            _log.error("the record of %s was not stored: %s", session.session_id, error)

    async def forget(self, session: HostedSession) -> None:
        """Take a session out of memory, unless somebody needs it; it stays in the engine."""
        async with self._opening:
            if self.live.get(session.session_id) is session and not session.is_needed:
                await self._forget(session)

    async def _forget(self, session: HostedSession) -> None:
        await session.flush()
        # The next owner reads the record.
        await self._store_one(session)
        if session.is_needed:
            return
        del self.live[session.session_id]
        log: EngineLog = session.log  # type: ignore[assignment]
        await self._engine.release(log.lease)

    async def delete(self, session: HostedSession) -> None:
        """Remove a session for good."""
        async with self._opening:
            live = self.live.pop(session.session_id, session)
            live.end("the session was deleted", "deleted")
            await live.flush()
            async with self._record_lock:
                self._unstored.pop(session.session_id, None)
                await self._engine.delete(session.session_id)


def _record_of(facts: SessionFacts) -> SessionRecord:
    data = asdict(facts)
    return SessionRecord(
        session=facts.session_id,
        agent=facts.agent,
        principal=facts.owner,
        cwd=facts.cwd,
        protocol_version=NUMBERS[facts.version],
        members=dict(facts.members),
        title=facts.title,
        agent_session=facts.agent_session_id,
        state="turn" if facts.turn_open else "idle",
        data=encode({key: data[key] for key in KEPT}),
    )


def _facts_of(record: SessionRecord) -> SessionFacts:
    data: dict[str, Any] = to_python(record.data)
    return SessionFacts(
        session_id=record.session,
        agent=record.agent,
        version=_VERSIONS.get(record.protocol_version, "v2"),
        agent_session_id=record.agent_session or record.session,
        owner=record.principal,
        cwd=record.cwd,
        members=dict(record.members),
        title=record.title,
        turn_open=record.state == "turn",
        **data,
    )
