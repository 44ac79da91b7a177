"""When sessions leave their processes: after a while without work, or when others need the room.

A session that leaves is parked: it stays in its log, and the next message opens it again.

What always holds
    * A session with work to do is never parked, and neither is one with a client whose agent could
      not open it again.
    * Whoever waits for `settled` finds a session either whole or gone, never on its way out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import anyio
from anyio.abc import TaskGroup

from accord.errors import AccordError
from accord.gateway.access.limits import Held, LimitReached, Usage
from accord.gateway.agents.agent_process import AgentProcess
from accord.gateway.agents.hosted_agent import HostedAgent
from accord.gateway.agents.version_methods import VERSIONS, has
from accord.gateway.sessions.hosted_session import HostedSession
from accord.gateway.sessions.session_registry import SessionRegistry
from accord.machine.redacted_logs import logger, place_of
from accord.schema.codec import encode, to_python

_log = logger("accord.gateway")

JOIN_SECONDS: Final = 10.0
"""How long a session waits at least for a client that has just asked for it."""

CLOSE_SECONDS_MAX: Final = 10.0
"""How long an agent may take to close one of several sessions of a process."""


class IdleSessions:
    """The sessions that live in processes, and since when they are idle."""

    def __init__(
        self,
        agents: Mapping[str, HostedAgent],
        usage: Usage,
        registry: SessionRegistry,
        tasks: TaskGroup,
        *,
        grace_seconds: float,
        park_seconds: float,
    ) -> None:
        """`park_seconds` is for sessions that somebody follows; 0 means never."""
        self._agents = agents
        self._usage = usage
        self._registry = registry
        self._tasks = tasks
        self._grace_seconds = grace_seconds
        self._park_seconds = park_seconds
        self._timers: dict[str, anyio.CancelScope] = {}
        self._since: dict[str, float] = {}
        self._leaving: dict[str, anyio.Event] = {}
        self._held: dict[str, tuple[AgentProcess, Held]] = {}
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._held)

    def close(self) -> None:
        """Park nothing any more: everything ends."""
        self._is_closed = True

    # ---- sessions that come

    async def room(self, principal: str) -> Held:
        """Return the right to one more active session.

        Raises:
            RequestError: the principal has as many as it may have, and all of them are in use.
        """
        while True:
            try:
                return self._usage.take(principal, "sessions")
            except LimitReached as reached:
                if not await self._park_one(principal, needs_process=False):
                    raise reached.request_error() from None

    def entered(self, session: HostedSession, process: AgentProcess, held: Held) -> None:
        """A session lives in a process from now on."""
        self._release(session.session_id)
        self._held[session.session_id] = (process, held)
        self.touched(session)

    def ended(self, process: AgentProcess) -> None:
        """A process is gone, and its sessions are in none."""
        for session_id in [one for one, (where, _) in self._held.items() if where is process]:
            self._release(session_id)

    def _release(self, session_id: str) -> None:
        _, held = self._held.pop(session_id, (None, None))
        if held is not None:
            held.release()

    # ---- sessions that go

    async def settled(self, session_id: str) -> None:
        """Wait until a session is not on its way out."""
        while (leaving := self._leaving.get(session_id)) is not None:
            await leaving.wait()

    def touched(self, session: HostedSession, *, expected: bool = False) -> None:
        """Count the idle time of a session from now on; with `expected` somebody comes soon."""
        if self._is_closed:
            return
        session_id = session.session_id
        self._since[session_id] = anyio.current_time() + (JOIN_SECONDS if expected else 0.0)
        old = self._timers.pop(session_id, None)
        if old is not None:
            old.cancel()
        scope = self._timers[session_id] = anyio.CancelScope()
        self._tasks.start_soon(self._leave_later, session, scope, name="idle session")

    def _patience(self, session: HostedSession) -> float | None:
        """Return how long a session may be idle in its process; None for as long as it likes."""
        comes_back = self._comes_back(session)
        park = self._park_seconds if comes_back and self._park_seconds else None
        if session.attachments:
            return park
        return self._grace_seconds if park is None else min(park, self._grace_seconds)

    def _comes_back(self, session: HostedSession) -> bool:
        facts, process = session.facts, session.process
        if facts.unused or process is None:
            return True
        initialized = to_python(process.initialized or b"{}")
        return VERSIONS[facts.version].way_back(initialized) is not None

    async def _leave_later(self, session: HostedSession, scope: anyio.CancelScope) -> None:
        session_id = session.session_id
        with scope:
            while (seconds := self._patience(session)) is not None:
                left = self._since[session_id] + seconds - anyio.current_time()
                if left <= 0:
                    break
                await anyio.sleep(left)
            else:
                return
        if scope.cancel_called or self._timers.get(session_id) is not scope:
            return
        del self._timers[session_id]
        # At the end of its turn it is idle again.
        if not session.is_busy and not self._is_closed:
            await self.park(session, forgets=True)

    async def park(self, session: HostedSession, *, forgets: bool = False) -> None:
        """Take a session out of its process; with `forgets` also out of memory, if it is alone."""
        session_id = session.session_id
        done = self._leaving[session_id] = anyio.Event()
        try:
            await self._leave(session)
            if forgets and not session.attachments:
                self._since.pop(session_id, None)
                await self._registry.forget(session)
        finally:
            del self._leaving[session_id]
            done.set()

    async def _leave(self, session: HostedSession) -> None:
        process = session.process
        await session.park()
        self._release(session.session_id)
        if process is None or process.why is not None:
            return
        if process.sessions:
            await close_in(process, session, VERSIONS[session.facts.version].closing, "close")
        else:
            await process.aclose()

    async def make_room(self, principal: str) -> bool:
        """End a process of a principal whose sessions are idle; return whether there was one."""
        return await self._park_one(principal, needs_process=True)

    async def _park_one(self, principal: str, *, needs_process: bool) -> bool:
        found = [
            session
            for session_id in self._held
            if (session := self._registry.live.get(session_id)) is not None
            and session.facts.owner == principal
            and session_id not in self._leaving
            and self._may_go(session, needs_process=needs_process)
        ]
        if not found:
            return False
        session = min(found, key=lambda one: (bool(one.attachments), self._since[one.session_id]))
        _log.info("session %s is parked, since its user needs the room", session.session_id)
        await self.park(session)
        return True

    def _may_go(self, session: HostedSession, *, needs_process: bool) -> bool:
        process = session.process
        if session.is_busy or process is None or not self._comes_back(session):
            return False
        # With its last session the process ends.
        is_alone = len(process.sessions) == 1 and self._agents[session.facts.agent].has_processes
        return is_alone or not needs_process


async def close_in(
    process: AgentProcess, session: HostedSession, capability: tuple[str, ...], what: str
) -> None:
    """Tell an agent that a session is closed or deleted, if it wants to know."""
    if not has(to_python(process.initialized or b"{}"), capability):
        return
    params = encode({"sessionId": session.facts.agent_session_id})
    try:
        with anyio.fail_after(CLOSE_SECONDS_MAX):
            await process.call(f"session/{what}", params)
    except (AccordError, TimeoutError) as error:
        _log.info("%s did not %s a session (%s)", process.name, what, place_of(error))


__all__ = ["IdleSessions", "close_in"]
