"""The gateway: agents that are hosted for clients, with sessions that outlive both.

What always holds
    * No process of an agent outlives the gateway.
    * A session lives in one process at most.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from accord.errors import RequestFailed
from accord.gateway.access.limits import LimitReached, Usage
from accord.gateway.access.principal import Principal
from accord.gateway.agents.agent_process import AgentProcess
from accord.gateway.agents.hosted_agent import HostedAgent
from accord.gateway.clients.client_connection import ClientConnection
from accord.gateway.clients.first_message import FirstMessage
from accord.gateway.configuration.limits import PrincipalLimits
from accord.gateway.engine.interface import Engine, Node
from accord.gateway.sessions.hosted_session import HostedSession
from accord.gateway.sessions.session_facts import SessionFacts
from accord.gateway.sessions.session_registry import SessionRegistry
from accord.jsonrpc.error_codes import INTERNAL_ERROR, INVALID_SESSION_STATE
from accord.machine import clock
from accord.proxy.relay.translated_transport import Translated, carry
from accord.schema.codec import encode, to_python
from accord.schema.struct import Raw
from accord.transport.memory import memory_pair
from accord.transport.transport import Transport

GRACE_SECONDS: Final = 600.0
"""How long the process of a session that nobody follows is kept."""


class Gateway:
    """Use it as an async context manager; `serve` then serves one client at a time."""

    tasks: TaskGroup

    def __init__(
        self,
        agents: Mapping[str, HostedAgent],
        engine: Engine,
        *,
        node: str = "gateway",
        grace_seconds: float = GRACE_SECONDS,
        limits: PrincipalLimits | None = None,
    ) -> None:
        self.usage = Usage(limits or PrincipalLimits())
        self.agents = dict(agents)
        self._engine = engine
        self._node_name = node
        self._grace_seconds = grace_seconds
        self._processes: set[AgentProcess] = set()
        self._leaving: dict[str, anyio.CancelScope] = {}
        self._is_closing = False
        self._group: Any = None
        self.sessions: SessionRegistry
        self._node: Node

    async def __aenter__(self) -> Gateway:
        await self._engine.__aenter__()
        self._node = await self._engine.enter(self._node_name)
        self.sessions = SessionRegistry(self._engine, self._node, lambda: self)
        self._group = anyio.create_task_group()
        self.tasks = await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_closing = True
        with anyio.CancelScope(shield=True):
            for session in list(self.sessions.live.values()):
                await session.flush()
            for process in list(self._processes):
                await process.aclose()
        self.tasks.cancel_scope.cancel()
        await self._group.__aexit__(exc_type, exc, traceback)
        with anyio.CancelScope(shield=True):
            await self._engine.leave(self._node)
            await self._engine.__aexit__(exc_type, exc, traceback)

    async def drain(self, seconds: float) -> bool:
        """Wait until no turn runs, for a bounded time; return whether none does."""
        with anyio.move_on_after(seconds):
            while busy := [one for one in self.sessions.live.values() if one.is_busy]:
                await busy[0].wait_idle()
            return True
        return False

    # ---- clients

    async def serve(self, transport: Transport, principal: Principal, agent: HostedAgent) -> None:
        """Serve one client until it goes."""
        try:
            with self.usage.take(principal.name, "connections"):
                await self._serve(transport, principal, agent, None)
        except LimitReached as reached:
            await self._serve(transport, principal, agent, reached)

    async def _serve(
        self,
        transport: Transport,
        principal: Principal,
        agent: HostedAgent,
        refusal: LimitReached | None,
    ) -> None:
        profile = await agent.profile()
        first = FirstMessage(transport)
        dialect = await first.dialect(self.tasks)
        if dialect in (None, profile.version):
            connection = ClientConnection(
                first, principal, agent, profile.version, self, refusal=refusal
            )
            await connection.serve()
            return
        ours, theirs = memory_pair()
        connection = ClientConnection(
            ours, principal, agent, profile.version, self, refusal=refusal
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.serve)
            await carry(first, Translated(theirs, speaks=profile.version))
            tasks.cancel_scope.cancel()

    # ---- sessions

    async def find(self, session_id: str, principal: Principal) -> HostedSession | None:
        """Return a session that somebody may see."""
        return await self.sessions.find(session_id, principal)

    async def process_for(self, client: ClientConnection) -> AgentProcess:
        """Return the process of a connection; start it if there is none."""
        if client.process is None or client.process.why is not None:
            client.process = await self._start(client, None)
        return client.process

    async def _start(self, client: ClientConnection, cwd: str | None) -> AgentProcess:
        assert client.initialize is not None
        return await self._start_with(client.principal, client.agent, client.initialize, cwd)

    async def _start_with(
        self, principal: str, agent: HostedAgent, initialize: Mapping[str, Any], cwd: str | None
    ) -> AgentProcess:
        try:
            held = self.usage.take(principal, "processes")
        except LimitReached as reached:
            raise reached.request_error() from None

        def ended(process: AgentProcess) -> None:
            held.release()
            self._processes.discard(process)

        try:
            process = await agent.start(initialize, cwd, self.tasks, ended)
        except BaseException:
            held.release()
            raise
        self._processes.add(process)
        return process

    async def new_session(
        self, client: ClientConnection, method: str, params: dict[str, Any]
    ) -> tuple[HostedSession, Raw]:
        """Open a session in a process of the agent; return it and what the agent answered."""
        process = await self._process_for_session(client)
        answer = await process.call(method, encode(params))
        opened = to_python(answer)
        agent_session_id = opened.get("sessionId") if isinstance(opened, dict) else None
        if not isinstance(agent_session_id, str):
            said = "the agent opened a session without an id"
            raise RequestFailed(method, INTERNAL_ERROR, said)
        # An agent may count its sessions from 1 in each process.
        session_id = agent_session_id
        if await self.sessions.has(session_id):
            session_id = f"{agent_session_id}-{secrets.token_hex(8)}"
            opened["sessionId"] = session_id
            answer = Raw(encode(opened))
        facts = SessionFacts(
            session_id=session_id,
            agent=client.agent.name,
            version=client.version,
            agent_session_id=agent_session_id,
            owner=client.principal,
            cwd=str(params.get("cwd", "")),
            opened_with={key: one for key, one in params.items() if key != "sessionId"},
            opened=opened,
            initialize=client.initialize or {},
        )
        session = await self.sessions.create(facts)
        session.runs_in(process)
        return session, answer

    async def _process_for_session(self, client: ClientConnection) -> AgentProcess:
        process = await self.process_for(client)
        if client.agent.settings.process == "session":
            # It belongs to the session from now on.
            client.process = None
        return process

    async def revive(self, session: HostedSession) -> AgentProcess:
        """Start a process for a session and open the session there."""
        facts = session.facts
        agent = self.agents[facts.agent]
        process = await self._start_with(facts.owner, agent, facts.initialize, facts.cwd or None)
        try:
            await self._open_again(session, process)
        except BaseException:
            await session.park()
            await process.aclose()
            raise
        return process

    async def _open_again(self, session: HostedSession, process: AgentProcess) -> None:
        facts = session.facts
        params = {**facts.opened_with, "sessionId": facts.agent_session_id}
        if facts.unused:
            # Agents forget sessions without a prompt: a new one is the same.
            del params["sessionId"]
            answer = to_python(await process.call("session/new", encode(params)))
            facts.agent_session_id = answer["sessionId"]
            facts.opened = {**answer, "sessionId": facts.session_id}
            session.runs_in(process)
            self.changed(session)
            return
        method = _way_back(to_python(process.initialized or b"{}"), facts.version)
        if method is None:
            said = (
                f"the process of this session has ended, and {facts.agent} cannot load sessions;"
                " start a new one"
            )
            data = {"reason": "session_over"}
            raise RequestFailed("session/load", INVALID_SESSION_STATE, said, data)

        def opened() -> None:
            session.is_opening = False

        session.is_opening = True
        try:
            session.runs_in(process)
            # What the agent says behind its answer is new.
            answer = to_python(await process.call(method, encode(params), opened))
        finally:
            opened()
        if isinstance(answer, dict):
            facts.opened.update(answer)

    async def list_sessions(self, client: ClientConnection, params: Any) -> Any:
        """Return a page of the sessions that somebody may see."""
        asked = params if isinstance(params, dict) else {}
        records, cursor = await self.sessions.page(
            client.principal, client.agent.name, asked.get("cursor"), asked.get("cwd")
        )
        sessions: list[dict[str, Any]] = []
        for record in records:
            one: dict[str, Any] = {
                "sessionId": record.session,
                "cwd": record.cwd,
                "updatedAt": clock.timestamp_of(record.updated_at),
            }
            if record.title is not None:
                one["title"] = record.title
            if record.principal != client.principal:
                one["_meta"] = {"accord.owner": record.principal}
            sessions.append(one)
        page: dict[str, Any] = {"sessions": sessions}
        if cursor is not None:
            page["nextCursor"] = cursor
        return page

    async def close(self, session: HostedSession, *, delete: bool) -> None:
        """End a session in its process, for everybody; with `delete` forget it as well."""
        for attachment in list(session.attachments):
            session.detach(attachment)
        await self._park(session)
        if delete:
            await self.sessions.delete(session)
        else:
            await self.sessions.forget(session)

    async def _park(self, session: HostedSession) -> None:
        process = session.process
        await session.park()
        if process is not None and not process.sessions:
            await process.aclose()

    # ---- what sessions tell

    def changed(self, session: HostedSession) -> None:
        """Store the facts of a session."""
        if not self._is_closing:
            self.sessions.changed(session)

    def idle(self, session: HostedSession) -> None:
        """End the process of a session that nobody has followed for a while."""
        is_followed = session.attachments or session.session_id in self._leaving
        if is_followed or self._is_closing:
            return
        self.tasks.start_soon(self._leave_later, session, name="grace")

    async def _leave_later(self, session: HostedSession) -> None:
        scope = self._leaving[session.session_id] = anyio.CancelScope()
        with scope:
            await anyio.sleep(self._grace_seconds)
        self._leaving.pop(session.session_id, None)
        if session.attachments or session.is_busy:
            return
        await self._park(session)
        await self.sessions.forget(session)

    def failed(self, session: HostedSession, error: Exception) -> None:
        """End a session whose log cannot be written."""
        del error
        self.tasks.start_soon(self._park, session)


def _way_back(initialized: dict[str, Any], version: str) -> str | None:
    """Return the method that opens a session again without its history, if the agent has one."""
    if version == "v2":
        return "session/resume"
    capabilities = initialized.get("agentCapabilities") or {}
    if "resume" in (capabilities.get("sessionCapabilities") or {}):
        return "session/resume"
    return "session/load" if capabilities.get("loadSession") else None
