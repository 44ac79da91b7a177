"""A request of the peer while it is served, and who serves it."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from accord.errors import ConnectionLost
from accord.jsonrpc.envelope import LargeResult
from accord.schema.struct import Raw

# JSON, or what becomes it while it is sent.
Result = bytes | LargeResult
# None says that the request was answered on the way, through `IncomingRequest.settle`.
Work = Callable[[], Awaitable[Result | None]]
RequestId = int | str | None

if TYPE_CHECKING:
    from accord.connection.sender import Sending

_NULL = memoryview(b"null")
_NOTHING = Raw(b"{}")


class Shortcut:
    """A way around the peer for one notification that comes very often.

    `take` gets each frame first, and says whether it took it whole; `method` names it in the log.
    Of many frames that come together `read_all` gives what `handle` takes, as far as all are of
    this kind.
    """

    __slots__ = ("_handle", "_read_all", "method", "take")

    def __init__(
        self,
        method: str,
        take: Callable[[bytes], bool],
        read_all: Callable[[list[bytes]], list[Any]],
        handle: Callable[[Any], None],
    ) -> None:
        self.method = method
        self.take = take
        self._read_all = read_all
        self._handle = handle

    def take_all(
        self, frames: list[bytes], end: "Sending", failed: Callable[[str, Exception], None]
    ) -> int:
        """Take frames from the first on, until one is another or the end comes; says how many."""
        found, handle = self._read_all(frames), self._handle
        for one in found:
            try:
                handle(one)
            except Exception as error:  # noqa: BLE001 - as for any notification
                failed(self.method, error)
            if end.error is not None:
                break
        return len(found)


def _settle_nothing(outcome: bytes | Exception) -> None:
    """Nobody waits for the answer."""


class Handler(Protocol):
    """The role above a connection: what an agent or a client does with what arrives."""

    def request(self, request: "IncomingRequest") -> Result | Work:
        """Return the result, or the work that gives it.  Raise to refuse."""
        ...

    def notification(self, method: str, params: Raw) -> None:
        """Handle a notification, without waiting for anything.  What it raises is logged."""
        ...

    def lost(self, error: ConnectionLost) -> None:
        """The connection has ended; no more calls into the handler follow."""
        ...


class IncomingRequest:
    """What is known of a request until it is answered."""

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
        # Some peers send null where they mean nothing.
        self.params = _NOTHING if memoryview(params) == _NULL else params
        self.cancel_requested = False
        # Work that must end in its own way (a turn ends `cancelled`, not as an error) sets this.
        self.on_cancel: Callable[[], None] | None = None
        # What it is answered with when we close before it is done; else that it was cancelled.
        self.answer_at_close: bytes | None = None
        # What must follow right behind the answer, such as a list that belongs to it.
        self.on_answered: Callable[[], None] | None = None
        # Answers it with a result or an error, before its work has ended; harmless when repeated.
        self.settle: Callable[[bytes | Exception], None] = _settle_nothing
        self._scope: anyio.CancelScope | None = None

    def runs_in(self, scope: anyio.CancelScope) -> None:
        """Its work begins; a request that was withdrawn before that never does."""
        self._scope = scope
        if self.cancel_requested and self.on_cancel is None:
            scope.cancel()

    def cancel(self) -> None:
        """The peer withdrew the request, or is gone."""
        self.cancel_requested = True
        if self.on_cancel is not None:
            self.on_cancel()
        else:
            self.abort()

    def abort(self) -> None:
        """Cancel the work itself, whatever it would like to do on a polite cancel."""
        if self._scope is not None:
            self._scope.cancel()


__all__ = ["Handler", "IncomingRequest", "RequestId", "Result", "Shortcut", "Work"]
