"""Numbered messages that may overtake each other, put in order: POSTs of one connection.

Invariants
    * `ready` returns each number exactly once and in order 1, 2, 3 …
    * At most `early_messages` messages and `early_bytes` bytes wait for an earlier one.
"""

from typing import Generic, Literal, TypeVar

from accord.transport.remote_limits import RemoteLimits

T = TypeVar("T")

Arrival = Literal["taken", "repeated", "refused"]
"""A new message, one that was taken before, or one for which there is no room."""


class MessageOrder(Generic[T]):
    """Holds messages that came too early until those before them have come."""

    def __init__(self, limits: RemoteLimits) -> None:
        self._messages_max = limits.early_messages
        self._bytes_max = limits.early_bytes
        self._waiting: dict[int, tuple[T, int]] = {}
        self._waiting_bytes = 0
        # The number of the newest message that `ready` has returned.
        self.count = 0

    @property
    def is_waiting(self) -> bool:
        """Whether a message waits for an earlier one, as soon as `ready` was called."""
        return bool(self._waiting)

    def offer(self, number: int, message: T, message_bytes: int) -> Arrival:
        """Take a message; it comes out of `ready` when all before it have."""
        if number <= self.count or number in self._waiting:
            return "repeated" if number > 0 else "refused"
        is_early = number > self.count + 1
        if is_early and (
            len(self._waiting) >= self._messages_max
            or self._waiting_bytes + message_bytes > self._bytes_max
        ):
            return "refused"
        self._waiting[number] = (message, message_bytes)
        self._waiting_bytes += message_bytes
        return "taken"

    def ready(self) -> T | None:
        """Return the next message in order, or None if it has not come."""
        entry = self._waiting.pop(self.count + 1, None)
        if entry is None:
            return None
        message, message_bytes = entry
        self._waiting_bytes -= message_bytes
        self.count += 1
        return message


__all__ = ["Arrival", "MessageOrder"]
