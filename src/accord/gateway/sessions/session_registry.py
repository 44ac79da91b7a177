"""The sessions of a gateway: in memory while somebody needs them, in the engine always.

What always holds
    * A session that is in memory is owned by this node, and only its owner writes its log.
    * A session whose process ended, or whose gateway was killed, is found again by its id.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

import anyio

from accord.gateway.access.principal import Principal
from accord.gateway.engine.engine_errors import EngineError
from accord.gateway.engine.interface import Engine, Lease, NewEvent, Node, SessionRecord
from accord.gateway.sessions.hosted_session import Host, HostedSession
from accord.gateway.sessions.log_events import Event
from accord.gateway.sessions.session_facts import SessionFacts, role_in
from accord.machine.redacted_logs import logger
from accord.schema.codec import encode, to_python

_log = logger("accord.gateway")

KEPT: Final = ("opened_with", "opened", "initialize", "unused")
"""What a record keeps as JSON, because the engine does not need to know it."""

INTERRUPTED: Final = "The gateway was restarted while a turn was running. The turn was interrupted."


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


class SessionRegistry:
    """Guards: a session is in memory once."""

    def __init__(self, engine: Engine, node: Node, host: Callable[[], Host]) -> None:
        self.live: dict[str, HostedSession] = {}
        self._engine = engine
        self._node = node
        self._host = host
        self._opening = anyio.Lock()
        self._unstored: dict[str, HostedSession] = {}
        self._storing = False

    async def create(self, facts: SessionFacts) -> HostedSession:
        """Store a new session."""
        await self._engine.create(_record_of(facts))
        lease = await self._engine.own(facts.session_id, self._node)
        session = HostedSession(facts, EngineLog(self._engine, lease), self._host())
        self.live[facts.session_id] = session
        return session

    async def has(self, session_id: str) -> bool:
        """Whether the id is taken."""
        return session_id in self.live or await self._engine.get(session_id) is not None

    async def find(self, session_id: str, principal: Principal) -> HostedSession | None:
        """Return a session that somebody may see; None for all others."""
        async with self._opening:
            session = self.live.get(session_id)
            if session is None:
                record = await self._engine.get(session_id)
                if record is None or role_in(_facts_of(record), principal) is None:
                    return None
                session = await self._open(record)
        return session if role_in(session.facts, principal) is not None else None

    async def _open(self, record: SessionRecord) -> HostedSession:
        lease = await self._engine.own(record.session, self._node)
        session = HostedSession(
            _facts_of(record), EngineLog(self._engine, lease), self._host(), last_seq=lease.last
        )
        self.live[record.session] = session
        if session.facts.turn_open:
            session.facts.turn_open = False
            session.interrupted(INTERRUPTED)
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
                session_id, session = self._unstored.popitem()
                try:
                    stored = await self._engine.get(session_id)
                    if stored is not None:
                        new = _record_of(session.facts)
                        await self._engine.put(replace(new, revision=stored.revision))
                except EngineError as error:
                    _log.error("the record of session %s was not stored: %s", session_id, error)
        finally:
            self._storing = False

    async def forget(self, session: HostedSession) -> None:
        """Take a session out of memory; it stays in the engine."""
        await session.flush()
        if self.live.pop(session.session_id, None) is not None:
            log: EngineLog = session.log  # type: ignore[assignment]
            await self._engine.release(log.lease)

    async def delete(self, session: HostedSession) -> None:
        """Remove a session for good."""
        await session.flush()
        self.live.pop(session.session_id, None)
        self._unstored.pop(session.session_id, None)
        await self._engine.delete(session.session_id)


def _record_of(facts: SessionFacts) -> SessionRecord:
    data = asdict(facts)
    return SessionRecord(
        session=facts.session_id,
        agent=facts.agent,
        principal=facts.owner,
        cwd=facts.cwd,
        protocol_version=1 if facts.version == "v1" else 2,
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
        version="v1" if record.protocol_version == 1 else "v2",
        agent_session_id=record.agent_session or record.session,
        owner=record.principal,
        cwd=record.cwd,
        members=dict(record.members),
        title=record.title,
        turn_open=record.state == "turn",
        **data,
    )
