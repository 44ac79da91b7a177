"""The gateway: agents that are hosted for clients, with sessions that outlive both.

What always holds
    * No process of an agent outlives the gateway.
    * A session lives in one process at most: it is opened again only after the process that it was
      in before has ended, or has closed it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Final, NamedTuple

import anyio
from anyio.abc import TaskGroup

from accord.errors import AccordError, RequestError, RequestFailed
from accord.gateway.access.limits import Held, LimitReached, Usage
from accord.gateway.access.principal import Principal
from accord.gateway.agents.agent_process import AgentProcess, Version
from accord.gateway.agents.hosted_agent import HostedAgent
from accord.gateway.agents.process_pool import ProcessPool
from accord.gateway.agents.version_methods import VERSIONS, has
from accord.gateway.clients.authenticate_requests import DraftLogins, Login
from accord.gateway.clients.client_connection import ClientConnection
from accord.gateway.clients.first_message import FirstMessage
from accord.gateway.clients.sessionless_messages import SessionlessMessages
from accord.gateway.clients.workspace_requests import FileIndexes
from accord.gateway.configuration.config_file import GRACE_SECONDS
from accord.gateway.configuration.limits import PrincipalLimits
from accord.gateway.engine.interface import Engine, Node
from accord.gateway.idle_sessions import IdleSessions, close_in
from accord.gateway.sessions.forked_history import forked
from accord.gateway.sessions.hosted_session import HostedSession
from accord.gateway.sessions.log_events import Event
from accord.gateway.sessions.session_facts import SessionFacts
from accord.gateway.sessions.session_registry import SessionRegistry
from accord.gateway.spans.interface import NO_SPANS, Spans, without_trace
from accord.gateway.supervised_tasks import SupervisedTasks
from accord.jsonrpc.error_codes import (
    INTERNAL_ERROR,
    INVALID_SESSION_STATE,
    METHOD_NOT_FOUND,
)
from accord.machine import clock
from accord.machine.redacted_logs import logger
from accord.proxy.relay.translated_transport import Translated, carry
from accord.schema.codec import encode, to_python
from accord.schema.struct import Raw
from accord.transport.memory import memory_pair
from accord.transport.transport import Transport

_log = logger("accord.gateway")

LOOK_AGAIN_SECONDS: Final = 1.0
"""How often the end of a turn is looked for besides."""


LAST_SENDING_SECONDS_MAX: Final = 5.0
"""How long a client may take for what is left when all turns are over."""

SENDING_POLL_SECONDS: Final = 0.02


def _is_behind(session: HostedSession) -> bool:
    """Whether somebody who follows a session has not been sent all of it."""
    return any(one.cursor < session.last_put or one.client.backlog for one in session.attachments)


class Opening(NamedTuple):
    """How a session was opened, and what the agent answered; a fork has a past."""

    method: str
    params: dict[str, Any]
    answer: Raw
    past: Sequence[Event] = ()
    is_unused: bool = True


class Gateway:
    """Use it as an async context manager; `serve` then serves one client at a time."""

    tasks: TaskGroup
    sessions: SessionRegistry
    idle_sessions: IdleSessions
    files: FileIndexes

    def __init__(
        self,
        agents: Mapping[str, HostedAgent],
        engine: Engine,
        *,
        node: str = "gateway",
        grace_seconds: float = GRACE_SECONDS,
        park_seconds: float = 0.0,
        limits: PrincipalLimits | None = None,
        spans: Spans = NO_SPANS,
    ) -> None:
        """`park_seconds` is when an idle session leaves its process; 0 means never."""
        self.usage = Usage(limits or PrincipalLimits())
        self.agents = dict(agents)
        self.is_draining = False
        self.spans = spans
        self.processes = ProcessPool(self.usage, self._make_room)
        self._engine = engine
        self._node_name = node
        self._grace_seconds = grace_seconds
        self._park_seconds = park_seconds
        self._is_closing = False
        self._group: SupervisedTasks
        self._node: Node

    async def __aenter__(self) -> Gateway:
        await self._engine.__aenter__()
        self._node = await self._engine.enter(self._node_name)
        self._group = SupervisedTasks()
        self.tasks = await self._group.__aenter__()
        self.files = FileIndexes(self.tasks)
        self.sessions = SessionRegistry(self._engine, self._node, lambda: self)
        self.idle_sessions = IdleSessions(
            self.agents,
            self.usage,
            self.sessions,
            self.tasks,
            grace_seconds=self._grace_seconds,
            park_seconds=self._park_seconds,
        )
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_closing = True
        self.idle_sessions.close()
        with anyio.CancelScope(shield=True):
            for session in list(self.sessions.live.values()):
                await session.flush()
            await self.processes.aclose()
        self.tasks.cancel_scope.cancel()
        await self._group.__aexit__(exc_type, exc, traceback)
        with anyio.CancelScope(shield=True):
            await self._engine.leave(self._node)
            await self._engine.__aexit__(exc_type, exc, traceback)

    @property
    def busy_sessions(self) -> list[HostedSession]:
        """The sessions in which a turn runs."""
        return [one for one in self.sessions.live.values() if one.is_busy]

    async def drain(self, seconds: float) -> bool:
        """Begin no more turns, and wait for those that run, for a bounded time.

        Returns whether all of them are over, and everybody has been sent their ends.
        """
        self.is_draining = True
        with anyio.move_on_after(seconds):
            while busy := self.busy_sessions:
                with anyio.move_on_after(LOOK_AGAIN_SECONDS):
                    await busy[0].wait_idle()
            for session in list(self.sessions.live.values()):
                await session.flush()
            with anyio.move_on_after(LAST_SENDING_SECONDS_MAX):
                while any(map(_is_behind, self.sessions.live.values())):  # noqa: ASYNC110 - bounded
                    await anyio.sleep(SENDING_POLL_SECONDS)
                # What was sent last leaves with the next round of the event loop.
                await anyio.sleep(SENDING_POLL_SECONDS)
            return True
        return False

    # ---- clients

    async def serve(
        self,
        transport: Transport,
        principal: Principal,
        agent: HostedAgent,
        login: Login | None = None,
    ) -> None:
        """Serve one client until it goes; `login` answers `authenticate` of the draft."""
        try:
            with self.usage.take(principal.name, "connections"):
                await self._serve(transport, principal, agent, login, None)
        except LimitReached as reached:
            await self._serve(transport, principal, agent, login, reached.request_error())

    async def _serve(
        self,
        transport: Transport,
        principal: Principal,
        agent: HostedAgent,
        login: Login | None,
        refusal: RequestError | None,
    ) -> None:
        version: Version = "v1"
        try:
            version = (await agent.profile()).version
        except (AccordError, OSError) as error:
            _log.error("the agent %s does not work: %s", agent.name, error)
            said = f"the agent {agent.name} does not work: {error}"
            refusal = refusal or RequestError(INTERNAL_ERROR, said, {"reason": "agent_unavailable"})
        first = FirstMessage(transport)
        dialect = await first.dialect(self.tasks)
        if dialect in (None, version):
            connection = ClientConnection(first, principal, agent, version, self, refusal=refusal)
            await connection.serve()
            return
        ours, theirs = memory_pair()
        connection = ClientConnection(ours, principal, agent, version, self, refusal=refusal)
        outer: Transport = first
        if dialect == "draft" and login is not None:
            outer = DraftLogins(first, login, partial(self.usage.admit, principal.name))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.serve)
            await carry(outer, Translated(theirs, speaks=version))
            tasks.cancel_scope.cancel()

    # ---- sessions

    async def find(self, session_id: str, principal: Principal) -> HostedSession | None:
        """Return a session that somebody may see.

        Raises:
            RequestFailed: its agent speaks another version now.
        """
        await self.idle_sessions.settled(session_id)
        session = await self.sessions.find(session_id, principal)
        if session is None or session.facts.agent not in self.agents:
            return None
        self.idle_sessions.touched(session, expected=True)
        profile = self.agents[session.facts.agent].known_profile
        if profile is not None and profile.version != session.facts.version:
            said = (
                f"{session.facts.agent} was replaced by one that speaks {profile.version}; this"
                f" session was begun with {session.facts.version} and cannot be continued"
            )
            data = {"reason": "session_over"}
            raise RequestFailed("session/load", INVALID_SESSION_STATE, said, data)
        return session

    async def find_invited(
        self, session_id: str, principal: Principal, code: str
    ) -> HostedSession | None:
        """Return a session that somebody may see, or join with a code."""
        await self.idle_sessions.settled(session_id)
        session = await self.sessions.find_invited(session_id, principal, code)
        if session is not None:
            self.idle_sessions.touched(session, expected=True)
        return session

    async def process_for(self, client: ClientConnection) -> AgentProcess:
        """Return the process of a connection; start it if there is none."""
        if client.process is None or client.process.why is not None:
            assert client.initialize is not None
            client.process = process = await self._start(
                client.principal, client.agent, client.initialize
            )
            process.client = SessionlessMessages(process, client.principal, client)
        return client.process

    async def _start(
        self,
        principal: str,
        agent: HostedAgent,
        initialize: Mapping[str, Any],
        params: Mapping[str, Any] | None = None,
    ) -> AgentProcess:
        """Start a process; `params` open the session that it is for."""
        folders: list[str] = []
        if params is not None and agent.is_bound_to_folders:
            more = params.get("additionalDirectories") or ()
            folders = [one for one in (params.get("cwd"), *more) if isinstance(one, str)]
        process = await self.processes.start(
            principal, agent, initialize, folders, self.tasks, self._process_ended
        )
        process.client = SessionlessMessages(process, principal)
        return process

    def _process_ended(self, process: AgentProcess) -> None:
        self.idle_sessions.ended(process)

    async def _make_room(self, principal: str) -> bool:
        return await self.idle_sessions.make_room(principal)

    async def new_session(
        self, client: ClientConnection, method: str, params: dict[str, Any]
    ) -> tuple[HostedSession, Raw]:
        """Open a session in a process of the agent; return it and what the agent answered."""
        held = await self.idle_sessions.room(client.principal)
        try:
            return await self._new_session(client, method, params, held)
        except BaseException:
            held.release()
            raise

    async def _new_session(
        self, client: ClientConnection, method: str, params: dict[str, Any], held: Held
    ) -> tuple[HostedSession, Raw]:
        process = await self._process_for_session(client, params)
        answer = await process.call(method, encode(params))
        opening = Opening(method, params, answer)
        return await self._opened(client, opening, process, held)

    async def _opened(
        self, client: ClientConnection, opening: Opening, process: AgentProcess, held: Held
    ) -> tuple[HostedSession, Raw]:
        """Store a session that the agent has opened in a process."""
        method, params, answer = opening[:3]
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
            opened_with=without_trace(
                {key: one for key, one in params.items() if key != "sessionId"}
            ),
            opened=opened,
            initialize=client.initialize or {},
            unused=opening.is_unused,
        )
        session = await self.sessions.create(facts)
        session.begin_with(forked(opening.past, session.session_id, facts.version))
        session.runs_in(process)
        self.idle_sessions.entered(session, process, held)
        return session, answer

    async def _process_for_session(
        self, client: ClientConnection, params: dict[str, Any]
    ) -> AgentProcess:
        if client.agent.is_bound_to_folders:
            assert client.initialize is not None
            return await self._start(client.principal, client.agent, client.initialize, params)
        process = await self.process_for(client)
        if client.agent.settings.process == "session":
            # It belongs to the session from now on.
            client.process = None
        return process

    async def fork_session(
        self, client: ClientConnection, source: HostedSession, params: dict[str, Any]
    ) -> tuple[HostedSession, Raw]:
        """Branch off a session; return the new one, with its history, and the agent's answer."""
        process = await source.running()
        methods, able = VERSIONS[source.facts.version], to_python(process.initialized or b"{}")
        if not has(able, methods.forking):
            said = f"{client.agent.name} cannot fork sessions; start a new one"
            raise RequestFailed("session/fork", METHOD_NOT_FOUND, said)
        # Nobody's session lives in a process of somebody else, or in one for other folders.
        stays = source.facts.owner == client.principal and not client.agent.is_bound_to_folders
        if not stays and methods.way_back(able) is None:
            said = f"{client.agent.name} cannot load sessions, so this one cannot be forked for you"
            raise RequestFailed("session/fork", METHOD_NOT_FOUND, said)
        held = await self.idle_sessions.room(client.principal)
        try:
            asked = {**params, "sessionId": source.facts.agent_session_id}
            answer = await process.call("session/fork", encode(asked))
            past = await source.history()
            opening = Opening("session/fork", params, answer, past, source.facts.unused)
            session, result = await self._opened(client, opening, process, held)
        except BaseException:
            held.release()
            raise
        if not stays:
            await self.idle_sessions.park(session)
        return session, result

    async def revive(self, session: HostedSession) -> AgentProcess:
        """Start a process for a session and open the session there."""
        facts = session.facts
        await self.idle_sessions.settled(session.session_id)
        held = await self.idle_sessions.room(facts.owner)
        try:
            process = await self._start(
                facts.owner, self.agents[facts.agent], facts.initialize, facts.opened_with
            )
            try:
                await self._open_again(session, process)
            except BaseException:
                await session.park()
                await process.aclose()
                raise
        except BaseException:
            held.release()
            raise
        self.idle_sessions.entered(session, process, held)
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
        methods = VERSIONS[facts.version]
        method = methods.way_back(to_python(process.initialized or b"{}"))
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
        """End a session at its agent, for everybody; with `delete` forget it as well."""
        for attachment in list(session.attachments):
            session.detach(attachment)
        if delete:
            await self._delete_at_agent(session)
        await self.idle_sessions.park(session)
        if delete:
            await self.sessions.delete(session)
        else:
            await self.sessions.forget(session)

    async def _delete_at_agent(self, session: HostedSession) -> None:
        """Let the agent delete what it stores of a session; it may not run."""
        facts, process = session.facts, session.process
        agent = self.agents[facts.agent]
        profile = await agent.profile()
        if facts.unused or not has(profile.initialized, VERSIONS["v1"].deleting):
            return
        if process is None:
            process = await self._start(facts.owner, agent, facts.initialize, facts.opened_with)
        await close_in(process, session, VERSIONS[facts.version].deleting, "delete")
        if session.process is None:
            await process.aclose()

    # ---- what sessions tell

    def changed(self, session: HostedSession) -> None:
        """Store the facts of a session."""
        if not self._is_closing:
            self.sessions.changed(session)

    def idle(self, session: HostedSession) -> None:
        """Count the time since a turn ended or the last client left."""
        self.idle_sessions.touched(session)

    def failed(self, session: HostedSession, error: Exception) -> None:
        """End a session whose log cannot be written."""
        del error
        self.tasks.start_soon(self.idle_sessions.park, session)
