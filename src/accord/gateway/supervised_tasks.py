"""The tasks of a gateway: one that fails is logged, and the others go on."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, cast

import anyio
from anyio.abc import TaskGroup

from accord.machine.redacted_logs import logger, place_of

_log = logger("accord.gateway")


class SupervisedTasks:
    """A task group in which a mistake in one task, such as one client's, ends no other.

    It has what the gateway uses of a task group.  Not a subclass: which methods those have is
    different in each version of anyio.
    """

    def __init__(self) -> None:
        self._group = anyio.create_task_group()

    @property
    def cancel_scope(self) -> anyio.CancelScope:
        """The scope of all tasks."""
        return self._group.cancel_scope

    def start_soon(
        self, func: Callable[..., Coroutine[Any, Any, Any]], *args: object, name: object = None
    ) -> None:
        """Begin with this on the next round of the event loop."""
        self._group.start_soon(
            _supervised, func, args, name=name or getattr(func, "__qualname__", None)
        )

    async def __aenter__(self) -> TaskGroup:
        await self._group.__aenter__()
        return cast("TaskGroup", self)

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._group.__aexit__(exc_type, exc, traceback)


async def _supervised(
    func: Callable[..., Coroutine[Any, Any, Any]], args: tuple[object, ...]
) -> None:
    try:
        await func(*args)
    except Exception as error:  # noqa: BLE001 - one task must not end all others
        # Its text may quote a message.
        _log.error("a task of the gateway failed (%s)", place_of(error))


__all__ = ["SupervisedTasks"]
