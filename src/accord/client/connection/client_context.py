"""The context manager of a client: `async with Client.spawn(...) as client`.

What always holds: when the block is left, in whatever way, the connection is over, and an exception
of the block comes out unchanged.  `sys.exit` in a callback, such as a permission callback, leaves
the block as `SystemExit`.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

import anyio
from anyio.abc import TaskGroup

from accord.client.connection.client_core import ClientCore
from accord.errors import LocalProtocolError

C = TypeVar("C")

_HOW = "enter the client first: async with Client.spawn(...) as client"


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
