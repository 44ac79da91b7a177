"""The services of one connection: permissions, files, terminals, forms.

Each may be an object of the program's; its optional methods are called where it has them.  Session
ids are the agent's own, and two agents may use the same: `for_connection` gives each connection a
service of its own.

What always holds: when the connection is over, so is everything that a service started for it.
"""

import inspect
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import anyio

from accord.client.callbacks import call, guarded
from accord.client.options import Options
from accord.client.services.service_interfaces import (
    AnswersElicitations,
    Decides,
    RunsTerminals,
    StreamsOutput,
    result_of,
)
from accord.connection.connection import Connection
from accord.errors import RequestError
from accord.machine.redacted_logs import logger

_log = logger("accord.client")


class Services:
    """The services that an agent may use.  A service that is None was not offered."""

    def __init__(self, options: Options, connection: Connection) -> None:
        self._connection = connection
        # Made when the end begins, and set when everything has ended.
        self._closed: anyio.Event | None = None
        self.permissions: Decides = options.permissions
        # Some of the interfaces in `service_interfaces.py`, each looked for where it is used.
        self.files: Any = _own(options.files)
        self.terminals: RunsTerminals | None = options.terminals
        self.elicitation: AnswersElicitations | None = _own(options.elicitation)

    def begin(self, agent_name: str | None) -> None:
        """The handshake is done: the agent has a name, and tasks can be started."""
        self.permissions = _own(self.permissions, agent_name)
        self.terminals = _own(self.terminals, self._connection.tasks)

    def add_session(self, session_id: str, roots: tuple[str, ...]) -> None:
        """A session works in these folders, the first of which is its working folder."""
        _tell(self.permissions, "add_session", session_id, roots[0])
        _tell(self.permissions, "add_roots", session_id, roots)
        _tell(self.files, "add_session", session_id, roots)
        _tell(self.terminals, "add_session", session_id, roots[0])

    def remove_session(self, session_id: str) -> None:
        """The session is over."""
        _tell(self.permissions, "remove_session", session_id)
        _tell(self.files, "remove_session", session_id)
        _tell(self.elicitation, "cancel_session", session_id)
        close = getattr(self.terminals, "close_session", None)
        if close is not None and self._connection.error is None:
            # The call ends the session; only the end of its commands takes time.
            rest = close(session_id)
            if inspect.isawaitable(rest):
                self._connection.run(lambda: _finish(rest))

    def cancel_session(self, session_id: str) -> None:
        """The turn was cancelled: withdraw its questions to the user."""
        _tell(self.permissions, "cancel_session", session_id)
        _tell(self.elicitation, "cancel_session", session_id)

    def end_turn(self, session_id: str) -> None:
        """The turn is over, and so are the approvals for it."""
        _tell(self.permissions, "end_turn", session_id)

    def lost(self) -> None:
        """The agent is gone; end now what was started for it, not when the client ends."""
        _tell(self.permissions, "end_connection")
        self._connection.tasks.start_soon(self.aclose, name="end of services")

    @property
    def streams_output(self) -> bool:
        """Whether the terminals report output as it comes."""
        service: object = self.terminals
        return isinstance(service, StreamsOutput) and service.streams_output

    def output_listeners(self, **listeners: Any) -> dict[str, Any]:
        """Return the listeners that the terminals' `create` takes: all, or none."""
        return listeners if self.streams_output else {}

    async def require_running(self, session_id: str, terminal_id: str) -> None:
        """End a command that started while the agent was lost: `close_all` may have missed it.

        Raises:
            RequestError: the services have ended.
        """
        if self._closed is None:
            return
        assert self.terminals is not None
        with anyio.CancelScope(shield=True), suppress(RequestError):
            await result_of(self.terminals.release(session_id, terminal_id))
        raise RequestError.cancelled("the connection has ended")

    async def aclose(self) -> None:
        """End what was started for the agent; returns when that is done, also if called twice."""
        if self._closed is not None:
            await self._closed.wait()
            return
        self._closed = anyio.Event()
        try:
            for service in (self.terminals, self.elicitation, self.files):
                close = getattr(service, "close_all", None)
                if close is not None:
                    await _finish(call(close))
        finally:
            self._closed.set()


async def _finish(rest: Awaitable[Any]) -> None:
    try:
        await guarded(rest)
    except Exception:  # noqa: BLE001 - the other services must end too
        _log.exception("a service failed to end what it had started")


def _own(service: Any, *facts: Any) -> Any:
    """The service for one connection, where it has one for each."""
    make: Callable[..., Any] | None = getattr(service, "for_connection", None)
    return service if make is None else make(*facts)


def _tell(service: Any, what: str, *facts: Any) -> None:
    method = getattr(service, what, None)
    if method is not None:
        method(*facts)
