"""What an agent does for one client, whatever its version: sessions, logins, extensions.

`requests.py` reads the requests, calls this, and encodes the results.
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
from accord.agent.session import turn_run
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
    from datetime import datetime

    # Loaded behind the answer to `initialize`.
    from accord.agent.definition import AgentDefinition
    from accord.agent.serving.unstable.auth_status_reports import AuthStatusReporter
    from accord.agent.session.state import SessionState
    from accord.store import Page, SessionRecord

_log = logger("accord.agent")

NOTHING_MORE: Mapping[str, Any] = MappingProxyType({})


class Service:
    """Serves one connection.  Guards: a session is served by one object at a time."""

    def __init__(self, agent: AgentDefinition, connection: Connection, wire: Wire) -> None:
        self.agent = agent
        self.connection = connection
        self.wire = wire
        self.sessions: dict[str, SessionState] = {}
        # Closed sessions that reported background work; when resumed they report it again.
        self._reporting: set[str] = set()
        # Closed sessions without a prompt; they are deleted with the connection.
        self._unused: set[str] = set()
        self.authenticated = False
        # When the login ends; None is with the connection.
        self.login_expires: datetime | None = None
        self.mcp_calls = McpCalls(connection)
        self.guard = Guard(connection)
        agent.services.add(self)

    # ---- sessions

    def session(self, session_id: str) -> SessionState:
        """An active session of this connection."""
        session = self.sessions.get(session_id)
        if session is None or session.closed or session.closing:
            raise RequestError.session_missing(session_id)
        return session

    def require_login(self) -> None:
        """Refuse until the client has logged in, if the agent requires that."""
        if self.login_expires is not None:
            from accord.machine import clock

            if clock.now() >= self.login_expires:
                self.login_expires, self.authenticated = None, False
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
    ) -> SessionState:
        """Make a session and show it to the agent's hook.

        `about` has more fields for the record of the session, as in `attach` and `fork`.
        """
        from accord.agent.session.state import new_session_id
        from accord.store import SessionRecord

        await self._hook(self.agent.folder_check, cwd)
        record = SessionRecord(new_session_id(), cwd, directories, unused=True, **about)
        log = await self.agent.store.create(record)
        session = await self._serve(record, log, mcp_servers)
        await self._begin(session)
        return session

    async def _begin(self, session: SessionState) -> None:
        """Show a new session to the agent's hook; if that fails, delete the session."""
        try:
            await session.stored.touch()
            await self._show(session)
        except BaseException:
            self.sessions.pop(session.id, None)
            with anyio.CancelScope(shield=True):
                await session.tasks.close()
                await self.agent.store.delete(session.id)
            raise

    async def _serve(
        self, record: SessionRecord, log: Any, mcp_servers: tuple[Any, ...]
    ) -> SessionState:
        from accord.agent.session.state import open_session

        session = open_session(
            self.connection,
            self.wire,
            self.agent.store,
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
        self.sessions[session.id] = session
        return session

    async def _release(self, session: SessionState) -> None:
        """Give a session back to the store."""
        if not session.record.is_worth_keeping:
            if self.connection.error is not None:
                await self._delete_unused(session.id)
            else:
                # The client may open it again.
                self._unused.add(session.id)
        await self.agent.store.release(session.id)

    async def _delete_unused(self, session_id: str) -> None:
        """Delete a session without a prompt: editors make one with every start."""
        others = (one.sessions.get(session_id) for one in self.agent.services if one is not self)
        if any(other is not None and not other.closed for other in others):
            return
        try:
            record = await self.agent.store.get(session_id)
            if record is not None and not record.is_worth_keeping:
                await self.agent.store.delete(session_id)
        except StoreError:
            # Another process has opened it, or it cannot be read.
            _log.info("the unused session %s is kept", session_id)

    async def attach(
        self,
        session_id: str,
        cwd: str,
        directories: tuple[str, ...],
        mcp_servers: tuple[Any, ...],
        about: Mapping[str, Any] = NOTHING_MORE,
    ) -> SessionState:
        """Go on with a stored session, with the folders and servers of the request only."""
        while (active := self.sessions.get(session_id)) is not None and active.closing:
            await active.gone.wait()
        if active is not None:
            await self._hook(self.agent.folder_check, cwd)
            # Its work goes on; only the surroundings are new.
            active.mcp_servers = mcp_servers
            await active.stored.amend(cwd=cwd, additional_directories=directories, **about)
            if not active.prompts.is_busy:
                await self._show(active)
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
            await session.updates.record_only(interruption(session.new_id("message")))
        await session.stored.amend(turn_open=False)
        await self._show(session)
        return session

    async def fork(
        self,
        session_id: str,
        cwd: str,
        directories: tuple[str, ...],
        mcp_servers: tuple[Any, ...],
        about: Mapping[str, Any] = NOTHING_MORE,
    ) -> SessionState:
        """Make a new session with the same past; the old one stays as it is."""
        source = await self.agent.store.get(session_id)
        if source is None:
            raise RequestError.session_missing(session_id)
        await self._hook(self.agent.folder_check, cwd)
        place = {"cwd": cwd, "additional_directories": directories}
        from accord.agent.session.state import new_session_id

        fresh = {"session_id": new_session_id(), "archived": False, "titled_by_user": False}
        changes: dict[str, Any] = {**fresh, **place, **about, "turn_open": False}
        record = replace(source, **changes)
        log = await self.agent.store.fork(session_id, record)
        if log is None:
            raise RequestError.session_missing(session_id)
        session = await self._serve(record, log, mcp_servers)
        await self._begin(session)
        return session

    async def replay(self, session: SessionState) -> None:
        """Send the past of a session again, without notices and states.

        Open items of the past that are no longer worked on are ended.
        """
        self.wire.forget(session.id)
        unfinished = Unfinished()
        try:
            with session.updates.replaying():
                await self._send_past(session, unfinished)
        except StoreError:
            # A session whose past cannot be read cannot go on.
            await self.close_session(session)
            raise
        if not session.prompts.is_busy:
            for ending in unfinished.endings(session.terminals.running_ids()):
                await session.updates.emit(ending)

    async def _send_past(self, session: SessionState, unfinished: Unfinished) -> None:
        from accord.agent.serving.replayed_chunks import CHUNKS, MESSAGES, ReplayResets
        from accord.agent.serving.replayed_state import FOLDED, ReplayedState
        from accord.agent.session.updates import OF_THE_MOMENT

        wire = self.wire
        plain = frozenset({v2.AgentMessageChunk, v2.AgentThoughtChunk, v2.UserMessageChunk})
        # A past may be very long, so everything that stays the same is looked up once.
        session_id, told, see = session.id, wire.told, unfinished.see
        past = self.connection.gather(SESSION_UPDATE, *wire.envelope(session_id))
        add, text = past.add, v2.TextContent
        as_it_is = plain if wire.pieces_alike else frozenset[Any]()
        held = {"none": None, "messages": MESSAGES, "all": CHUNKS}[wire.held_again]
        before = None if held is None else ReplayResets(held).before
        state = ReplayedState(
            has_plan_ids=wire.features.plans, is_held_again=wire.held_again == "all"
        )

        def tell(update: Any) -> bool:
            """Add an update; return whether enough has gathered to be sent."""
            is_enough = False
            first = None if before is None else before(update)
            if first is not None:
                for said in told(session_id, first):
                    is_enough |= add(said)
            if type(update) in as_it_is and type(update.content) is text:
                # Most of a past is text chunks, which are the same in v1 and v2.
                return add(update) or is_enough
            for said in told(session_id, update):
                is_enough |= add(said)
            return is_enough

        is_holding = False
        async for update in session.updates.log.replay():
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
        """One page of the stored sessions; `archived` selects one kind."""
        from accord.store.interface import BadCursor

        try:
            return await self.agent.store.list(cwd, cursor, archived)
        except BadCursor:
            raise RequestError.invalid_params("unknown cursor", "$.cursor") from None

    async def close_session(self, session: SessionState) -> None:
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
            self._reporting.add(session.id)
        self.wire.forget(session.id)
        if self.sessions.get(session.id) is session:
            del self.sessions[session.id]
        session.gone.set()

    async def delete_session(self, session_id: str) -> None:
        """Delete a session; an unknown one counts as deleted."""
        session = self.sessions.get(session_id)
        if session is not None:
            await self.close_session(session)
        self._reporting.discard(session_id)
        await self.agent.store.delete(session_id)

    def lost(self, error: ConnectionLost) -> None:
        """Stop everything, since the client is gone."""
        for session in self.sessions.values():
            session.prompts.cancel_all()
            session.updates.closed = True
            if session.tasks:
                self.connection.tasks.start_soon(session.tasks.close, name="close callbacks")
        for session_id in self._unused - self.sessions.keys():
            self.connection.tasks.start_soon(self._delete_unused, session_id, name="unused session")

    # ---- turns

    def check_prompt(self, blocks: list[Any]) -> None:
        """Refuse content that this agent does not accept, before anything happens."""
        takes = self.agent.prompt_types
        for index, block in enumerate(blocks):
            kind = describe(block)
            if kind not in takes:
                raise RequestError.invalid_params(
                    f"this agent does not accept {kind!r} content", f"$.prompt[{index}].type"
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
        await self.announce_auth_status()

    async def logout(self) -> None:
        """Call the program's logout function, and forget the login."""
        await self._hook(self.agent.logout_hook)
        self.authenticated = False
        await self.announce_auth_status()

    @cached_property
    def auth_status(self) -> AuthStatusReporter:
        """Reports the status of the login to this client (unstable)."""
        from accord.agent.serving.unstable.auth_status_reports import AuthStatusReporter

        return AuthStatusReporter(
            self.agent, self.connection, self.wire.features, lambda: self.authenticated
        )

    async def announce_auth_status(self) -> None:
        """Tell the client if the status of its login has changed (unstable)."""
        if self.agent.unstable:
            await self.auth_status.announce()

    async def _show(self, session: SessionState) -> None:
        """Call the program's function for sessions; what it says waits for the answer."""
        hook = self.agent.session_hook
        if hook is not None:
            from accord.agent.session.session import public_session

            session.updates.hold()
            await hook(public_session(session))

    async def _hook(self, hook: Callable[..., Awaitable[None]] | None, *args: Any) -> None:
        if hook is not None:
            await hook(*args)

    # ---- extensions

    def extension_request(self, method: str, params: Raw) -> Callable[[], Awaitable[bytes]] | None:
        """The work of an extension method, or None if the agent does not have it."""
        extension = self.agent.extensions.get(method)
        if extension is None or extension.is_notification:
            return None
        value = _decoded(extension.params, params)

        async def work() -> bytes:
            return encode(await extension.handler(value))

        return work

    def extension_notification(self, method: str, params: Raw) -> bool:
        """Start the handler of an extension notification; False if there is none."""
        extension = self.agent.extensions.get(method)
        if extension is None or not extension.is_notification:
            return False
        value = _decoded(extension.params, params)

        async def work() -> None:
            try:
                await self.guard.run(extension.handler(value))
            except Exception as error:  # noqa: BLE001 - a notification has no answer
                error_for(error, method)

        self.connection.run(work)
        return True


def _decoded(wanted: Any, params: Raw) -> Any:
    try:
        return decode(wanted, params)
    except Invalid as error:
        raise RequestError.invalid_params(error.reason, error.path) from None
