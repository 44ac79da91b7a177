"""The life of a client: it starts and stops the agent, calls it, logs in, and opens sessions.

`Client` is the public face of it.

What always holds
    * After `stop`, nothing is left that was started for the agent.
    * When the block of `async with Client.spawn(...)` is left, in whatever way, the connection is
      over, and an exception of the block comes out unchanged.  `sys.exit` in a callback, such as a
      permission callback, leaves the block as `SystemExit`.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint_if_cancelled

from accord.client import login as auth
from accord.client.connection.agent_connection import AgentLink
from accord.client.connection.capabilities import AgentCapabilities, not_offered, not_switched_on
from accord.client.connection.handshake import INVALID_PARAMS, SpeaksDraft, shake_hands
from accord.client.connection.message_handler import MessageHandler
from accord.client.options import Options, make_offer
from accord.client.session.request_checks import check_place, explain_spawn
from accord.client.session.state import SessionCore, UpdateListener
from accord.client.wire.wire_interface import AuthMethod, Request, Setup, unreadable
from accord.errors import (
    AuthenticationRequired,
    ConnectionLost,
    LocalProtocolError,
    RemoteProtocolError,
    RequestFailed,
    SpawnFailed,
)
from accord.lazy_names import undisturbed
from accord.machine.redacted_logs import logger
from accord.schema import v1
from accord.schema.codec import Invalid
from accord.schema.struct import Raw
from accord.transport.transport import Transport

C = TypeVar("C")
_HOW = "enter the client first: async with Client.spawn(...) as client"
T = TypeVar("T")

_log = logger("accord.client")


class ClientCore:
    """The library's side of one client.

    Guards: there is one link at a time, and calls go to the open one.
    """

    def __init__(
        self,
        make_transport: Callable[[], Transport],
        options: Options,
        command: tuple[str, ...] = (),
        *,
        again: bool = True,
    ) -> None:
        """With `again`, the transport can be made again, which restarts the agent."""
        self._make_transport = make_transport
        self._again = again
        self.options = options
        # The agent's command, for a login that runs it again.
        self._command = command
        # Identifies the agent from one start to the next.
        address = options.draft.address
        self._name = command or (() if address is None else (address,))
        self._tasks: TaskGroup | None = None
        self._link: AgentLink[SessionCore] | None = None
        # While a login restarts the agent: set when the restart is done.
        self._restart: anyio.Event | None = None
        # Wraps a new session in the public `Session`; set by the client.
        self.adopt: Callable[[SessionCore], None]

    async def start(self, tasks: TaskGroup) -> None:
        """Connect to the agent and do the handshake, with tasks in this group."""
        self._tasks = tasks
        known = self._known_dialect()
        if known is not None:
            from accord.client.wire.draft.handshake import begin_known

            if await begin_known(self, *known):
                return
        first: RequestFailed | None = None
        try:
            await self.begin(self._shake_hands)
            return
        except SpeaksDraft:
            pass
        except RequestFailed as error:
            if error.code != INVALID_PARAMS or 1 not in self.options.versions:
                raise
            first = error
        from accord.client.wire.draft.handshake import begin_in_draft

        await begin_in_draft(self, first)

    async def begin(self, handshake: Callable[[AgentLink[SessionCore]], Awaitable[None]]) -> None:
        """Open a connection with this handshake; an agent that was asked before is restarted."""
        assert self._tasks is not None
        if self._link is not None:
            if not self._again and self._link.connection.error is None:
                # There is only this connection, without an agreed version yet.
                await handshake(self._link)
                return
            await self._link.aclose()
        serving = MessageHandler(self.options)
        link = AgentLink[SessionCore](self._make_transport(), self.options, serving)
        serving.link = self._link = link
        try:
            await self._tasks.start(link.run)
        except SpawnFailed as error:
            raise explain_spawn(error, self._command) from error
        link.outlive()
        # A cancellation until here has ended the connection too; the program is not told of that.
        await checkpoint_if_cancelled()
        await handshake(link)

    async def _shake_hands(self, link: AgentLink[SessionCore]) -> None:
        link.speak_directly()
        if 1 in self.options.versions:
            _preload_v1()
        await shake_hands(link, make_offer(self.options))

    # ---- the memory of dialects

    def _known_dialect(self) -> tuple[str, str] | None:
        memory = self.options.draft.dialects
        if memory is None or not self._name or 1 not in self.options.versions:
            return None
        return memory.recall(self._name)

    def remember_dialect(self, dialect: str, version: str) -> None:
        """Remember the dialect of the agent, and the version that it reported."""
        if self.options.draft.dialects is not None and self._name:
            self.options.draft.dialects.remember(self._name, dialect, version)

    def forget_dialect(self) -> None:
        """Forget the dialect of the agent."""
        if self.options.draft.dialects is not None and self._name:
            self.options.draft.dialects.forget(self._name)

    async def stop(self) -> None:
        """End the connection and everything that was started for the agent."""
        if self._link is not None:
            await self._link.aclose()

    async def wait_closed(self) -> ConnectionLost:
        """Wait for the end of the connection; a restart by a login does not count."""
        while True:
            link = self.link
            await link.connection.closed.wait()
            if self._restart is not None:
                await self._restart.wait()
            elif link is self.link:
                return link.connection.error or ConnectionLost("the connection was closed")

    # ---- the agent

    @property
    def capabilities(self) -> AgentCapabilities:
        """The capabilities that the agent offers."""
        return self.link.facts.capabilities

    @property
    def auth_methods(self) -> tuple[AuthMethod, ...]:
        """The ways to log in that the agent offers."""
        return self.link.facts.auth_methods

    @property
    def link(self) -> AgentLink[SessionCore]:
        """The current connection, open or not."""
        assert self._link is not None, "the client has not been entered"
        return self._link

    @property
    def open_link(self) -> AgentLink[SessionCore]:
        """The current connection.

        Raises:
            ConnectionLost: it is closed; the error says why.
        """
        link = self.link
        if link.connection.error is not None:
            raise link.connection.error
        return link

    def require(self, capability: str, what: str, *, unstable: bool = False) -> None:
        """Check that the agent offers a capability.

        Raises:
            LocalProtocolError: it does not, or an unstable capability was not switched on.
        """
        if unstable and not self.options.unstable:
            raise not_switched_on(what)
        if not getattr(self.capabilities, capability):
            raise not_offered(what)

    # ---- calling

    async def call(
        self,
        link: AgentLink[SessionCore] | None,
        method: str,
        params: bytes,
        *,
        on_result: Callable[[Raw], None] | None = None,
    ) -> Raw:
        """Call the agent; if it asks for a login and we can log in, do so and try again.

        With a link, only that link is used: its sessions do not survive a new one, so a login that
        restarts the agent would not help.

        Raises:
            RequestFailed: the agent answered with an error.
            RemoteProtocolError: its answer could not be read.
            ConnectionLost: the agent is gone.
        """
        try:
            try:
                return await (link or self.open_link).call(method, params, on_result=on_result)
            except AuthenticationRequired as error:
                await self.log_in_after(error, link)
            return await (link or self.open_link).call(method, params, on_result=on_result)
        except Invalid as error:
            raise unreadable(method, error) from None

    async def log_in_after(
        self, error: AuthenticationRequired, link: AgentLink[SessionCore] | None
    ) -> None:
        """Log in because the agent asked for it, or raise its error if we cannot."""
        if not await self._log_in(may_restart=link is None):
            raise error

    async def read(
        self,
        request: Request,
        read: Callable[[Raw], T],
        *,
        link: AgentLink[SessionCore] | None = None,
    ) -> T:
        """Call the agent and read its answer; raises only what `call` raises."""
        method, params = request
        try:
            return read(await self.call(link, method, params))
        except Invalid as error:
            raise unreadable(method, error) from None

    # ---- opening sessions

    async def open_session(
        self,
        request: Request,
        session_id: str | None,
        setup: Setup,
        on_update: UpdateListener | None,
    ) -> SessionCore:
        """Send the request and make the session, in wire order with its updates.

        A session with an id is one that the agent knows already.
        """
        method, params = request
        begun: list[SessionCore] = []
        if session_id is not None:
            if session_id in self.open_link.sessions:
                raise LocalProtocolError(
                    f"the session {session_id!r} is already open; close it first"
                )
            # The history comes before the answer, and goes straight into the transcript.
            begun.append(self._add_session(session_id, setup, on_update))

        def opened(result: Raw) -> None:
            answer = self.link.wire.read_opened(method, result)
            check_place(self.link.wire.folder_of(answer), setup)
            if not begun:
                begun.append(self._add_session(answer.session_id, setup, on_update))
            state = begun[0]
            for update in self.link.early.take(state.id):
                try:
                    state.apply(update)
                except Exception:  # noqa: BLE001 - a listener may raise anything
                    _log.exception("handling an early session/update failed")
            state.transcript.session_setup(answer)

        try:
            await self.call(None, method, params, on_result=opened)
        except BaseException:
            for state in begun:
                state.over()
            raise
        return begun[0]

    def _add_session(
        self, session_id: str, setup: Setup, on_update: UpdateListener | None
    ) -> SessionCore:
        link = self.open_link
        if session_id in link.sessions:
            raise RemoteProtocolError(f"the session {session_id!r} is already open")
        state = SessionCore(self, link, session_id, setup, on_update)
        self.adopt(state)
        link.add_session(state)
        return state

    # ---- logging in and out

    async def authenticate(self, method_id: str | None = None) -> None:
        if self.open_link.wire.logs_in_by_credential:
            if not await self._log_in_by_credential():
                raise auth.needs_credential()
            return
        await self._log_in_by(auth.find(method_id, self.auth_methods))

    async def _log_in_by_credential(self) -> bool:
        from accord.client.wire.draft.login import DraftLogin

        link = self.open_link
        if link.credential_login is None:
            link.credential_login = DraftLogin(link, inherits=bool(self._command))
        return await link.credential_login.log_in()

    async def _log_in(self, *, may_restart: bool) -> bool:
        if self.open_link.wire.logs_in_by_credential:
            return await self._log_in_by_credential()
        if self.options.login is None:
            return False
        method = await auth.choose(self.options.login, self.auth_methods)
        if method is None or (method.kind == "terminal" and not may_restart):
            return False
        await self._log_in_by(method)
        return True

    async def _log_in_by(self, method: AuthMethod) -> None:
        if method.kind == "agent":
            link = self.open_link
            await link.call(*link.wire.login(method.method_id))
        elif method.kind == "terminal":
            await self._log_in_by_terminal(method)
        else:
            raise auth.unknown_type(method)

    async def _log_in_by_terminal(self, method: AuthMethod) -> None:
        """Run the agent's program in a terminal for the login, then restart the agent."""
        run = self.options.login_terminal
        if run is None or not self._command:
            raise auth.needs_terminal(method)
        status = await run((*self._command, *method.args), method.env)
        if status != 0:
            raise auth.LoginFailed(method.name, status)
        assert self._tasks is not None
        restarted = self._restart = anyio.Event()
        try:
            await self.link.aclose()
            await self.start(self._tasks)
        finally:
            self._restart = None
            restarted.set()


