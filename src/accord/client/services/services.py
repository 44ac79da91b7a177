"""The services that serve one connection: permissions, files, terminals, forms.

Each may be anybody's object; what it does not have, it is not told.  Session ids are the agent's
own, and two agents may use the same: a service that can, serves each connection apart.

What always holds: when the connection is over, so is everything that a service started for it.
"""

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import anyio

from accord.client.callbacks import call, guarded
from accord.client.options import Options
from accord.connection.connection import Connection
from accord.machine.logs import logger

if TYPE_CHECKING:
    from accord.client.session.state import Conversation

_log = logger("accord.client")


class Services:
    """What an agent may ask of us.  A service that is None was not offered."""

    def __init__(self, options: Options, connection: Connection) -> None:
        self._connection = connection
        # There once somebody ends the services, and set when they have ended.
        self._closed: anyio.Event | None = None
        self.permissions: Any = options.permissions
        self.files: Any = _own(options.files)
        self.terminals: Any = options.terminals
        self.elicitation: Any = _own(options.elicitation)

    def begin(self, agent_name: str | None) -> None:
        """The handshake is done: it is known who asks, and tasks can be started."""
        self.permissions = _own(self.permissions, agent_name)
        self.terminals = _own(self.terminals, self._connection.tasks)

    def add_session(self, session: "Conversation") -> None:
        """A session works here."""
        _tell(self.permissions, "add_session", session.id, session.cwd)
        _tell(self.permissions, "add_roots", session.id, session.roots)
        _tell(self.files, "add_session", session.id, session.roots)
        _tell(self.terminals, "add_session", session.id, session.cwd)

    def remove_session(self, session_id: str) -> None:
        """The session is over."""
        _tell(self.permissions, "remove_session", session_id)
        _tell(self.files, "remove_session", session_id)
        _tell(self.elicitation, "cancel_session", session_id)
        close = getattr(self.terminals, "close_session", None)
        if close is not None and self._connection.error is None:
            # The session is out with the call; only the end of its commands takes time.
            rest = close(session_id)
            if inspect.isawaitable(rest):
                self._connection.run(lambda: _finish(rest))

    def cancel_session(self, session_id: str) -> None:
        """The turn was cancelled: nobody waits for the user any more."""
        _tell(self.permissions, "cancel_session", session_id)
        _tell(self.elicitation, "cancel_session", session_id)

    def end_turn(self, session_id: str) -> None:
        """The turn is over: what was approved for it too."""
        _tell(self.permissions, "end_turn", session_id)

    def lost(self) -> None:
        """The agent is gone; what was started for it does not wait for the client's end."""
        _tell(self.permissions, "end_connection")
        self._connection.tasks.start_soon(self.aclose, name="end of services")

    @property
    def are_over(self) -> bool:
        """Whether their end has begun: what is started from now on, nobody else would end."""
        return self._closed is not None

    async def aclose(self) -> None:
        """End what was started for the agent; returns when that is done, whoever began it."""
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
    except Exception:  # noqa: BLE001 - the others are to end too
        _log.exception("a service failed to end what it had started")


def _own(service: Any, *facts: Any) -> Any:
    """The service for one connection, where it makes a difference."""
    make: Callable[..., Any] | None = getattr(service, "for_connection", None)
    return service if make is None else make(*facts)


def _tell(service: Any, what: str, *facts: Any) -> None:
    method = getattr(service, what, None)
    if method is not None:
        method(*facts)


__all__ = ["Services"]
