"""A moment that may be waited for, and mostly is not.

An event of anyio costs more to make than a small message to handle, and most of those that a turn
needs are set before anybody waits.
"""

import anyio


class Flag:
    """As `anyio.Event`, but the event is made only for who really waits.

    `wait` returns without a checkpoint when the flag is set already.
    """

    __slots__ = ("_event", "_is_set")

    def __init__(self) -> None:
        self._is_set = False
        self._event: anyio.Event | None = None

    def is_set(self) -> bool:
        """Whether the moment has come."""
        return self._is_set

    def set(self) -> None:
        """It has."""
        self._is_set = True
        if self._event is not None:
            self._event.set()

    async def wait(self) -> None:
        """Wait for it."""
        if self._is_set:
            return
        if self._event is None:
            self._event = anyio.Event()
        await self._event.wait()


__all__ = ["Flag"]
