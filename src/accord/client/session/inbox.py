"""The bounded queue between the pump, which never waits, and one consumer that may be slow.

At the bound the connection is asked to stop reading, so that a slow consumer slows the agent.
Where it reads on, because somebody else waits for what the agent will say, what comes for an item
that waits here already is joined to it: the queue grows no more, and nothing that the consumer
would have been told is left out.

The bound is a number of updates.  They may be large, so the inbox is also full when much has been
read from the connection since its newest update came and that one still waits.

What always holds
    * An inbox that is closed, discarded or garbage holds nothing back.
    * Beyond the bound wait what was read before the reading stopped, at most `READ_UPDATES_MAX`,
      and one update for each item that changed since.
"""

import weakref
from collections import deque
from functools import partial

import anyio

from accord.connection.connection import Connection
from accord.machine.logs import logger
from accord.transcript import Update
from accord.transcript.coalesced_updates import LateUpdates

_log = logger("accord.client")

# Who takes nothing for so long has perhaps forgotten that everything waits for it.
STILL_SECONDS_MAX = 1.0

# More updates than one read of a transport brings: so many come in as they are when the reading
# has stopped.
READ_UPDATES_MAX = 16 * 1024


class Inbox:
    """Updates in order, for one consumer.

    Guards: the connection is held exactly while this inbox is at its bound and not yet half
    empty again; while a late update waits, what changes its item is joined to it, so that each
    item's updates are in order.
    """

    __slots__ = (
        "__weakref__",
        "_connection",
        "_free_until",
        "_heavy_since",
        "_holding",
        "_is_heavy",
        "_is_plain",
        "_items",
        "_late",
        "_low",
        "_max",
        "_owner",
        "_taken",
        "_wake",
        "closed",
        "discards",
    )

    def __init__(self, connection: Connection, updates_max: int, owner: str | None = None) -> None:
        """With an owner, it is told once in the log when that takes nothing for long."""
        self._connection = connection
        self._owner = owner
        self._items: deque[Update] = deque()
        # Those of them that came while the inbox was full.
        self._late = LateUpdates()
        self._max = updates_max
        # Below this many, one more is simply put at the end.
        self._free_until = updates_max - 1
        # Whether one can be taken without further ado.
        self._is_plain = True
        # At least one: it is looked at before the last one is taken.
        self._low = max(1, updates_max // 2)
        # Whether those that wait are large; the newest when much had been read the last time.
        self._is_heavy = False
        self._heavy_since: Update | None = None
        self._wake: anyio.Event | None = None
        self._taken: anyio.Event | None = None
        self._holding = False
        self.closed = False
        # Nobody will take what comes: a consumer that only waits for the end.
        self.discards = False
        connection.reading.watch(self)

    def __del__(self) -> None:
        self._release()

    def __len__(self) -> int:
        return len(self._items)

    def put(self, update: Update) -> None:
        """Add one at the end, without waiting."""
        if self.discards:
            return
        items = self._items
        if len(items) >= self._free_until:
            self._put_with_care(update)
            return
        items.append(update)
        if self._wake is not None:
            self._wake_up()

    def _put_with_care(self, update: Update) -> None:
        """Add one where the inbox is full, or becomes so, or has late ones."""
        items, late = self._items, self._late
        waits: Update | None = update
        over = len(items) - self._max
        if self._is_heavy:
            over = max(over, 0)
        if late:
            is_late = over >= 0 or late.is_waiting(update)
        else:
            # What was read already comes in as it is.
            is_late = over >= (READ_UPDATES_MAX if self._connection.reading.is_held else 0)
        if is_late:
            waits = late.add(update)
            self._free_until = 0
        if waits is None:
            return
        items.append(waits)
        if self._wake is not None:
            self._wake_up()
        if len(items) >= self._max and not self._holding:
            self._hold()

    def much_came(self) -> None:
        """Be full if what was the newest the last time still waits."""
        items, seen = self._items, self._heavy_since
        self._heavy_since = items[-1] if items else None
        if seen is None or self.closed or not any(one is seen for one in items):
            return
        self._is_heavy = True
        self._low = max(1, len(items) // 2)
        self._free_until = 0
        if not self._holding:
            self._hold()

    def _hold(self) -> None:
        self._holding = True
        self._is_plain = False
        self._connection.reading.hold()
        if self._owner is not None and self._connection.error is None:
            # Not by a strong reference, which would keep it from being garbage.
            self._connection.run(partial(_look_after, weakref.ref(self), self._items[0]))

    def take(self) -> Update | None:
        """The next one if it can be had without further ado; else ask `get`."""
        if self._is_plain and self._items:
            return self._items.popleft()
        return None

    async def get(self) -> Update | None:
        """The next one; None when the inbox is closed and empty."""
        items = self._items
        while not items:
            if self.closed:
                return None
            await self._more()
        if self._holding and len(items) <= self._low:
            self._release()
        if self._taken is not None:
            self._tell_taken()
        first = items.popleft()
        if self._late:
            first = self._late.take(first)
        self._is_plain = not (self._holding or self._late)
        if not self._late:
            self._free_until = self._max - 1
        return first

    async def _more(self) -> None:
        """Wait for one; meanwhile the connection reads on, whoever else is full."""
        wake = self._wake
        if wake is None:
            wake = self._wake = anyio.Event()
            self._connection.reading.await_one(1)
        try:
            await wake.wait()
        finally:
            if self._wake is wake:
                self._wake_up()

    def _wake_up(self) -> None:
        """Whoever waits has something to do.  It waits no more from here on, not when it runs."""
        assert self._wake is not None
        self._wake.set()
        self._wake = None
        self._connection.reading.await_one(-1)

    async def room(self, updates_max: int) -> None:
        """Wait while more than so many lie here untaken: for a producer that can wait."""
        while len(self._items) > updates_max and not self.closed:
            if self._taken is None:
                self._taken = anyio.Event()
                self._is_plain = False
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
        self._late.clear()
        self._heavy_since = None
        self._free_until = self._max - 1
        self._is_plain = True
        self._release()
        self._tell_taken()

    def close(self) -> None:
        """Nothing more will be put; what is there can still be taken, and nobody waits for that."""
        self.closed = True
        self._release()
        if self._wake is not None:
            self._wake_up()
        self._tell_taken()

    def tell_if_still(self, first: Update) -> Update | None:
        """Warn if this is still the first, so that nothing was taken.

        Returns the one to look for next time; None when there is nothing to look for.
        """
        if not self._holding or self._owner is None:
            return None
        if self._items[0] is not first:
            return self._items[0]
        is_held = self._connection.reading.is_held
        so = "nothing more is read from the agent" if is_held else "more are joined"
        text = "%s are not taken: %d wait, and until some are taken %s"
        _log.warning(text, self._owner, len(self._items), so)
        self._owner = None
        return None

    def _release(self) -> None:
        if self._holding:
            self._holding = self._is_heavy = False
            self._low = max(1, self._max // 2)
            self._connection.reading.unhold()


async def _look_after(reference: "weakref.ref[Inbox]", first: Update) -> None:
    seen: Update | None = first
    while seen is not None:
        await anyio.sleep(STILL_SECONDS_MAX)
        inbox = reference()
        seen = None if inbox is None else inbox.tell_if_still(seen)
        del inbox


__all__ = ["Inbox"]
