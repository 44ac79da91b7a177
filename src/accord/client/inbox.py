"""The bounded queue between the pump, which never waits, and one consumer that may be slow.

Over the bound the connection is asked to stop reading, so that a slow consumer slows the agent
and fills nobody's memory.  What is already read still comes in: a chunk is never cut.

What always holds: an inbox that is closed, discarded or garbage holds nothing back.
"""

import logging
import weakref
from collections import deque
from functools import partial

import anyio

from accord.connection.connection import Connection
from accord.transcript import Update

_log = logging.getLogger("accord.client")

# Who takes nothing for so long has perhaps forgotten that everything waits for it.
STILL_SECONDS_MAX = 1.0


class Inbox:
    """Updates in order, for one consumer.

    Guards: the connection is held exactly while this inbox is over its bound and not yet half
    empty again.
    """

    __slots__ = (
        "__weakref__",
        "_connection",
        "_holding",
        "_items",
        "_low",
        "_max",
        "_owner",
        "_taken",
        "_wake",
        "closed",
        "discards",
    )

    def __init__(self, connection: Connection, updates_max: int, owner: str | None = None) -> None:
        """With an owner, it is told once in the log when that stops the reading for long."""
        self._connection = connection
        self._owner = owner
        self._items: deque[Update] = deque()
        self._max = updates_max
        # At least one: it is looked at before the last one is taken.
        self._low = max(1, updates_max // 2)
        self._wake: anyio.Event | None = None
        self._taken: anyio.Event | None = None
        self._holding = False
        self.closed = False
        # Nobody will take what comes: a consumer that only waits for the end.
        self.discards = False

    def __del__(self) -> None:
        self._release()

    def __len__(self) -> int:
        return len(self._items)

    def put(self, update: Update) -> None:
        """Add one at the end, without waiting."""
        if self.discards:
            return
        items = self._items
        items.append(update)
        if self._wake is not None:
            self._wake.set()
            self._wake = None
        if len(items) >= self._max and not self._holding:
            self._holding = True
            self._connection.hold()
            if self._owner is not None and self._connection.error is None:
                # Not by a strong reference, which would keep it from being garbage.
                self._connection.run(partial(_look_after, weakref.ref(self), items[0]))

    def take(self) -> Update | None:
        """The next one if it can be had without further ado; else ask `get`."""
        if not self._items or self._holding or self._taken is not None:
            return None
        return self._items.popleft()

    async def get(self) -> Update | None:
        """The next one; None when the inbox is closed and empty."""
        items = self._items
        while not items:
            if self.closed:
                return None
            self._wake = wake = anyio.Event()
            await wake.wait()
        if self._holding and len(items) <= self._low:
            self._release()
        if self._taken is not None:
            self._tell_taken()
        return items.popleft()

    async def room(self, updates_max: int) -> None:
        """Wait while more than so many lie here untaken: for a producer that can wait."""
        while len(self._items) > updates_max and not self.closed:
            if self._taken is None:
                self._taken = anyio.Event()
            await self._taken.wait()

    def _tell_taken(self) -> None:
        if self._taken is not None:
            self._taken.set()
            self._taken = None

    def discard(self) -> None:
        """Drop what is there and what will come."""
        self.discards = True
        self.empty()

    def empty(self) -> None:
        """Drop what is there."""
        self._items.clear()
        self._release()
        self._tell_taken()

    def close(self) -> None:
        """Nothing more will be put; what is there can still be taken, and nobody waits for that."""
        self.closed = True
        self._release()
        if self._wake is not None:
            self._wake.set()
            self._wake = None
        self._tell_taken()

    def tell_if_still(self, first: Update) -> Update | None:
        """Warn if this is still the first, so that nothing was taken.

        Returns the one to look for next time; None when there is nothing to look for.
        """
        if not self._holding or self._owner is None:
            return None
        if self._items[0] is not first:
            return self._items[0]
        text = "%s are not taken: %d wait, and until some are taken no more is read from the agent"
        _log.warning(text, self._owner, len(self._items))
        self._owner = None
        return None

    def _release(self) -> None:
        if self._holding:
            self._holding = False
            self._connection.unhold()


async def _look_after(reference: "weakref.ref[Inbox]", first: Update) -> None:
    seen: Update | None = first
    while seen is not None:
        await anyio.sleep(STILL_SECONDS_MAX)
        inbox = reference()
        seen = None if inbox is None else inbox.tell_if_still(seen)
        del inbox


__all__ = ["Inbox"]
