"""Messages on their way to the server: their order, their numbers, and those to be repeated.

Invariants
    * Messages are begun in the order in which they were put.
    * Without numbers one message is on its way at a time, because requests may overtake each other.
    * A message keeps its number when it is repeated, and counts as backlog until it is settled.
"""

from collections import deque
from typing import Final

from accord.transport.http.message_routes import MessageKeys

# Numbered messages on their way at once; the server puts them in order.
AT_ONCE_MAX: Final = 32


class OutgoingMessage:
    """One message until the server has taken it."""

    __slots__ = ("frame", "keys", "number", "session_id", "tries")

    def __init__(self, frame: bytes, keys: MessageKeys, session_id: str | None) -> None:
        self.frame = frame
        self.keys = keys
        self.session_id = session_id
        self.number: int | None = None
        self.tries = 0


class OutgoingMessages:
    """The queue of one connection."""

    def __init__(self) -> None:
        self._waiting: deque[OutgoingMessage] = deque()
        self._on_the_way: set[OutgoingMessage] = set()
        self._repeated: list[OutgoingMessage] = []
        self._numbered = False
        self._at_once = 1
        self._last_number = 0
        self.backlog = 0

    @property
    def is_empty(self) -> bool:
        """Whether every message is settled."""
        return not (self._waiting or self._on_the_way or self._repeated)

    @property
    def is_on_the_way(self) -> bool:
        """Whether the server has yet to answer a message."""
        return bool(self._on_the_way)

    def number(self, *, is_one_by_one: bool = False) -> None:
        """Number messages from now on, and begin several at once if that is wanted."""
        self._numbered = True
        self._at_once = 1 if is_one_by_one else AT_ONCE_MAX

    def put(self, message: OutgoingMessage) -> None:
        """Add a message at the end."""
        self._waiting.append(message)
        self.backlog += len(message.frame)

    def next(self) -> OutgoingMessage | None:
        """Return the message to begin next, if one may be begun now."""
        if len(self._on_the_way) >= self._at_once:
            return None
        if self._repeated:
            return self._repeated[0]
        return self._waiting[0] if self._waiting else None

    def begin(self, message: OutgoingMessage) -> None:
        """Take the next message out of the queue; it is on its way."""
        if self._repeated:
            assert self._repeated.pop(0) is message
        else:
            assert self._waiting.popleft() is message
            if self._numbered:
                self._last_number += 1
                message.number = self._last_number
        message.tries += 1
        self._on_the_way.add(message)

    def settle(self, message: OutgoingMessage) -> None:
        """Forget a message that the server has taken or refused."""
        self._on_the_way.remove(message)
        self.backlog -= len(message.frame)

    def drop(self, message: OutgoingMessage) -> None:
        """Take the next message out of the queue; it is not sent any more."""
        taken = self._repeated.pop(0) if self._repeated else self._waiting.popleft()
        assert taken is message
        self.backlog -= len(message.frame)

    def repeat(self, message: OutgoingMessage) -> None:
        """Queue a message again, before all that were put later."""
        self._on_the_way.remove(message)
        self._repeated.append(message)
        self._repeated.sort(key=lambda one: one.number or 0)

    def clear(self) -> None:
        """Forget all messages, whatever their state."""
        self._waiting.clear()
        self._on_the_way.clear()
        self._repeated.clear()
        self.backlog = 0


__all__ = ["AT_ONCE_MAX", "OutgoingMessage", "OutgoingMessages"]
