"""What an agent does for one client, in no version's words: sessions, turns, logins, extensions.

`v1_serving.py` and `v2_serving.py` read requests, call this, and say the results.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import anyio

from accord.agent.callbacks import Guard
from accord.agent.serving.outgoing_checks import describe
from accord.agent.serving.unstable.mcp_calls import McpCalls
from accord.agent.serving.wire import Wire
from accord.agent.session import turn_run as running
from accord.agent.session.unfinished import Unfinished, cut_off_error, interruption
from accord.connection import Connection, IncomingRequest
from accord.connection.error_responses import error_for
from accord.errors import ConnectionLost, LocalProtocolError, RequestError, StoreError
from accord.machine.logs import logger
from accord.schema import v2
from accord.schema.codec import Invalid, decode, encode
from accord.schema.method import SESSION_UPDATE
from accord.schema.struct import Raw

if TYPE_CHECKING:
    # Loaded behind the answer to `initialize`.
    from accord.agent.agent import Agent
    from accord.agent.login.auth_status import AuthStatusReporter
    from accord.agent.session.session import AgentSession
    from accord.store import Page, SessionRecord

_log = logger("accord.agent")

NOTHING_MORE: Mapping[str, Any] = MappingProxyType({})


class Service:
    """Everything of one connection.  Guards: a session is served by one object at a time."""

    def __init__(self, agent: Agent, connection: Connection, wire: Wire) -> None:
        self.agent = agent
        self.connection = connection
        self.wire = wire
        self.sessions: dict[str, AgentSession] = {}
        # Closed sessions that reported background work; when resumed they go on with that.
        self._reporting: set[str] = set()
        # Closed sessions that nobody talked in; they end with the connection.
        self._unused: set[str] = set()
        self.authenticated = False
        self.mcp_calls = McpCalls(connection)
        self.guard = Guard(connection)
        agent.services.add(self)

    # ---- sessions

    def session(self, session_id: str) -> AgentSession:
        """An active session of this connection."""
        session = self.sessions.get(session_id)
        if session is None or session.closed or session.closing:
            raise RequestError.session_missing(session_id)
        return session

    def require_login(self) -> None:
        """Refuse until the client has logged in, where the agent wants that."""
        known = self.agent.login_check
        if self.agent.login_required and not self.authenticated and not (known and known()):
            usable = [
                method.described()
                for method in self.agent.auth_methods.values()
                if self.wire.features.terminal_login or not method.is_terminal
            ]
            raise RequestError.authentication_required(auth_methods=usable)

    async def new_session(
        self,
        cwd: str,
        directories: tuple[str, ...],
        mcp_servers: tuple[Any, ...],
        about: Mapping[str, Any] = NOTHING_MORE,
    ) -> AgentSession:
        """Make a session and let the agent's own hook see it.

        `about` is what else the record of the session is to hold; here as in `attach` and `fork`.
        """
        from accord.agent.session.session import new_session_id
        from accord.store import SessionRecord

        await self._hook(self.agent.folder_check, cwd)
        record = SessionRecord(new_session_id(), cwd, directories, unused=True, **about)
        log = await self.agent.store.create(record)
        session = await self._serve(record, log, mcp_servers)
        await self._begin(session)
        return session

    async def _begin(self, session: AgentSession) -> None:
        """Let the agent's hook see a new session; if it fails there never was one."""
        try:
            await session.touch()
            await self._hook(self.agent.session_hook, session)
        except BaseException:
            self.sessions.pop(session.id, None)
            with anyio.CancelScope(shield=True):
                await session.companions.close()
                await self.agent.store.delete(session.id)
            raise

    async def _serve(
        self, record: SessionRecord, log: Any, mcp_servers: tuple[Any, ...]
    ) -> AgentSession:
        from accord.agent.session.session import AgentSession

        session = AgentSession(
            self.connection,
            self.wire,
            self.agent.store,
            self.agent.offer,
            record,
            log,
            mcp_servers,
        )
        session.mcp_calls = self.mcp_calls
        session.terminals.reports = session.id in self._reporting
        let_go = partial(self._let_go, session)
        try:
            session.on_close(let_go)
        except LocalProtocolError:
            # The client has gone meanwhile, and nobody will close this session.
            await let_go()
            raise
        self.sessions[session.id] = session
        return session

    async def _let_go(self, session: AgentSession) -> None:
        """Give a session back to the store."""
        if not session.record.is_worth_keeping:
            if self.connection.error is not None:
                await self._forget_unused(session.id)
            else:
                # The client may open it again.
                self._unused.add(session.id)
        await self.agent.store.release(session.id)

    async def _forget_unused(self, session_id: str) -> None:
        """Do not keep a session that nobody has used: editors make one with each start."""
        others = (one.sessions.get(session_id) for one in self.agent.services if one is not self)
        if any(other is not None and not other.closed for other in others):
            return
        try:
            record = await self.agent.store.get(session_id)
            if record is not None and not record.is_worth_keeping:
                await self.agent.store.delete(session_id)
        except StoreError:
            # Another process has it by now, or it cannot be read.
            _log.info("the unused session %s is kept", session_id)

    async def attach(
        self,
        session_id: str,
        cwd: str,
        directories: tuple[str, ...],
        mcp_servers: tuple[Any, ...],
        about: Mapping[str, Any] = NOTHING_MORE,
    ) -> AgentSession:
        """Go on with a stored session, with the folders and servers that were sent, no others."""
        while (active := self.sessions.get(session_id)) is not None and active.closing:
            await active.gone.wait()
        if active is not None:
            await self._hook(self.agent.folder_check, cwd)
            # Its work, and what was said about it, goes on; only the surroundings are new.
            active.mcp_servers = mcp_servers
            await active.amend(cwd=cwd, additional_directories=directories, **about)
            if not active.foreground.is_busy:
                await self._hook(self.agent.session_hook, active)
            return active
        record = await self.agent.store.get(session_id)
        if record is not None:
            await self._hook(self.agent.folder_check, cwd)
        log = await self.agent.store.open(session_id)
        if record is None or log is None:
            raise RequestError.session_missing(session_id)
        record = replace(record, cwd=cwd, additional_directories=directories, **about)
        session = await self._serve(record, log, mcp_servers)
        if record.turn_open:
            session.last_stop = ("error", cut_off_error())
            await session.record_only(interruption(session.new_id("message")))
        await session.amend(turn_open=False)
        await self._hook(self.agent.session_hook, session)
        return session

    async def fork(
        self,
        session_id: str,
        cwd: str,
        directories: tuple[str, ...],
        mcp_servers: tuple[Any, ...],
        about: Mapping[str, Any] = NOTHING_MORE,
    ) -> AgentSession:
        """A new session with the same past; the old one is not touched."""
        source = await self.agent.store.get(session_id)
        if source is None:
            raise RequestError.session_missing(session_id)
        await self._hook(self.agent.folder_check, cwd)
        place = {"cwd": cwd, "additional_directories": directories}
        from accord.agent.session.session import new_session_id

        fresh = {"session_id": new_session_id(), "archived": False, "titled_by_user": False}
        changes: dict[str, Any] = {**fresh, **place, **about, "turn_open": False}
        record = replace(source, **changes)
        log = await self.agent.store.fork(session_id, record)
        if log is None:
            raise RequestError.session_missing(session_id)
        session = await self._serve(record, log, mcp_servers)
        await self._begin(session)
        return session

    async def replay(self, session: AgentSession) -> None:
        """Send the past of a session again; notices and states are of the moment only.

        What the past left open, and nobody works on now, is ended.
        """
        self.wire.forget(session.id)
        unfinished = Unfinished()
        try:
            with session.replaying():
                await self._tell_past(session, unfinished)
        except StoreError:
            # Nobody can go on with a session whose past cannot be read.
            await self.close_session(session)
            raise
        if not session.foreground.is_busy:
            for ending in unfinished.endings(session.terminals.running_ids()):
                await session.emit(ending)

    async def _tell_past(self, session: AgentSession, unfinished: Unfinished) -> None:
        from accord.agent.serving.replayed_chunks import MESSAGES, PIECES, ReplayedPieces
        from accord.agent.serving.replayed_state import FOLDED, ReplayedState
        from accord.agent.session.introduction import OF_THE_MOMENT

        wire = self.wire
        plain = frozenset({v2.AgentMessageChunk, v2.AgentThoughtChunk, v2.UserMessageChunk})
        # A past may be very long: what is the same for all of it is looked up once.
        session_id, told, see = session.id, wire.told, unfinished.see
        past = self.connection.gather(SESSION_UPDATE, *wire.envelope(session_id))
        add, text = past.add, v2.TextContent
        as_it_is = plain if wire.pieces_alike else frozenset[Any]()
        held = {"none": None, "messages": MESSAGES, "all": PIECES}[wire.held_again]
        before = None if held is None else ReplayedPieces(held).before
        state = ReplayedState(
            has_plan_ids=wire.features.plans, is_held_again=wire.held_again == "all"
        )

        def tell(update: Any) -> bool:
            """Add an update to what is sent; whether that has become enough for now."""
            is_enough = False
            first = None if before is None else before(update)
            if first is not None:
                for said in told(session_id, first):
                    is_enough |= add(said)
            if type(update) in as_it_is and type(update.content) is text:
                # What most of a past is made of, said alike by v1 and v2.
                return add(update) or is_enough
            for said in told(session_id, update):
                is_enough |= add(said)
            return is_enough

        is_holding = False
        async for update in session.log.replay():
            kind = type(update)
            if kind not in plain:
                if kind in OF_THE_MOMENT:
                    continue
                see(update)
            if not is_holding and kind not in FOLDED:
                if tell(update):
                    await past.flush()
                continue
            for one in state.take(update):
                if tell(one):
                    await past.flush()
            is_holding = state.is_holding
        for one in state.rest():
            if tell(one):
                await past.flush()
        await past.flush()

    async def list_sessions(
        self, cwd: str | None, cursor: str | None, archived: bool | None = None
    ) -> Page:
        """One page of what the store knows, of both kinds unless `archived` says which."""
        from accord.store.interface import BadCursor

        try:
            return await self.agent.store.list(cwd, cursor, archived)
        except BadCursor:
            raise RequestError.invalid_params("unknown cursor", "$.cursor") from None

    async def close_session(self, session: AgentSession) -> None:
        """Cancel its work, wait for the end of it, and let it go.  Once begun it is finished."""
        session.closing = True
        with anyio.CancelScope(shield=True):
            session.foreground.cancel_all()
            with anyio.move_on_after(running.CANCEL_SECONDS_MAX + 1):
                await session.foreground.wait_idle()
            await session.terminals.close()
            await session.companions.close()
        session.closed = True
        if session.terminals.reports:
            self._reporting.add(session.id)
        self.wire.forget(session.id)
        if self.sessions.get(session.id) is session:
            del self.sessions[session.id]
        session.gone.set()

    async def delete_session(self, session_id: str) -> None:
        """Forget a session; one that is unknown is as good as forgotten."""
        session = self.sessions.get(session_id)
        if session is not None:
            await self.close_session(session)
        self._reporting.discard(session_id)
        await self.agent.store.delete(session_id)

    def lost(self, error: ConnectionLost) -> None:
        """The client is gone: everything stops."""
        for session in self.sessions.values():
            session.foreground.cancel_all()
            session.closed = True
            if session.companions:
                self.connection.tasks.start_soon(session.companions.close, name="farewells")
        for session_id in self._unused - self.sessions.keys():
            self.connection.tasks.start_soon(self._forget_unused, session_id, name="unused session")

    # ---- turns

    def check_prompt(self, blocks: list[Any]) -> None:
        """Refuse content that this agent does not take, before anything happens."""
        takes = self.agent.prompt_types
        for index, block in enumerate(blocks):
            kind = describe(block)
            if kind not in takes:
                raise RequestError.invalid_params(
                    f"this agent takes no {kind!r} content", f"$.prompt[{index}].type"
                )

    # ---- logins

    async def authenticate(self, method_id: str, request: IncomingRequest) -> None:
        """Log in by one of the methods that were offered."""
        method = self.agent.auth_methods.get(method_id)
        if method is None or method.is_terminal:
            raise RequestError.invalid_params(f"unknown auth method {method_id!r}", "$.methodId")
        hook = self.agent.authenticate_hook
        if hook is not None:
            from accord.agent.login.login import Login

            login = Login(self.connection, self.wire, request, method_id)
            try:
                await hook(method_id, login, {})
            finally:
                login.finish()
        self.authenticated = True
        await self._login_changed()

    async def logout(self) -> None:
        """Forget the login."""
        await self._hook(self.agent.logout_hook)
        self.authenticated = False
        await self._login_changed()

    @cached_property
    def auth_status(self) -> AuthStatusReporter:
        """What the client knows of its login (unstable)."""
        from accord.agent.login.auth_status import AuthStatusReporter

        return AuthStatusReporter(self)

    async def _login_changed(self) -> None:
        if self.agent.unstable:
            await self.auth_status.announce()

    async def _hook(self, hook: Callable[..., Awaitable[None]] | None, *args: Any) -> None:
        if hook is not None:
            await hook(*args)

    # ---- extensions

    def extension_request(self, method: str, params: Raw) -> Callable[[], Awaitable[bytes]] | None:
        """The work behind a method of the agent's own, or None when there is none."""
        extension = self.agent.extensions.get(method)
        if extension is None or extension.is_notification:
            return None
        value = _decoded(extension.params, params)

        async def work() -> bytes:
            return encode(await extension.handler(value))

        return work

    def extension_notification(self, method: str, params: Raw) -> bool:
        """Start the handler of a notification of the agent's own; False when there is none."""
        extension = self.agent.extensions.get(method)
        if extension is None or not extension.is_notification:
            return False
        value = _decoded(extension.params, params)

        async def work() -> None:
            try:
                await self.guard.run(extension.handler(value))
            except Exception as error:  # noqa: BLE001 - nobody is there to be told
                error_for(error, method)

        self.connection.run(work)
        return True


def _decoded(wanted: Any, params: Raw) -> Any:
    try:
        return decode(wanted, params)
    except Invalid as error:
        raise RequestError.invalid_params(error.reason, error.path) from None
