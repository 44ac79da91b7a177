"""Write to the log, then send to the client: in one order, and never only one of the two.

A log that takes time leaves a gap between writing and sending.  A caller that is cancelled in this
gap must still send, since the log cannot take the update back.  Of two callers that wait at the
same time, the first must send first, or a client that loads the session later sees another order.

Must not know: what is sent, or where.
"""

from collections.abc import Awaitable, Callable

import anyio

from accord.connection.lazy_event import LazyEvent


class LogThenSend:
    """Guards: everything in the log of one session is sent, in the order of the log."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        # Set when the latest update that is being written has been sent.
        self._last: LazyEvent | None = None

    async def then(self, writing: Awaitable[None], send: Callable[[], object]) -> None:
        """Wait until an update is written, then send it; a cancellation waits for that.

        Call this in the order of the log.  What cannot be written is not sent.
        """
        before, sent = self._last, LazyEvent()
        self._last = sent
        try:
            with anyio.CancelScope(shield=True):
                await writing
                if before is not None:
                    await before.wait()
            send()
        finally:
            sent.set()
            if self._last is sent:
                self._last = None
