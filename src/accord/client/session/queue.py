"""One at a time, in the order of arrival.

It must not know what waits.  Unlike a lock it belongs to no event loop while nobody waits, so that
one `Permissions` may serve several runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Hashable
from contextlib import asynccontextmanager

import anyio


class Queue:
    """A line of waiters per key.  Who stops waiting leaves the line; nobody else notices."""

    def __init__(self) -> None:
        # A key is here while somebody has the turn; the others wait behind.
        self._lines: dict[Hashable, deque[anyio.Event]] = {}

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """The lines in which somebody has the turn."""
        return tuple(self._lines)

    def waiting(self, key: Hashable = None) -> int:
        """How many wait behind the one that has the turn."""
        return len(self._lines.get(key, ()))

    @asynccontextmanager
    async def turn(self, key: Hashable = None) -> AsyncGenerator[None]:
        """Wait for the turn, and have it for the time of the block."""
        line = self._lines.get(key)
        if line is None:
            self._lines[key] = deque()
        else:
            called = anyio.Event()
            line.append(called)
            try:
                await called.wait()
            except BaseException:
                if called.is_set():
                    self._next(key)
                else:
                    line.remove(called)
                raise
        try:
            yield
        finally:
            self._next(key)

    def _next(self, key: Hashable) -> None:
        line = self._lines[key]
        if line:
            line.popleft().set()
        else:
            del self._lines[key]


__all__ = ["Queue"]
