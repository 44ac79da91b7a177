"""The bounded queue between the connection, which never waits, and a consumer that may be slow.

At the bound the connection is asked to stop reading, so that a slow consumer slows the agent.  If
it reads on because another task waits for the agent, an update of an item that is already queued is
joined to that one: the queue stops growing, and the consumer misses nothing.

The bound is a number of updates.  Updates may be large, so the inbox also counts as full when much
has been read from the connection while its newest update still waits.

What always holds
    * An inbox that is closed, discarded or garbage does not stop the connection.
    * Above the bound it holds only what was read before the reading stopped, at most
      `READ_UPDATES_MAX`, and one update for each item that changed since.
"""

import weakref
from collections import deque
from functools import partial

import anyio

from accord.connection.connection import Connection
from accord.machine.redacted_logs import logger
from accord.transcript import Update
from accord.transcript.coalesced_updates import LateUpdates

_log = logger("accord.client")

# A consumer that takes nothing for this long may have been forgotten.
STILL_SECONDS_MAX = 1.0

# More updates than one read of a transport brings: this many are still queued unjoined after the
# reading has stopped.
READ_UPDATES_MAX = 16 * 1024


class Inbox:
    """Updates in order, for one consumer.

    Guards: the connection is paused exactly from the bound until the inbox is half empty; while a
    late update waits, later updates of its item are joined to it, which keeps each item in order.
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
        """With an owner, a warning is logged once when nothing is taken for long."""
        self._connection = connection
        self._owner = owner
        self._items: deque[Update] = deque()
        # The updates that came while the inbox was full, once there are any.
        self._late: LateUpdates | None = None
        self._max = updates_max
        # Below this many, an update is simply appended.
        self._free_until = updates_max - 1
        # Whether an update can be taken without bookkeeping.
        self._is_plain = True
        # At least one, because it is checked before the last update is taken.
        self._low = max(1, updates_max // 2)
        # Whether the queued updates may be large; the newest at the last call of `much_came`.
        self._is_heavy = False
        self._heavy_since: Update | None = None
        self._wake: anyio.Event | None = None
        self._taken: anyio.Event | None = None
        self._holding = False
        self.closed = False
        # Whether updates are dropped, because the consumer only waits for the end.
        self.discards = False
        connection.reading.consumers.add(self)

    def __del__(self) -> None:
        self._release()

    def __len__(self) -> int:
        return len(self._items)

    @property
    def is_waiting(self) -> bool:
        """Whether the consumer waits for an update."""
        return self._wake is not None

    def put(self, update: Update) -> None:
        """Append an update, without waiting."""
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
        """Add an update to an inbox that is full, becomes full, or has late updates."""
        items, late = self._items, self._late
        waits: Update | None = update
        over = len(items) - self._max
        if self._is_heavy:
            over = max(over, 0)
        if late:
            is_late = over >= 0 or late.is_waiting(update)
        else:
            # Updates that were already read are queued as they are.
            is_late = over >= (READ_UPDATES_MAX if self._connection.reading.is_held else 0)
        if is_late:
            if late is None:
                late = self._late = LateUpdates()
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
        """Count as full if the newest update of the last call still waits."""
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
            # A strong reference would keep the inbox alive.
            self._connection.run(partial(_look_after, weakref.ref(self), self._items[0]))

    def take(self) -> Update | None:
        """The next update if it can be taken at once; otherwise None, and `get` must be used."""
        if self._is_plain and self._items:
            return self._items.popleft()
        return None

    async def get(self) -> Update | None:
        """The next update; None when the inbox is closed and empty."""
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
        """Wait for an update; meanwhile the connection reads on, even if other inboxes are full."""
        wake = self._wake
        if wake is None:
            wake = self._wake = anyio.Event()
            self._tell_reading()
        try:
            await wake.wait()
        finally:
            if self._wake is wake:
                self._wake_up()

    def _wake_up(self) -> None:
        """Wake the consumer, which counts as not waiting from here on."""
        assert self._wake is not None
        self._wake.set()
        self._wake = None
        self._tell_reading()

    def _tell_reading(self) -> None:
        reading = self._connection.reading
        if reading.holds:
            reading.update()

    async def room(self, updates_max: int) -> None:
        """Wait while more than this many updates are queued, for a producer that can wait."""
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
        """Drop all updates, queued and future."""
        self.discards = True
        self.empty()

    def empty(self) -> None:
        """Drop the queued updates."""
        self._items.clear()
        self._late = None
        self._heavy_since = None
        self._free_until = self._max - 1
        self._is_plain = True
        self._release()
        self._tell_taken()

    def close(self) -> None:
        """Accept no more updates; queued ones can still be taken, and no longer stop reading."""
        self.closed = True
        self._release()
        if self._wake is not None:
            self._wake_up()
        self._tell_taken()

    def tell_if_still(self, first: Update) -> Update | None:
        """Warn if this update is still the first, so that nothing was taken.

        Returns the update to check next time; None when there is nothing to check.
        """
        if not self._holding or self._owner is None:
            return None
        if self._items[0] is not first:
            return self._items[0]
        is_held = self._connection.reading.is_held
        so = "nothing more is read from the agent" if is_held else "later ones are joined"
        text = "%s are not consumed: %d are queued, and until some are taken %s"
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
