"""An event that is cheap when nobody waits for it.

Creating an `anyio.Event` costs more than handling a small message, and most events of a turn are
set before anybody waits.
"""

import anyio


class LazyEvent:
    """Like `anyio.Event`, but the real event is created only when a task has to wait.

    `wait` returns without a checkpoint when the event is already set.
    """

    __slots__ = ("_event", "_is_set")

    def __init__(self) -> None:
        self._is_set = False
        self._event: anyio.Event | None = None

    def is_set(self) -> bool:
        """Whether `set` was called."""
        return self._is_set

    def set(self) -> None:
        """Wake every task that waits, and let later waits return at once."""
        self._is_set = True
        if self._event is not None:
            self._event.set()

    async def wait(self) -> None:
        """Wait until the event is set."""
        if self._is_set:
            return
        if self._event is None:
            self._event = anyio.Event()
        await self._event.wait()
