"""When a connection reads from its transport and when it does not.

What always holds
    * While somebody waits for an answer or an update, reading continues: a full consumer cannot
      make that wait last for ever.
"""

from typing import Protocol
from weakref import WeakSet

from accord.connection.limits import CONSUMER_CHECK_BYTES
from accord.transport.transport import Transport


class Consumer(Protocol):
    """Keeps what arrives until the program takes it."""

    def much_came(self) -> None:
        """React to much data since the last call; what has been kept since then is too much."""
        ...


class Reading:
    """Pauses and resumes one transport.

    Guards: the transport is paused exactly while `is_held` is true or the connection has a reason.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._waiting = 0
        self._holds = 0
        # Why the connection itself does not want to read now.
        self._reasons: set[str] = set()
        self._paused = False
        self._over = False
        self._consumers: WeakSet[Consumer] = WeakSet()
        self._bytes_since_check = 0

    def watch(self, consumer: Consumer) -> None:
        """Call `consumer.much_came` regularly, for as long as the consumer exists."""
        self._consumers.add(consumer)

    def count(self, size: int) -> None:
        """Count bytes that were read."""
        self._bytes_since_check += size
        if self._bytes_since_check >= CONSUMER_CHECK_BYTES:
            self._bytes_since_check = 0
            for consumer in tuple(self._consumers):
                consumer.much_came()

    def hold(self) -> None:
        """Stop reading for a full consumer, unless somebody waits for the peer."""
        self._holds += 1
        self._update()

    def unhold(self) -> None:
        """Undo one `hold`: the consumer has room again."""
        self._holds -= 1
        self._update()

    @property
    def is_held(self) -> bool:
        """Whether a full consumer stops reading; what was read before is still handled."""
        return self._holds > 0 and self._waiting == 0

    def awaited(self) -> "_Awaited":
        """Keep reading inside this context, where somebody waits for the peer."""
        return _Awaited(self)

    def await_one(self, count: int) -> None:
        """Change the number of those who wait for the peer."""
        self._waiting += count
        if self._holds:
            self._update()

    def is_stopped_for(self, reason: str) -> bool:
        """Whether this is a reason to stop now."""
        return reason in self._reasons

    def stop_for(self, reason: str) -> None:
        """Stop reading for the connection's own reason, until `go_on` is called with it."""
        self._reasons.add(reason)
        self._update()

    def go_on(self, reason: str) -> None:
        """Drop a reason to stop."""
        self._reasons.discard(reason)
        self._update()

    def end(self) -> None:
        """Leave the transport alone from now on."""
        self._over = True

    def _update(self) -> None:
        pause = bool(self._reasons) or self.is_held
        if pause != self._paused and not self._over:
            self._paused = pause
            if pause:
                self._transport.pause()
            else:
                self._transport.resume()


class _Awaited:
    """A class and not a generator, which would be slower: every call enters it."""

    __slots__ = ("_reading",)

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def __enter__(self) -> None:
        self._reading.await_one(1)

    def __exit__(self, *failure: object) -> None:
        self._reading.await_one(-1)


__all__ = ["Consumer", "Reading"]
