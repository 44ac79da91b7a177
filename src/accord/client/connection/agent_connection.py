"""One connection to the agent: its transport, its services, and the agreed version.

A client has one at a time; a login in a terminal gives it a new one.  It lives in a task of its
own, so that it does not depend on where the program begins and ends it.  When the program is
cancelled it lives on until the client's block is left, so that turns are cancelled properly and a
cancelled program does not see a lost connection instead.

What always holds: `wire` and `facts` are set as soon as the answer to `initialize` is read, before
any later message is handled.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import anyio
from anyio.abc import TaskStatus

from accord.client.connection.error_context import STDOUT_HINT, add_stderr
from accord.client.login import add_ways
from accord.client.options import Options
from accord.client.services.services import Services
from accord.client.session.retry import RetrySchedule
from accord.client.session.unclaimed_updates import FORMER_IDS_MAX, EarlyUpdates
from accord.client.wire.wire_interface import AgentFacts, AuthStatus, Wire
from accord.connection.connection import Connection, Handler
from accord.errors import (
    AuthenticationRequired,
    RateLimited,
    RemoteProtocolError,
    RequestError,
    RequestFailed,
)
from accord.machine.redacted_logs import logger
from accord.schema.struct import Raw
from accord.transport.transport import Transport

_log = logger("accord.client")

# The reason that a translation gives for an answer of the agent that cannot be read.
UNREADABLE = "unreadable_answer"


class LinkedSession(Protocol):
    """A session of an agent link."""

    @property
    def id(self) -> str:
        """The id that the agent gave it."""
        ...

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders that it may touch, the working folder first."""
        ...


class AgentTranslation(Protocol):
    """Stands between a link and an agent that speaks another dialect."""

    @property
    def connection(self) -> Connection:
        """The connection that speaks an official version."""
        ...

    def leave(self) -> Connection:
        """Speak to the agent directly again; the connection to it."""
        ...

    def forget(self, session_id: str) -> None:
        """A session was closed here."""
        ...

    def keep(self, credentials: dict[str, Any]) -> None:
        """Keep the credentials of the login that is asked for next."""
        ...


class CredentialLogin(Protocol):
    """Logs in to an agent that asks for a credential."""

    async def log_in(self) -> bool:
        """Send a credential; False where there is none."""
        ...


S = TypeVar("S", bound=LinkedSession)


class AgentLinkHandler(Handler, Protocol):
    """Handles the messages of a link."""

    def agreed(self, link: "AgentLink[Any]") -> None:
        """Serve what comes from now on: the handshake is done."""
        ...


class AgentLink(Generic[S]):
    """The client's end of one connection.

    Guards: a session id names at most one session, and calls are sent only after the handshake.
    """

    wire: Wire
    facts: AgentFacts

    def __init__(self, transport: Transport, options: Options, handler: AgentLinkHandler) -> None:
        self.options = options
        if options.traffic is not None:
            from accord.client.connection.traffic_tap import TrafficTap

            transport = TrafficTap(transport, options.traffic)
        self.transport = transport
        self._handler = handler
        self.connection = Connection(
            transport,
            handler,
            limits=options.limits,
            framing=options.framing,
            strict=options.strict,
        )
        self.connection.mistakes.bad_line_hint = STDOUT_HINT
        self.services = Services(options, self.connection)
        self.sessions: dict[str, S] = {}
        self.early = EarlyUpdates(options.limits.early_updates)
        self.connection.reading.consumers.add(self.early)
        # Closed sessions: late messages about them are not mistakes.
        self.former_ids: deque[str] = deque(maxlen=FORMER_IDS_MAX)
        # The login state that the agent announced last.
        self.auth_status: AuthStatus | None = None
        # Set where the agent speaks another dialect than an official one.
        self.translation: AgentTranslation | None = None
        # Set from the first login by a credential on.
        self.credential_login: CredentialLogin | None = None
        # Whether the program sends our own messages back to us.
        self.is_echo = False
        # Of `run`, while it runs.
        self._scope: anyio.CancelScope | None = None
        self._stop = anyio.Event()
        self._stopped = anyio.Event()

    def translate(
        self, make: "Callable[[AgentLink[S], AgentLinkHandler], AgentTranslation]"
    ) -> None:
        """Speak an official version to a translation from now on."""
        self.translation = make(self, self._handler)
        self.connection = self.translation.connection
        self.connection.reading.consumers.add(self.early)

    def speak_directly(self) -> None:
        """Speak to the agent itself, in an official version."""
        if self.translation is not None:
            self.connection = self.translation.leave()
            self.translation = None
        self.connection.agree_on(None)

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run the connection until `aclose`, or until it is cancelled before `outlive`."""
        try:
            with anyio.CancelScope() as self._scope:
                async with self.connection:
                    task_status.started()
                    await self._stop.wait()
                    await self.services.aclose()
        finally:
            self._stopped.set()

    def outlive(self) -> None:
        """Outlive the cancellation of the client from now on: `aclose` ends the connection.

        Whoever started `run` says so, and `run` itself cannot: the starter may be cancelled at the
        moment in which it learns of the start, and then waits until the cancelled `run` ends.
        """
        assert self._scope is not None, "run has been started"
        self._scope.shield = True

    async def aclose(self) -> None:
        """End the connection and everything that belongs to it."""
        self._stop.set()
        await self._stopped.wait()

    def add_session(self, session: S) -> None:
        """Add a session, and tell the services its folders."""
        self.sessions[session.id] = session
        self.services.add_session(session.id, session.roots)

    def session(self, session_id: str) -> S:
        """The session with this id.

        Raises:
            RequestError: there is none.
        """
        found = self.sessions.get(session_id)
        if found is None:
            raise RequestError.session_missing(session_id)
        return found

    def remove_session(self, session: S) -> None:
        """Remove a session, here and from the services."""
        if self.sessions.pop(session.id, None) is not None:
            self.services.remove_session(session.id)
            if self.translation is not None:
                self.translation.forget(session.id)
            self.former_ids.append(session.id)

    def settle(self, wire: Wire, facts: AgentFacts) -> None:
        """Use this wire form from now on."""
        self.facts = facts
        self.wire = wire
        self.services.begin(None if facts.info is None else facts.info.name)
        self.connection.peer.set_version(wire.version)
        self._handler.agreed(self)

    @property
    def may_log_in(self) -> bool:
        """Whether there may be a way to log in when the agent asks for it."""
        return self.options.login is not None or self.wire.logs_in_by_credential

    async def explain(self, error: Exception) -> None:
        """Add notes to an error: the ways to log in, and the agent's stderr."""
        if isinstance(error, AuthenticationRequired) and hasattr(self, "facts"):
            add_ways(error, self.facts.auth_methods)
        await add_stderr(error, self.transport)

    async def call(
        self,
        method: str,
        params: bytes,
        *,
        on_result: Callable[[Raw], None] | None = None,
    ) -> Raw:
        """Call the agent; on rate limits, wait and try again as the options allow."""
        patience = RetrySchedule(self.options.retry)
        while True:
            try:
                return await self.connection.call(method, params, on_result=on_result)
            except RequestFailed as error:
                if self.translation is not None and error.reason == UNREADABLE:
                    raise RemoteProtocolError(error.message) from None
                if not isinstance(error, RateLimited):
                    await self.explain(error)
                    raise
                seconds = patience.seconds_after(error)
                if seconds is None:
                    raise
                _log.info("%s: rate limited, next try in %g s", method, seconds)
                await anyio.sleep(seconds)
