"""The sessions that one client has open: new, resumed, forked, closed and deleted ones.

`requests.py` reads the requests, calls this, and encodes the results.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from accord.agent.serving.unstable.mcp_calls import McpCalls
from accord.agent.serving.wire import Wire
from accord.agent.session import turn_run
from accord.agent.session.unfinished_work import cut_off_error, interruption
from accord.connection import Connection
from accord.errors import ConnectionLost, LocalProtocolError, RequestError, StoreError
from accord.machine.redacted_logs import logger

if TYPE_CHECKING:
    # Loaded behind the answer to `initialize`.
    from accord.agent.definition import AgentDefinition
    from accord.agent.session.session_state import SessionState
    from accord.store import Page, SessionRecord, SessionStore

_log = logger("accord.agent")


class Surroundings(NamedTuple):
    """The surroundings of a session, from the request that opens it."""

    cwd: str
    directories: tuple[str, ...]
    mcp_servers: tuple[Any, ...]
    # More fields for the record of the session.
    about: Mapping[str, Any] = MappingProxyType({})

    @property
    def of_record(self) -> dict[str, Any]:
        """Its fields of the session's record."""
        return {"cwd": self.cwd, "additional_directories": self.directories, **self.about}


class ActiveSessions:
    """The sessions of one connection.  Guards: a session is served by one object at a time."""

    def __init__(self, agent: AgentDefinition, connection: Connection, wire: Wire) -> None:
        self.agent = agent
        self.connection = connection
        self.wire = wire
        self.by_id: dict[str, SessionState] = {}
        # Closed sessions that reported background work; when resumed they report it again.
        self._reporting: dict[str, None] = {}
        # Closed sessions without a prompt; they are deleted with the connection.
        self._unused: dict[str, None] = {}
        self.mcp_calls = McpCalls(connection)
        agent.connected.add(self)

    @property
    def store(self) -> SessionStore:
        """The sessions that this client may see."""
        return self.agent.store_for(self.connection.principal)

    def active(self, session_id: str) -> SessionState:
        """Return an active session.

        Raises:
            RequestError: there is none with this id.
        """
        session = self.by_id.get(session_id)
        if session is None or session.closed or session.closing:
            raise RequestError.session_missing(session_id)
        return session

    async def new(self, given: Surroundings) -> SessionState:
        """Make a session and show it to the agent's hook."""
        from accord.agent.session.session_state import new_session_id
        from accord.store import SessionRecord

        await self._hook(self.agent.folder_check, given.cwd)
        record = SessionRecord(new_session_id(), unused=True, **given.of_record)
        log = await self.store.create(record)
        session = await self._serve(record, log, given.mcp_servers)
        await self._begin(session)
        return session

    async def _begin(self, session: SessionState) -> None:
        """Show a new session to the agent's hook; if that fails, delete the session."""
        try:
            await session.stored.touch()
            await self._show(session)
        except BaseException:
            self.by_id.pop(session.id, None)
            with anyio.CancelScope(shield=True):
                await session.tasks.close()
                await self.store.delete(session.id)
            raise

    async def _serve(
        self, record: SessionRecord, log: Any, mcp_servers: tuple[Any, ...]
    ) -> SessionState:
        from accord.agent.session.session_state import open_session

        session = open_session(
            self.connection,
            self.wire,
            self.store,
            self.agent.offer,
            record,
            log,
            mcp_servers,
            self.mcp_calls,
        )
        session.terminals.reports = session.id in self._reporting
        release = partial(self._release, session)
        try:
            session.tasks.on_close(release)
        except LocalProtocolError:
            # The client is gone, so nothing else would close this session.
            await release()
            raise
        self.by_id[session.id] = session
        return session

    async def _release(self, session: SessionState) -> None:
        """Give a session back to the store."""
        if not session.record.is_worth_keeping:
            if self.connection.error is not None:
                await self._delete_unused(session.id)
            else:
                # The client may open it again.
                self._unused[session.id] = None
        await self.store.release(session.id)

    async def _delete_unused(self, session_id: str) -> None:
        """Delete a session without a prompt: editors make one with every start."""
        others = (one.by_id.get(session_id) for one in self.agent.connected if one is not self)
        if any(other is not None and not other.closed for other in others):
            return
        try:
            record = await self.store.get(session_id)
            if record is not None and not record.is_worth_keeping:
                await self.store.delete(session_id)
        except StoreError:
            # Another process has opened it, or it cannot be read.
            _log.info("the unused session %s is kept", session_id)

    async def attach(self, session_id: str, given: Surroundings) -> SessionState:
        """Go on with a stored session, with the folders and servers of the request only."""
        while (active := self.by_id.get(session_id)) is not None and active.closing:
            await active.gone.wait()
        if active is not None:
            await self._hook(self.agent.folder_check, given.cwd)
            # The session keeps working; only its surroundings are new.
            active.mcp_servers = given.mcp_servers
            await active.stored.amend(**given.of_record)
            if not active.prompts.is_busy:
                await self._show(active)
            return active
        record = await self.store.get(session_id)
        if record is not None:
            await self._hook(self.agent.folder_check, given.cwd)
        log = await self.store.open(session_id)
        if record is None or log is None:
            raise RequestError.session_missing(session_id)
        record = replace(record, **given.of_record)
        session = await self._serve(record, log, given.mcp_servers)
        if record.turn_open:
            session.last_stop = ("error", cut_off_error())
            await session.updates.record_only(interruption(session.new_id("message")))
        await session.stored.amend(turn_open=False)
        await self._show(session)
        return session

    async def fork(self, session_id: str, given: Surroundings) -> SessionState:
        """Make a new session with the same history; the old one is unchanged."""
        source = await self.store.get(session_id)
        if source is None:
            raise RequestError.session_missing(session_id)
        await self._hook(self.agent.folder_check, given.cwd)
        from accord.agent.session.session_state import new_session_id

        fresh = {"session_id": new_session_id(), "archived": False, "titled_by_user": False}
        changes: dict[str, Any] = {**fresh, **given.of_record, "turn_open": False}
        record = replace(source, **changes)
        log = await self.store.fork(session_id, record)
        if log is None:
            raise RequestError.session_missing(session_id)
        session = await self._serve(record, log, given.mcp_servers)
        await self._begin(session)
        return session

    async def replay(self, session: SessionState) -> None:
        """Send the past of a session again, without notices and states.

        Open items of the past that are no longer worked on are ended.
        """
        from accord.agent.serving.session_replay import send_past

        self.wire.forget(session.id)
        try:
            with session.updates.replaying():
                unfinished = await send_past(session, self.wire, self.connection)
        except StoreError:
            # A session whose past cannot be read cannot go on.
            await self.close(session)
            raise
        if not session.prompts.is_busy:
            for ending in unfinished.endings(session.terminals.running_ids()):
                await session.updates.emit(ending)

    async def list_stored(
        self, cwd: str | None, cursor: str | None, archived: bool | None = None
    ) -> Page:
        """One page of the stored sessions; `archived` selects one kind."""
        from accord.store.session_store import BadCursor

        try:
            return await self.store.list(cwd, cursor, archived)
        except BadCursor:
            raise RequestError.invalid_params("unknown cursor", "$.cursor") from None

    async def close(self, session: SessionState) -> None:
        """Cancel its work, wait for the end of it, and close it; this cannot be cancelled."""
        session.closing = True
        with anyio.CancelScope(shield=True):
            session.prompts.cancel_all()
            with anyio.move_on_after(turn_run.CANCEL_SECONDS_MAX + 1):
                await session.prompts.wait_idle()
            await session.terminals.close()
            await session.tasks.close()
        session.updates.closed = True
        if session.terminals.reports:
            self._reporting[session.id] = None
        self.wire.forget(session.id)
        if self.by_id.get(session.id) is session:
            del self.by_id[session.id]
        session.gone.set()

    async def delete(self, session_id: str) -> None:
        """Delete a session; an unknown one counts as deleted."""
        session = self.by_id.get(session_id)
        if session is not None:
            await self.close(session)
        self._reporting.pop(session_id, None)
        await self.store.delete(session_id)

    def lost(self, error: ConnectionLost) -> None:
        """Stop everything, since the client is gone."""
        for session in self.by_id.values():
            session.prompts.cancel_all()
            session.updates.closed = True
            if session.tasks:
                self.connection.tasks.start_soon(session.tasks.close, name="close callbacks")
        for session_id in self._unused.keys() - self.by_id.keys():
            self.connection.tasks.start_soon(self._delete_unused, session_id, name="unused session")

    async def _show(self, session: SessionState) -> None:
        """Call the program's function for sessions; its updates wait for the answer."""
        hook = self.agent.session_hook
        if hook is not None:
            from accord.agent.session.agent_session import public_session

            session.updates.hold()
            await hook(public_session(session))

    async def _hook(self, hook: Callable[..., Awaitable[None]] | None, *args: Any) -> None:
        if hook is not None:
            await hook(*args)
