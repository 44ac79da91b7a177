"""One direction through a proxy: while a handler works, later messages wait in a queue.

Must not know what waits.  Always holds: steps run in the order in which they were put; a queue that
nobody holds is empty.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from accord.proxy.hop import Endpoint, OpenRequest

HELD_BYTES_MAX: Final = 4 * 1024 * 1024
"""How much may wait behind a handler before its sender is not read any more."""

Step = Callable[[], None]


class DirectionQueue:
    """The messages from one endpoint.  `changed` is called when the queue becomes held or free."""

    def __init__(self, end: Endpoint, changed: Callable[[DirectionQueue], None]) -> None:
        self.end = end
        self.holder: object | None = None
        self._changed = changed
        self._waiting: deque[tuple[Step, OpenRequest | None, int]] = deque()
        self._bytes = 0
        self._going = False
        self._paused = False

    @property
    def is_free(self) -> bool:
        """Whether a new message need not wait."""
        return self.holder is None and not self._waiting

    def put(self, step: Step, size: int = 0, request: OpenRequest | None = None) -> None:
        """Run a step now, or when its turn comes."""
        if self.is_free:
            step()
            return
        self._waiting.append((step, request, size))
        self._bytes += size
        self.update_reading()

    def update_reading(self) -> None:
        """Pause the sender while too much waits, unless somebody waits for its answer."""
        hop = self.end.hop
        is_full = self._bytes > HELD_BYTES_MAX and not hop.is_awaited
        if is_full and not self._paused:
            self._paused = True
            hop.pause()
        elif self._paused and not is_full:
            self._paused = False
            hop.resume()

    def withdraw(self, request: OpenRequest) -> bool:
        """Remove a request from the queue; False if it does not wait there."""
        for item in self._waiting:
            if item[1] is request:
                self._waiting.remove(item)
                self._bytes -= item[2]
                return True
        return False

    def hold(self, holder: object) -> None:
        """Make every message wait from now on."""
        assert self.holder is None, "a queue has one holder"
        self.holder = holder
        self._changed(self)

    def release(self, holder: object) -> None:
        """Continue, if this is the holder."""
        if self.holder is not holder:
            return
        self.holder = None
        if not self._going:
            self._go_on()

    def _go_on(self) -> None:
        self._going = True
        try:
            while self._waiting and self.holder is None:
                step, _, size = self._waiting.popleft()
                self._bytes -= size
                step()
        finally:
            self._going = False
        self.update_reading()
        self._changed(self)


class QueueHold:
    """Holds one or both directions while a handler works."""

    def __init__(self, *queues: DirectionQueue) -> None:
        self._queues = queues

    def release(self) -> None:
        """Hold nothing any more: the handler may wait for a message that is queued here."""
        for queue in self._queues:
            queue.release(self)
