"""One direction through a proxy, as a line: while a handler is busy, what is behind it waits.

Must not know what waits.  Always holds: steps are taken in the order in which they came; a lane
that nobody holds has nobody waiting.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from accord.proxy.hop import Endpoint, OpenRequest

HELD_BYTES_MAX: Final = 4 * 1024 * 1024
"""What may wait behind a busy handler before its sender is not read any more."""

Step = Callable[[], None]


class DirectionQueue:
    """What comes from one end.  `changed` is called when it becomes held or free."""

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
        """Whether what comes now need not wait."""
        return self.holder is None and not self._waiting

    def put(self, step: Step, size: int = 0, request: OpenRequest | None = None) -> None:
        """Take a step, now or when its turn comes."""
        if self.is_free:
            step()
            return
        self._waiting.append((step, request, size))
        self._bytes += size
        self.update_reading()

    def update_reading(self) -> None:
        """Read of the sender, or do not, as much waits and as somebody needs its answers."""
        hop = self.end.hop
        is_full = self._bytes > HELD_BYTES_MAX and not hop.is_awaited
        if is_full and not self._paused:
            self._paused = True
            hop.pause()
        elif self._paused and not is_full:
            self._paused = False
            hop.resume()

    def withdraw(self, request: OpenRequest) -> bool:
        """Take a request out of the line; False if it does not stand there."""
        for item in self._waiting:
            if item[1] is request:
                self._waiting.remove(item)
                self._bytes -= item[2]
                return True
        return False

    def hold(self, holder: object) -> None:
        """Let everything wait that comes from now on."""
        assert self.holder is None, "a lane has one holder"
        self.holder = holder
        self._changed(self)

    def release(self, holder: object) -> None:
        """Go on, if this is who holds it."""
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


__all__ = ["HELD_BYTES_MAX", "DirectionQueue", "QueueHold"]
