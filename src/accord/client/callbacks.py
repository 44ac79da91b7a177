"""The program's own functions, run so that a cancellation they raise harms nobody else.

What always holds: a cancellation passes only where somebody cancelled, such as the turn, the
request, the connection or the caller's own task.  Any other is a mistake of the function, like
awaiting a future that was cancelled, and is told as any mistake is.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio

from accord.machine.logs import logger
from accord.transport.readiness import is_task_cancelled

T = TypeVar("T")

_log = logger("accord.client")


class CallbackCancelled(Exception):
    """A function of the program was cancelled, and not by us."""


async def call(function: Callable[..., Any], *arguments: object) -> Any:
    """Call a function that may be sync or async, and give what it returns in the end."""

    async def work() -> Any:
        result = function(*arguments)
        return await result if inspect.isawaitable(result) else result

    return await guarded(work())


async def guarded(work: Awaitable[T]) -> T:
    """Await what a function of the program does.

    Raises:
        CallbackCancelled: it ended by a cancellation that nobody asked for.
    """
    try:
        return await work
    except anyio.get_cancelled_exc_class() as error:
        if anyio.current_effective_deadline() == -math.inf or is_task_cancelled():
            raise
        raise CallbackCancelled("a callback was cancelled, but not by its client") from error


def until_it_fails(function: Callable[[T], object], option: str) -> Callable[[T], None]:
    """The function for an option that is told things as they come.

    One that fails is told nothing more: its fault is in the log once, and harms nobody else.
    """
    listener: Callable[[T], object] | None = function

    def tell(what: T) -> None:
        nonlocal listener
        if listener is None:
            return
        try:
            listener(what)
        except Exception:  # noqa: BLE001 - whatever it is, it is not the conversation's
            listener = None
            _log.exception("the function for %s= failed; it is not called any more", option)

    return tell


__all__ = ["CallbackCancelled", "call", "guarded", "until_it_fails"]
