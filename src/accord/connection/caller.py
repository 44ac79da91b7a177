"""The half of a connection that calls, and how reading is held back without harm to that.

Must not know: what the peer asks and tells.

What always holds
    * While somebody waits for an answer or for an update, reading goes on; a consumer that is
      full cannot make it wait for ever.
    * A call that was given up is taken back from the peer, once.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol
from weakref import WeakSet

import anyio

from accord.connection.limits import LOOK_AT_CONSUMERS_BYTES, Limits
from accord.connection.pending_calls import Calls
from accord.connection.sender import Sending
from accord.jsonrpc.framing import Framing
from accord.schema.codec import encode
from accord.schema.struct import Raw
from accord.transport.transport import Transport

if TYPE_CHECKING:
    from accord.connection.dialect import Manners

CANCEL_REQUEST = "$/cancel_request"


class Consumer(Protocol):
    """Keeps what comes until somebody takes it."""

    def much_came(self) -> None:
        """Much was read since the last time; what has been here since then is too much."""
        ...


class Calling(Sending):
    """Calls one peer until there is an `error`."""

    def __init__(
        self,
        transport: Transport,
        *,
        limits: Limits | None,
        framing: Framing | None,
        accept_batches: bool,
        strict: bool,
    ) -> None:
        super().__init__(
            transport,
            limits=limits,
            framing=framing,
            accept_batches=accept_batches,
            strict=strict,
        )
        self._calls = Calls(self.peer)
        self._manners: Manners | None = None
        self._foreground_calls = 0
        self._holds = 0
        self._choked = False
        self._crowded = False
        self._paused = False
        # Those that keep what comes, such as queues.
        self._consumers: WeakSet[Consumer] = WeakSet()
        self._unlooked_bytes = 0

    # ---- backpressure of reading

    def watch(self, consumer: Consumer) -> None:
        """Tell a consumer each time that much was read, as long as somebody holds it."""
        self._consumers.add(consumer)

    def _count_read(self, size: int) -> None:
        self._unlooked_bytes += size
        if self._unlooked_bytes >= LOOK_AT_CONSUMERS_BYTES:
            self._unlooked_bytes = 0
            for consumer in tuple(self._consumers):
                consumer.much_came()

    def hold(self) -> None:
        """A consumer is full: stop reading, unless somebody waits for what the peer will say."""
        self._holds += 1
        self._update_reading()

    def unhold(self) -> None:
        """A consumer has room again."""
        self._holds -= 1
        self._update_reading()

    @property
    def is_held(self) -> bool:
        """Whether a full consumer stops the reading; what was read before that still comes in."""
        return self._holds > 0 and self._foreground_calls == 0

    def awaited(self) -> "_Awaited":
        """While somebody waits in here for what the peer will say, reading goes on."""
        return _Awaited(self)

    def await_one(self, count: int) -> None:
        """So many more wait, or, where it is negative, no longer do."""
        self._foreground_calls += count
        if self._holds:
            self._update_reading()

    def _update_reading(self) -> None:
        pause = self._choked or self._crowded or self.is_held
        if pause != self._paused and self.error is None:
            self._paused = pause
            if pause:
                self._transport.pause()
            else:
                self._transport.resume()

    # ---- calls

    @property
    def _withdraws(self) -> bool:
        return self._manners is None or self._manners.withdraws

    async def place(self) -> None:
        """Wait until one more call may be made; a `call` right behind this is sent at once.

        Raises:
            ConnectionLost: there is nobody to call any more.
        """
        await self._calls.place()

    async def call(
        self,
        method: str,
        params: bytes,
        *,
        background: bool = False,
        on_result: Callable[[Raw], None] | None = None,
    ) -> Raw:
        """Send a request and wait for its result, still encoded.

        Cancelling the wait is safe: the peer is told by `$/cancel_request`, and the answer, if it
        still comes, is dropped.  A background call does not keep reading alive while a consumer
        is full; a prompt is one, since its answer comes after the updates that fill the consumer.
        `on_result` sees the result in wire order, before anything that came after it; what it
        raises is raised here.

        Raises:
            RequestFailed: the peer answered with an error.
            ConnectionLost: the transport ended before the answer came.
        """
        await self._calls.place()
        call_id, frame, call = self._calls.start(method, params, on_result)
        self._write(frame)
        try:
            if background:
                return await call.outcome()
            with self.awaited():
                return await call.outcome()
        except anyio.get_cancelled_exc_class():
            self.give_up(call_id)
            raise

    def begin_call(
        self,
        method: str,
        params: bytes,
        *,
        on_result: Callable[[Raw], None],
        on_end: Callable[[Exception | None], None],
    ) -> int | None:
        """`call` in the background without a task that waits; the id of the call.

        `on_result` is as there, and `on_end` gets what `call` would have raised, or None.  None is
        returned, and nothing is sent, when the connection is lost or no more calls may be open.
        """
        if self.error is not None or not self.peer.can_call:
            return None
        call_id, frame, _ = self._calls.start(method, params, on_result, on_end)
        self._write(frame)
        return call_id

    def give_up(self, call_id: int, on_late: Callable[[bool], None] | None = None) -> None:
        """Nobody waits for this call any more; the peer is told if it may still work on it.

        Its answer, should it still come, is dropped; `on_late` is told whether it is a result.
        """
        is_open = self._calls.give_up(call_id, on_late)
        if is_open and self.error is None and self._withdraws:
            self.post(CANCEL_REQUEST, encode({"requestId": call_id}))

    def is_calling(self, methods: Iterable[str]) -> bool:
        """Whether a call of ours of one of these methods is open."""
        return any(self._calls.of_method(method) for method in methods)

    def withdraw(self, call_method: str) -> None:
        """Ask the peer to cancel our open calls of a method; each still gets its answer."""
        for call_id in self._calls.of_method(call_method) if self._withdraws else ():
            self.post(CANCEL_REQUEST, encode({"requestId": call_id}))


class _Awaited:
    """A class, not a generator: every call passes here."""

    __slots__ = ("_calling",)

    def __init__(self, calling: Calling) -> None:
        self._calling = calling

    def __enter__(self) -> None:
        self._calling.await_one(1)

    def __exit__(self, *failure: object) -> None:
        self._calling.await_one(-1)


__all__ = ["CANCEL_REQUEST", "Calling", "Consumer"]
