"""One HTTP request and its answer, as the connection that carries it sees them.

What always holds: `answered` is called at most once; then `data_received` any number of times; and
at the end exactly one of `ended` and `lost`, unless the exchange was cancelled.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

Headers = list[tuple[str, str]]
"""Names in lower case, in the order of the wire."""

LossKind = Literal["unsent", "reset", "network"]
"""What is known: the server cannot have handled the request; the server gave up this request and
the connection lives; or the connection is gone."""


class Loss(NamedTuple):
    """Why there is no answer, or not all of it."""

    reason: str
    kind: LossKind


class Exchange:
    """A request; subclasses take the answer."""

    # A stream of events: it stays open, is paused with the transport, and its data is credited to
    # the server only when it has been taken.
    is_stream = False
    # Whether silence means that the server is gone, because it sends comments when idle.
    expects_signs = False
    # Whether the server sends again what was not taken, so that it need not be kept here.
    is_resumable = False
    # Whether the request may be sent again, so that it need not wait for a server that is silent.
    is_repeatable = False

    def __init__(self, method: str, headers: Headers, body: bytes = b"") -> None:
        self.method = method
        self.headers = headers
        self.body = body

    def answered(self, status: int, headers: Headers) -> None:
        """Take the status and the headers of the answer."""
        raise NotImplementedError

    def data_received(self, data: bytes) -> None:
        """Take the next part of the body."""
        raise NotImplementedError

    def ended(self) -> None:
        """Take notice that the answer is complete."""
        raise NotImplementedError

    def lost(self, loss: Loss) -> None:
        """Take notice that nothing more of the answer arrives."""
        raise NotImplementedError


class Answer(NamedTuple):
    """A whole answer; of a long body only the beginning."""

    status: int
    headers: Headers
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of a header, by its name in lower case."""
        return next((value for key, value in self.headers if key == name), None)


class CollectedExchange(Exchange):
    """An exchange whose answer is taken as a whole."""

    def __init__(
        self,
        method: str,
        headers: Headers,
        body: bytes,
        *,
        on_answer: Callable[[Answer], None],
        on_loss: Callable[[Loss], None],
        body_bytes_max: int,
        is_repeatable: bool = False,
    ) -> None:
        super().__init__(method, headers, body)
        self.is_repeatable = is_repeatable
        self._on_answer = on_answer
        self._on_loss = on_loss
        self._left = body_bytes_max
        self._status = 0
        self._headers: Headers = []
        self._pieces: list[bytes] = []

    def answered(self, status: int, headers: Headers) -> None:
        self._status, self._headers = status, headers

    def data_received(self, data: bytes) -> None:
        if self._left > 0:
            self._pieces.append(data[: self._left])
            self._left -= len(data)

    def ended(self) -> None:
        self._on_answer(Answer(self._status, self._headers, b"".join(self._pieces)))

    def lost(self, loss: Loss) -> None:
        self._on_loss(loss)


class HttpConnection(Protocol):
    """A connection that carries exchanges: HTTP/2, or HTTP/1.1 with one at a time."""

    version: str

    def has_room(self, exchange: Exchange) -> bool:
        """Whether `request` may be called with this exchange now."""
        ...

    def request(self, exchange: Exchange) -> None:
        """Send the request; the exchange is told of the answer later, never from in here."""
        ...

    def cancel(self, exchange: Exchange) -> bool:
        """Give up an exchange; False if it is not one of this connection's."""
        ...

    def pause(self) -> None:
        """Deliver nothing of streams until `resume`."""
        ...

    def resume(self) -> None: ...

    def close(self) -> None:
        """Close at once; exchanges are told nothing more."""
        ...


class ConnectionOwner(Protocol):
    """The pool that a connection belongs to."""

    def room_made(self) -> None:
        """Take notice that a connection may have room for another exchange."""
        ...

    def connection_lost(self, connection: HttpConnection) -> None:
        """Take notice that a connection is over."""
        ...


__all__ = [
    "Answer",
    "CollectedExchange",
    "ConnectionOwner",
    "Exchange",
    "Headers",
    "HttpConnection",
    "Loss",
    "LossKind",
]
