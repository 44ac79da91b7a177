"""Our calls that wait for their answers, and the tasks that wait until they may call.

Guards: a call is settled exactly once, by its answer, by the end of the connection, or because
its caller gave it up; and a call that ends wakes every task that waits to make one.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from accord.connection.lazy_event import LazyEvent
from accord.errors import ConnectionLost, RemoteProtocolError, request_failed
from accord.jsonrpc.events import CallFailed
from accord.jsonrpc.framing import Splitter
from accord.jsonrpc.peer import Peer
from accord.jsonrpc.pending_calls import ABANDONED_MAX
from accord.schema.codec import Invalid, to_python
from accord.schema.struct import Raw

if TYPE_CHECKING:
    from accord.connection.dialect import Dialect

# How much of a malformed answer is kept in the error.
MALFORMED_BYTES_KEPT = 2000


class Call:
    """A request of ours until its answer arrives."""

    __slots__ = ("answered", "error", "method", "on_end", "on_result", "result")

    def __init__(
        self,
        method: str,
        on_result: Callable[[Raw], None] | None,
        on_end: Callable[[Exception | None], None] | None = None,
    ) -> None:
        self.method = method
        self.on_result = on_result
        self.on_end = on_end
        self.answered = LazyEvent()
        self.result: Raw | None = None
        self.error: Exception | None = None

    async def outcome(self) -> Raw:
        """Wait for the answer; return the result or raise the error."""
        await self.answered.wait()
        if self.error is not None:
            raise self.error
        assert self.result is not None
        return self.result

    def settle(self, result: Raw | None, error: Exception | None) -> None:
        """Set the outcome; call `on_end`, or wake the task that waits for it."""
        self.result = result
        self.error = error
        if self.on_end is not None:
            self.on_end(error)
        else:
            self.answered.set()


class PendingCalls:
    """All open calls of one connection."""

    def __init__(self, peer: Peer, framing: Splitter) -> None:
        self._peer = peer
        self._framing = framing
        self._open: dict[int, Call] = {}
        # Callbacks for late answers to calls that were given up; the oldest are forgotten.
        self._on_late: dict[int, Callable[[bool], None]] = {}
        self._place = LazyEvent()
        self._lost: ConnectionLost | None = None
        self.dialect: Dialect | None = None

    async def place(self) -> None:
        """Wait until one more call may be made.

        Raises:
            ConnectionLost: the connection is over.
        """
        while not self._peer.can_call and self._lost is None:
            # Several tasks may wait: they share one event, or only the last would be woken.
            if self._place.is_set():
                self._place = LazyEvent()
            await self._place.wait()
        if self._lost is not None:
            raise self._lost

    def start(self, call: Call, params: bytes) -> tuple[int, tuple[bytes, ...]] | None:
        """Open a call and return its id and the bytes to send; None if no more may be open."""
        if not self._peer.can_call:
            return None
        call_id, frame = self._peer.call(call.method, params)
        data = self._framing.in_parts(frame)
        self._open[call_id] = call
        return call_id, data

    def give_up(self, call_id: int, on_late: Callable[[bool], None] | None = None) -> bool:
        """Forget a call that nobody waits for; False when it is already settled.

        If an answer arrives after all, `on_late` is told whether it is a result.
        """
        if self._open.pop(call_id, None) is None:
            return False
        if on_late is not None:
            self._on_late[call_id] = on_late
            if len(self._on_late) > ABANDONED_MAX:
                del self._on_late[next(iter(self._on_late))]
        self._peer.abandon(call_id)
        self._place.set()
        return True

    def answered_late(self, call_id: int, *, has_result: bool) -> None:
        """Take an answer to a call that was given up."""
        on_late = self._on_late.pop(call_id, None)
        if on_late is not None:
            on_late(has_result)

    def of_method(self, method: str) -> list[int]:
        """Return the ids of the open calls of a method."""
        return [call_id for call_id, call in self._open.items() if call.method == method]

    def answered(self, call_id: int, result: Raw) -> None:
        """Settle a call with its result."""
        self._place.set()
        call = self._open.pop(call_id, None)
        if call is None:
            return
        error: Exception | None = None
        if call.on_result is not None:
            try:
                call.on_result(result)
            except Exception as problem:  # noqa: BLE001 - raised in the caller
                error = problem
        if call.on_end is not None:
            call.on_end(error)
        else:
            call.settle(result, error)

    def failed(self, event: CallFailed, frame: bytes) -> None:
        """Settle a call whose answer, in this frame, is an error or malformed."""
        call = self._open.get(event.id)
        method = call.method if call is not None else "?"
        if event.malformed:
            received = frame[:MALFORMED_BYTES_KEPT].decode("utf-8", "replace")
            self._settle(
                event.id, None, RemoteProtocolError(f"{method}: {event.message}", received)
            )
            return
        data: object = None
        if event.data is not None:
            try:
                data = to_python(event.data)
            except Invalid:
                # JSON without a Python value, such as a number that no float can hold.
                data = bytes(event.data).decode("utf-8", "replace")
        code = event.code
        if self.dialect:
            code, data = self.dialect.error_in(method, code, data)
        error = request_failed(method, code, event.message, data)
        self._settle(event.id, None, error)

    def _settle(self, call_id: int, result: Raw | None, error: Exception | None) -> None:
        self._place.set()
        call = self._open.pop(call_id, None)
        if call is not None:
            call.settle(result, error)

    def lose(self, error: ConnectionLost) -> None:
        """Fail every open call and every later one: the connection is over."""
        self._lost = error
        lost = list(self._open.values())
        self._open.clear()
        self._place.set()
        for call in lost:
            call.settle(None, error)
