"""A client that is being opened: `async with Client.spawn(...) as client`.

What always holds: when the block is left, however it is left, the connection is over, and the
block's own exception comes out as it went in.  What a function of the program leaves the program
with, such as `sys.exit` in a permission callback, comes out of the block as itself.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

import anyio
from anyio.abc import TaskGroup

from accord.client.connection.core import ClientCore
from accord.errors import LocalProtocolError

C = TypeVar("C")

_HOW = "enter the client first: async with Client.spawn(...) as client"


class ClientContext(AbstractAsyncContextManager[C], Generic[C]):
    """Gives a client when it is entered, and ends it when it is left."""

    def __init__(self, connected: ClientCore, make: Callable[[ClientCore], C]) -> None:
        self._core = connected
        self._make = make
        self._tasks: TaskGroup | None = None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            # Only for what is not there: somebody takes this for the client.
            raise AttributeError(f"{_HOW}; only then there is {name!r}")

    async def __aenter__(self) -> C:
        if self._tasks is not None:
            raise LocalProtocolError("a client is entered once; for another, spawn or connect anew")
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
            # The block's exception goes its own way: inside the group it would come out wrapped.
            tasks.cancel_scope.cancel()
            try:
                await tasks.__aexit__(None, None, None)
            except BaseExceptionGroup as group:
                raise meant(group) from None


def meant(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What a caller can catch by its class: the end of the program, else the only one there is."""
    exits = group.subgroup((SystemExit, KeyboardInterrupt))
    inner: BaseException = group if exits is None else exits
    while isinstance(inner, BaseExceptionGroup) and (exits or len(inner.exceptions) == 1):
        inner = inner.exceptions[0]
    return inner


__all__ = ["ClientContext", "meant"]
