"""What passes between hops: requests that are open, who waits for an answer, and wrappers.

Must not know how anything is written; a `Hop` does that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from accord.jsonrpc.envelope import NO_PARAMS, Id, json_text
from accord.schema.struct import UNSET, BareStruct, Omit, Raw
from accord.transport.transport import Ended

if TYPE_CHECKING:
    from accord.proxy.hop import Hop

_NULL: Final = memoryview(b"null")
SUCCESSOR_METHODS: Final = frozenset({"proxy/successor", "_proxy/successor"})


class Wrapped(BareStruct, frozen=True, kw_only=True):
    """The params of `proxy/successor`; a `_meta` beside them concerns that hop alone."""

    method: str
    params: Omit[Raw] = UNSET

    @property
    def inner_params(self) -> Raw:
        """The params of the message inside; null stands for none."""
        params = self.params
        return NO_PARAMS if params is UNSET or is_null(params) else params


class Then(Protocol):
    """Who waits for the answer to a call."""

    def answered(self, result: Raw) -> None:
        """It went well."""
        ...

    def failed(self, code: int, message: str, data: Raw | None) -> None:
        """It was refused."""
        ...

    def lost(self, hop: Hop, why: Ended) -> None:
        """The neighbour has gone without an answer."""
        ...


class Owner(Protocol):
    """Who has hops, and is told what came on them."""

    def notified(self, end: End, method: str, params: Raw, frame: bytes | None) -> None:
        """A notification; `frame` is what came, None where it came wrapped or had to be mended."""
        ...

    def requested(self, asked: Asked, params: Raw) -> None:
        """A request; it is answered once, whenever that is."""
        ...

    def withdrawn(self, asked: Asked, params: Raw) -> None:
        """The asker does not want the answer any more: it said so, or it is gone."""
        ...

    def answered(self, asked: Asked) -> None:
        """A request was answered, whoever did it."""
        ...

    def gone(self, hop: Hop, why: Ended) -> None:
        """Nothing more comes on this hop."""
        ...


class Screen(Protocol):
    """Sees all that goes to one end, last of all, and may change it.

    What it does not change it gives back as the same object.
    """

    def params(self, method: str, params: bytes | Raw) -> bytes | Raw:
        """The params of a request or a notification."""
        ...

    def result(self, method: str, result: bytes | Raw) -> bytes | Raw:
        """The result of a request of this method."""
        ...

    def error(self, message: str, data: bytes | Raw | None) -> tuple[str, bytes | Raw | None]:
        """The message and the data of an error."""
        ...


class End:
    """One component as seen through a hop: plainly, or wrapped."""

    __slots__ = ("hop", "screen", "wrapper")

    def __init__(self, hop: Hop, wrapper: str | None = None) -> None:
        self.hop = hop
        self.wrapper = wrapper
        self.screen: Screen | None = None

    def lets_pass(self, method: str, params: bytes | Raw) -> bool:
        """Whether a message may go to it as it came."""
        return self.screen is None or self.screen.params(method, params) is params

    def call(self, method: str, params: bytes | Raw, then: Then) -> int:
        """Ask it; returns the id on its wire, 0 where the answer was given at once."""
        if self.screen is not None:
            params = self.screen.params(method, params)
        if self.wrapper is None:
            return self.hop.call(method, None if params is NO_PARAMS else params, then)
        return self.hop.call(self.wrapper, wrapped(method, params), then)

    def notify(self, method: str, params: bytes | Raw) -> None:
        """Tell it."""
        if self.screen is not None:
            params = self.screen.params(method, params)
        if self.wrapper is None:
            self.hop.notify(method, None if params is NO_PARAMS else params)
        else:
            self.hop.notify(self.wrapper, wrapped(method, params))


def is_null(params: bytes | Raw) -> bool:
    """Whether these params are null, which stands for none."""
    # Looked at without a copy: params may be large.
    return memoryview(params) == _NULL


def wrapped(method: str, params: bytes | Raw) -> bytes:
    """The params of the wrapper around a message; inner params are there only as they may be."""
    if params is NO_PARAMS or is_null(params):
        return b'{"method":%b}' % json_text(method)
    return b'{"method":%b,"params":%b}' % (json_text(method), params)


class Asked:
    """A request of a neighbour until it is answered."""

    __slots__ = ("doing", "end", "id", "is_open", "is_withdrawn", "method", "sent")

    def __init__(self, end: End, request_id: Id, method: str) -> None:
        self.end = end
        self.id = request_id
        self.method = method
        self.is_open = True
        self.is_withdrawn = False
        # Whom it was passed on to, under which id.
        self.sent: tuple[Hop, int] | None = None
        # For the owner: what is being done about it.
        self.doing: Any = None

    def answer(self, result: bytes | Raw) -> None:
        """Give the result; harmless when it is answered already, or the asker is gone."""
        if self.is_open:
            if self.end.screen is not None:
                result = self.end.screen.result(self.method, result)
            self.end.hop.settle(self, result)

    def refuse(self, code: int, message: str, data: bytes | Raw | None = None) -> None:
        """Answer with an error; as `answer`."""
        if self.is_open:
            if self.end.screen is not None:
                message, data = self.end.screen.error(message, data)
            self.end.hop.settle_with_error(self, code, message, data)


__all__ = [
    "SUCCESSOR_METHODS",
    "Asked",
    "End",
    "Owner",
    "Screen",
    "Then",
    "Wrapped",
    "wrapped",
]
