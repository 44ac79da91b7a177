"""All remote connections of one application, by their ids.

What always holds
    * An id is found only by the principal that opened its connection.
    * A connection is here until its client or its agent ends it, and no longer.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import TypeVar

from accord.machine.redacted_logs import logger, place_of
from accord.transport.readiness import context_of_asyncio
from accord.transport.remote_limits import RemoteLimits
from accord.transport.server.server_transport import (
    GOING_AWAY,
    INTERNAL_FAILURE,
    ServerTransport,
)
from accord.transport.transport import Ended, Transport

_log = logger("accord.transport")

Serve = Callable[[Transport, str], Awaitable[None]]
"""Serves one client, of this principal, until it goes away."""

SHUTTING_DOWN = "the server is shutting down"
_ID_BYTES = 16

T = TypeVar("T", bound=ServerTransport)


class Connections:
    """Guards: at most `limits.connections` connections, each served by one task."""

    def __init__(self, serve: Serve, limits: RemoteLimits) -> None:
        self._serve = serve
        self._limits = limits
        self._open: dict[str, ServerTransport] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.is_closed = False

    def __len__(self) -> int:
        return len(self._open)

    @property
    def has_room(self) -> bool:
        """Whether one more connection may be opened."""
        return not self.is_closed and len(self._open) < self._limits.connections

    def new_id(self) -> str:
        """Return the id of a new connection: random, but no credential."""
        return secrets.token_hex(_ID_BYTES)

    def open(self, transport: ServerTransport) -> None:
        """Serve a client from now on."""
        self._open[transport.connection_id] = transport
        transport.on_over = lambda: self._forget(transport)
        # In a context of its own: the connection outlives the request that opens it.  Whatever its
        # tasks resume is called back in this context, outside of tasks.
        own = context_of_asyncio(Context())
        task = asyncio.get_running_loop().create_task(self._run(transport), context=own)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def find(self, connection_id: str, principal: str, kind: type[T]) -> T | None:
        """Return a connection of this principal; None for an unknown id and for a foreign one."""
        found = self._open.get(connection_id)
        if found is None or found.principal != principal or not isinstance(found, kind):
            return None
        return found

    def _forget(self, transport: ServerTransport) -> None:
        self._open.pop(transport.connection_id, None)

    async def _run(self, transport: ServerTransport) -> None:
        try:
            await self._serve(transport, transport.principal)
        except Exception as error:  # noqa: BLE001 - one client's end must not be everybody's
            # Its text may quote a message.
            _log.error("serving a remote client failed (%s)", place_of(error))
            transport.end(Ended("internal error"), INTERNAL_FAILURE)
        finally:
            transport.end(Ended("the agent has ended the connection", clean=True))

    async def aclose(self) -> None:
        """End every connection, and wait for its agent for a bounded time."""
        self.is_closed = True
        for transport in list(self._open.values()):
            transport.end(Ended(SHUTTING_DOWN, clean=True), GOING_AWAY)
        tasks = {task for task in self._tasks if task is not asyncio.current_task()}
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=self._limits.close_seconds)
            for task in late:
                task.cancel()


__all__ = ["SHUTTING_DOWN", "Connections", "Serve"]
