"""Runs functions of the program, so that a cancellation they raise stays with them.

What always holds: a cancellation passes only where somebody cancelled the turn, the request, the
connection or the caller's own task.  Any other is a mistake of the function, such as awaiting a
cancelled future, and becomes an ordinary error.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio

from accord.machine.redacted_logs import logger
from accord.transport.readiness import is_task_cancelled

T = TypeVar("T")

_log = logger("accord.client")


class CallbackCancelled(Exception):
    """A function of the program raised a cancellation that was not ours."""


async def call(function: Callable[..., Any], *arguments: object) -> Any:
    """Call a function that may be sync or async, and return its final result."""

    async def work() -> Any:
        result = function(*arguments)
        return await result if inspect.isawaitable(result) else result

    return await guarded(work())


async def guarded(work: Awaitable[T]) -> T:
    """Await the work of a function of the program.

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
    """Wrap the listener of an option, which is called with each event.

    A listener that raises is logged once and called no more.
    """
    listener: Callable[[T], object] | None = function

    def tell(what: T) -> None:
        nonlocal listener
        if listener is None:
            return
        try:
            listener(what)
        except Exception:  # noqa: BLE001 - a mistake of the listener must not end the connection
            listener = None
            _log.exception("the function for %s= failed; it is no longer called", option)

    return tell
