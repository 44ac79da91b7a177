"""Lets waiters take turns, in the order of arrival.

It must not know what they wait for.  Unlike a lock, it belongs to no event loop while nobody waits,
so that one `Permissions` can serve several event loops in a row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Hashable
from contextlib import asynccontextmanager

import anyio

WAITING_MAX = 1024
"""Waiters in one line; `is_full` says when a further one is to be refused."""


class Queue:
    """One line of waiters per key.  A cancelled waiter leaves its line."""

    def __init__(self) -> None:
        # A key is present while a waiter has the turn; the others wait behind it.
        self._lines: dict[Hashable, deque[anyio.Event]] = {}

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """The keys whose turn is taken."""
        return tuple(self._lines)

    def waiting(self, key: Hashable = None) -> int:
        """How many wait behind the one whose turn it is."""
        return len(self._lines.get(key, ()))

    def is_full(self, key: Hashable = None) -> bool:
        """Whether so many wait that a further one is to be refused."""
        return self.waiting(key) >= WAITING_MAX

    @asynccontextmanager
    async def turn(self, key: Hashable = None) -> AsyncGenerator[None]:
        """Wait for the turn, and keep it until the block is left."""
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
