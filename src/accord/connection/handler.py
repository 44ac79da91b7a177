"""A request of the peer, and the interface of the object that handles it."""

from collections.abc import Awaitable, Callable
from typing import Protocol

import anyio

from accord.errors import ConnectionLost
from accord.jsonrpc.large_text import TextResult
from accord.schema.struct import Raw

# JSON text, or an object that becomes JSON text while it is sent.
Result = bytes | TextResult
# None means that the request was already answered through `IncomingRequest.settle`.
Work = Callable[[], Awaitable[Result | None]]
RequestId = int | str | None

_NULL = memoryview(b"null")
_NOTHING = Raw(b"{}")


def _settle_nothing(outcome: bytes | Exception) -> None:
    """Do nothing: no program waits for the answer."""


class Handler(Protocol):
    """The agent or the client above a connection, which handles what arrives."""

    def request(self, request: "IncomingRequest") -> Result | Work:
        """Return the result, or a function that produces it.  Raise to refuse."""
        ...

    def notification(self, method: str, params: Raw) -> None:
        """Handle a notification, without waiting.  Exceptions are logged."""
        ...

    def lost(self, error: ConnectionLost) -> None:
        """Take notice that the connection has ended; no other method is called after this."""
        ...


class IncomingRequest:
    """A request until it is answered."""

    __slots__ = (
        "_scope",
        "answer_at_close",
        "cancel_requested",
        "id",
        "method",
        "on_answered",
        "on_cancel",
        "params",
        "settle",
    )

    def __init__(self, request_id: RequestId, method: str, params: Raw) -> None:
        self.id = request_id
        self.method = method
        # Some peers send null for empty params.
        self.params = _NOTHING if memoryview(params) == _NULL else params
        self.cancel_requested = False
        # Work that must end in its own way (a turn ends `cancelled`, not as an error) sets this.
        self.on_cancel: Callable[[], None] | None = None
        # The answer if the connection is closed here first; without one, a cancellation error.
        self.answer_at_close: bytes | None = None
        # Called directly after the answer is written, such as for a list that belongs to it.
        self.on_answered: Callable[[], None] | None = None
        # Answers with a result or an error before the work has ended; later calls do nothing.
        self.settle: Callable[[bytes | Exception], None] = _settle_nothing
        self._scope: anyio.CancelScope | None = None

    def runs_in(self, scope: anyio.CancelScope) -> None:
        """Note the scope of the work, and cancel it if the request was already withdrawn."""
        self._scope = scope
        if self.cancel_requested and self.on_cancel is None:
            scope.cancel()

    def cancel(self) -> None:
        """Cancel the request because the peer withdrew it or is gone."""
        self.cancel_requested = True
        if self.on_cancel is not None:
            self.on_cancel()
        else:
            self.abort()

    def abort(self) -> None:
        """Cancel the work itself, without asking `on_cancel`."""
        if self._scope is not None:
            self._scope.cancel()
