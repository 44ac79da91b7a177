"""The program's own functions, run so that nothing they raise harms the connection.

What always holds
    * A cancellation passes only where somebody cancelled: the turn, the request or the connection.
      Any other is a mistake of the function, such as awaiting a future that was cancelled.
    * A group of exceptions that holds one alone is that one: its text is meant for the client.
    * `sys.exit` ends the connection without another word, then the program.  The client sees how
      the process ended, which is the truth; an answer `cancelled` would be none.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio

from accord.connection import Connection
from accord.transport.transport import Ended

T = TypeVar("T")


class Guard:
    """Of one connection.  `exit` is what a function left the program with."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.exit: BaseException | None = None

    async def run(self, work: Awaitable[T]) -> T:
        """Await what the program's functions do; what comes out is theirs or a cancellation."""
        try:
            return await work
        except anyio.get_cancelled_exc_class() as error:
            if is_cancelled():
                raise
            raise RuntimeError("a handler was cancelled, but not by its client") from error
        except (SystemExit, KeyboardInterrupt) as error:
            leaving: BaseException = error
        except BaseExceptionGroup as group:
            exits = group.subgroup((SystemExit, KeyboardInterrupt))
            if exits is None:
                raise sole(group) from None
            leaving = first(exits)
        self._leave(leaving)
        # Everything of this connection is being cancelled, this too; it has nothing left to say.
        await anyio.sleep_forever()
        raise AssertionError("unreachable")

    def _leave(self, error: BaseException) -> None:
        if self.exit is None:
            self.exit = error
        self._connection.ended(Ended("a handler ends the program", clean=True))


def behind_the_answer(hook: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
    """The program's function for new sessions: what it says in one waits for the answer to it."""

    async def see(session: Any) -> None:
        session.hold()
        await hook(session)

    return see


def is_cancelled() -> bool:
    """Whether this task runs in a scope that somebody has cancelled."""
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


__all__ = ["Guard", "first", "is_cancelled", "sole"]