def _preload_v1() -> None:
    """Load the modules that most agents need, while the agent's process starts."""
    with undisturbed():
        for module in ("wire.v1.wire", "wire.v1.files"):
            import_module(f"accord.client.{module}")
        # Reading a type loads its module.
        _ = v1.ReadTextFileRequest, v1.SessionNotification


class ClientContext(AbstractAsyncContextManager[C], Generic[C]):
    """Connects a client on entry, and closes it on exit."""

    def __init__(self, connected: ClientCore, make: Callable[[ClientCore], C]) -> None:
        self._core = connected
        self._make = make
        self._tasks: TaskGroup | None = None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            # Called for missing attributes only: somebody uses this as the client.
            raise AttributeError(f"{_HOW}; {name!r} exists only then")

    async def __aenter__(self) -> C:
        if self._tasks is not None:
            raise LocalProtocolError(
                "a client can be entered only once; spawn or connect another one"
            )
        client = self._make(self._core)
        self._tasks = tasks = anyio.create_task_group()
        await tasks.__aenter__()
        try:
            await self._core.start(tasks)
        except BaseException:
            await self._end(tasks)
            raise
        return client

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._tasks is not None
        await self._end(self._tasks)

    async def _end(self, tasks: TaskGroup) -> None:
        try:
            with anyio.CancelScope(shield=True):
                await self._core.stop()
        finally:
            # The block's exception is not raised inside the group, which would wrap it.
            tasks.cancel_scope.cancel()
            try:
                await tasks.__aexit__(None, None, None)
            except BaseExceptionGroup as group:
                raise meant(group) from None


def meant(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The exception to raise for a group: the one that ends the program, else the only one."""
    exits = group.subgroup((SystemExit, KeyboardInterrupt))
    inner: BaseException = group if exits is None else exits
    while isinstance(inner, BaseExceptionGroup) and (exits or len(inner.exceptions) == 1):
        inner = inner.exceptions[0]
    return inner
