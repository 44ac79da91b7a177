"""What is said goes into the log first and then to the client: in one order, and never half.

A log that takes time leaves a moment between the two.  Whoever is cancelled in it has said
something all the same, since the log cannot take it back; and of two who wait at once the first
must be told first, or a client that loads the session later sees another order.

Must not know: what is said, or to whom.
"""

from collections.abc import Awaitable, Callable

import anyio

from accord.connection.lazy_event import LazyEvent


class LoggingFirst:
    """Of one session.  Guards: what is told is in the order of the log, and all of it is told."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        # Set when the latest that is being written has been told.
        self._last: LazyEvent | None = None

    async def then(self, writing: Awaitable[None], tell: Callable[[], None]) -> None:
        """Wait until it is written, then tell it; a cancellation waits for that.

        To be called in the order of the log.  What cannot be written is not told.
        """
        before, told = self._last, LazyEvent()
        self._last = told
        try:
            with anyio.CancelScope(shield=True):
                await writing
                if before is not None:
                    await before.wait()
            tell()
        finally:
            told.set()
            if self._last is told:
                self._last = None


__all__ = ["LoggingFirst"]
