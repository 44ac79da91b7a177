"""A bound on the bytes that wait to be written."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from contextlib import contextmanager

import anyio


class ByteBudget:
    """Lets work begin in the order of the calls, as long as its bytes fit.

    Work that is larger than the whole budget begins when nothing else is under way.
    """

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._used = 0
        self._waiting: deque[tuple[int, anyio.Event]] = deque()

    async def take(self, size: int) -> None:
        """Wait until there is room.  Give it back with `give_back`."""
        if not self._waiting and self._fits(size):
            self._used += size
            return
        entry = (size, anyio.Event())
        self._waiting.append(entry)
        try:
            await entry[1].wait()
        except BaseException:
            if entry in self._waiting:
                self._waiting.remove(entry)
            else:
                # It was let in, and cancelled before it could begin.
                self._used -= size
            self._let_in()
            raise

    def _fits(self, size: int) -> bool:
        return self._used == 0 or self._used + size <= self._bytes_max

    def give_back(self, size: int) -> None:
        """Let the next ones begin."""
        self._used -= size
        self._let_in()

    def _let_in(self) -> None:
        while self._waiting and self._fits(self._waiting[0][0]):
            size, event = self._waiting.popleft()
            self._used += size
            event.set()

    @contextmanager
    def lent(self, size: int) -> Generator[None]:
        """Give back what was taken when the block ends."""
        try:
            yield
        finally:
            self.give_back(size)
