"""When a connection reads from its transport and when it does not.

What always holds
    * While somebody waits for an answer or an update, reading continues: a full consumer cannot
      make that wait last for ever.
"""

from functools import cached_property
from typing import Protocol
from weakref import WeakSet

from accord.transport.transport import Transport

# After so many bytes, consumers check whether they keep old data: large messages are few.
CONSUMER_CHECK_BYTES = 16 * 1024 * 1024


class Consumer(Protocol):
    """Keeps what arrives until the program takes it."""

    @property
    def is_waiting(self) -> bool:
        """Whether the program waits for more.  After a change, call `TransportPauser.update`."""
        ...

    def much_came(self) -> None:
        """React to much data since the last call; what has been kept since then is too much."""
        ...


# Shared by all connections that have none.
_NO_REASONS: frozenset[str] = frozenset()


class TransportPauser:
    """Pauses and resumes one transport.

    Guards: the transport is paused exactly while `is_held` is true or the connection has a reason.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        # Tasks that wait for the peer, without the consumers.
        self._waiting = 0
        # Consumers that are full.
        self.holds = 0
        # Whether a full consumer stops reading; what was read before is still handled.
        self.is_held = False
        # Why the connection itself does not want to read now.
        self._reasons = _NO_REASONS
        self._paused = False
        self._over = False
        self._bytes_since_check = 0

    @cached_property
    def consumers(self) -> WeakSet[Consumer]:
        """Consumers of what is read; each gets `much_came` regularly until it is deleted."""
        return WeakSet()

    def count(self, size: int) -> None:
        """Count bytes that were read."""
        self._bytes_since_check += size
        if self._bytes_since_check >= CONSUMER_CHECK_BYTES:
            self._bytes_since_check = 0
            for consumer in tuple(self.consumers):
                consumer.much_came()

    def hold(self) -> None:
        """Stop reading for a full consumer, unless somebody waits for the peer."""
        self.holds += 1
        self.update()

    def unhold(self) -> None:
        """Undo one `hold`: the consumer has room again."""
        self.holds -= 1
        self.update()

    def awaited(self) -> "_Awaited":
        """Keep reading inside this context, where somebody waits for the peer."""
        return _Awaited(self)

    def await_one(self, count: int) -> None:
        """Change the number of tasks that wait for the peer."""
        self._waiting += count
        if self.holds:
            self.update()

    def is_stopped_for(self, reason: str) -> bool:
        """Whether this is a reason to stop now."""
        return reason in self._reasons

    def stop_for(self, reason: str) -> None:
        """Stop reading for the connection's own reason, until `go_on` is called with it."""
        self._reasons |= {reason}
        self.update()

    def go_on(self, reason: str) -> None:
        """Drop a reason to stop."""
        self._reasons -= {reason}
        self.update()

    def end(self) -> None:
        """Leave the transport alone from now on."""
        self._over = True

    def update(self) -> None:
        """Pause or resume the transport if that is due now."""
        self.is_held = (
            self.holds > 0
            and self._waiting == 0
            and not any(consumer.is_waiting for consumer in tuple(self.consumers))
        )
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

    def __init__(self, reading: TransportPauser) -> None:
        self._reading = reading

    def __enter__(self) -> None:
        self._reading.await_one(1)

    def __exit__(self, *failure: object) -> None:
        self._reading.await_one(-1)
