"""Tasks that live as long as a session, and callbacks for its end.

What always holds
    * A callback is called once, whether the session is closed, deleted, or its client is gone.
    * The end takes a bounded time, whatever callbacks and tasks do.
    * What a task or a callback raises is logged, and affects neither the session nor the others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import anyio

from accord.errors import LocalProtocolError
from accord.machine.redacted_logs import logger

if TYPE_CHECKING:
    from accord.connection import Connection

CALLBACK_SECONDS_MAX = 3.0
"""How long all callbacks of a session may take together; a process has longer to exit."""

TASK_END_SECONDS_MAX = 1.0
"""How long a cancelled task is waited for."""

_log = logger("accord.agent")

CloseCallback = Callable[[], Awaitable[None]]


class SessionTasks:
    """Guards: nothing is added once the end has begun."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._callbacks: list[CloseCallback] = []
        self._scopes: set[anyio.CancelScope] = set()
        self._empty = anyio.Event()
        self._ending = False
        self._ended = anyio.Event()

    def __bool__(self) -> bool:
        return bool(self._callbacks or self._scopes)

    def on_close(self, callback: CloseCallback) -> None:
        """Call this at the end."""
        self._check_open()
        self._callbacks.append(callback)

    def start_soon(self, function: Callable[..., Awaitable[Any]], *args: Any) -> None:
        """Run a task that is cancelled with the session."""
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
        """Call every callback, then end every task.  A second call waits for the first."""
        with anyio.CancelScope(shield=True):
            if self._ending:
                await self._ended.wait()
                return
            self._ending = True
            try:
                await self._run_callbacks()
                await self._end_tasks()
            finally:
                self._ended.set()

    async def _run_callbacks(self) -> None:
        """Run all at the same time, so that one that hangs delays no other."""
        with anyio.move_on_after(CALLBACK_SECONDS_MAX) as within:
            async with anyio.create_task_group() as tasks:
                for callback in self._callbacks:
                    tasks.start_soon(_run, callback)
        self._callbacks.clear()
        if within.cancelled_caught:
            _log.warning("the on_close callbacks of a session took too long and were cut off")

    async def _end_tasks(self) -> None:
        if not self._scopes:
            return
        for scope in tuple(self._scopes):
            scope.cancel()
        with anyio.move_on_after(TASK_END_SECONDS_MAX):
            await self._empty.wait()


async def _run(callback: CloseCallback) -> None:
    try:
        await callback()
    except Exception:  # noqa: BLE001 - the others must still be called
        _log.exception("an on_close callback of a session failed")
