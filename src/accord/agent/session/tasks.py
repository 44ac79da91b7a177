"""What lives as long as a session, and ends with it: tasks, and things that need a farewell.

What always holds
    * A farewell is called once, whether the session is closed, deleted, or its client is gone.
    * The end takes a bounded time, whatever the farewells and tasks do.
    * What a task or a farewell raises is logged, and harms neither the session nor the others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import anyio

from accord.errors import LocalProtocolError
from accord.machine.logs import logger

if TYPE_CHECKING:
    from accord.connection import Connection

FAREWELL_SECONDS_MAX = 3.0
"""How long all farewells of a session may take together; less than a process has to leave."""

TASK_END_SECONDS_MAX = 1.0
"""How long a cancelled task is waited for."""

_log = logger("accord.agent")

Farewell = Callable[[], Awaitable[None]]


class Companions:
    """Of one session.  Guards: nothing joins once the end has begun."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._farewells: list[Farewell] = []
        self._scopes: set[anyio.CancelScope] = set()
        self._empty = anyio.Event()
        self._ending = False
        self._ended = anyio.Event()

    def __bool__(self) -> bool:
        return bool(self._farewells or self._scopes)

    def on_close(self, farewell: Farewell) -> None:
        """Have something called at the end."""
        self._check_open()
        self._farewells.append(farewell)

    def start_soon(self, function: Callable[..., Awaitable[Any]], *args: Any) -> None:
        """Run a task until it ends by itself or is cancelled by the end."""
        self._check_open()
        name = getattr(function, "__qualname__", repr(function))
        scope = anyio.CancelScope()
        self._scopes.add(scope)

        async def live() -> None:
            try:
                with scope:
                    await function(*args)
            except Exception:  # noqa: BLE001 - one task must not end the connection
                _log.exception("a task of a session failed: %s", name)
            finally:
                self._scopes.discard(scope)
                if self._ending and not self._scopes:
                    self._empty.set()

        self._connection.tasks.start_soon(live, name=name)

    def _check_open(self) -> None:
        if self._ending or self._connection.error is not None:
            raise LocalProtocolError("the session is closed")

    async def close(self) -> None:
        """Say every farewell, then end every task.  A second call waits for the first."""
        with anyio.CancelScope(shield=True):
            if self._ending:
                await self._ended.wait()
                return
            self._ending = True
            try:
                await self._say_farewells()
                await self._end_tasks()
            finally:
                self._ended.set()

    async def _say_farewells(self) -> None:
        """All at once: one that hangs takes nobody else's time."""
        with anyio.move_on_after(FAREWELL_SECONDS_MAX) as within:
            async with anyio.create_task_group() as tasks:
                for farewell in self._farewells:
                    tasks.start_soon(_say, farewell)
        self._farewells.clear()
        if within.cancelled_caught:
            _log.warning("a farewell to a session took too long and was cut off")

    async def _end_tasks(self) -> None:
        if not self._scopes:
            return
        for scope in tuple(self._scopes):
            scope.cancel()
        with anyio.move_on_after(TASK_END_SECONDS_MAX):
            await self._empty.wait()


async def _say(farewell: Farewell) -> None:
    try:
        await farewell()
    except Exception:  # noqa: BLE001 - the others are still to be called
        _log.exception("a farewell to a session failed")


__all__ = ["FAREWELL_SECONDS_MAX", "TASK_END_SECONDS_MAX", "Companions", "Farewell"]
