"""Calls of the program's own functions; an exception in one does not end the connection.

What always holds
    * A cancellation passes only where the turn, the request or the connection was cancelled.  Any
      other is an error of the function, such as awaiting a future that was cancelled.
    * A group with a single exception counts as that exception: its text is meant for the client.
    * `sys.exit` ends the connection without an answer, then the program.  The client sees how the
      process ended; the answer `cancelled` would be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable
from typing import TypeVar

import anyio

from accord.connection import Connection
from accord.transport.transport import Ended

T = TypeVar("T")


class Guard:
    """Runs the functions for one connection.  `exit` is the exception that ends the program."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.exit: BaseException | None = None

    async def run(self, work: Awaitable[T]) -> T:
        """Await a function of the program; raise what it raised, or a cancellation from outside."""
        try:
            return await work
        except anyio.get_cancelled_exc_class() as error:
            if is_cancelled():
                raise
            raise RuntimeError("a handler was cancelled, but not by its client") from error
        except (SystemExit, KeyboardInterrupt) as error:
            ending: BaseException = error
        except BaseExceptionGroup as group:
            exits = group.subgroup((SystemExit, KeyboardInterrupt))
            if exits is None:
                raise sole(group) from None
            ending = first(exits)
        self._end_program(ending)
        # The whole connection is being cancelled, and this call with it.
        await anyio.sleep_forever()
        raise AssertionError("unreachable")

    def _end_program(self, error: BaseException) -> None:
        if self.exit is None:
            self.exit = error
        self._connection.ended(Ended("a handler ends the program", clean=True))


def is_cancelled() -> bool:
    """Whether this task runs in a cancelled scope."""
    return anyio.current_effective_deadline() == -math.inf


def sole(error: BaseException) -> BaseException:
    """The only exception in a group, however deep; the group itself when there are more."""
    inner = error
    while isinstance(inner, BaseExceptionGroup):
        if len(inner.exceptions) != 1:
            return error
        inner = inner.exceptions[0]
    return inner


def first(error: BaseException) -> BaseException:
    """The first exception in a group, however deep."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
