"""The pump: reads chunks, applies notifications in wire order, starts requests, settles calls.

One connection is one JSON-RPC conversation over one transport.  It knows order, cancellation,
limits and backpressure, and no method of ACP but `$/cancel_request`.

What always holds
    * Notifications are handled here and now, so in wire order; a call is answered after every
      notification that came before its answer.
    * A request runs in a task of its own, and is answered exactly once, whatever its handler does.
    * When the transport ends, every call fails and every handler is cancelled, at once.
"""

import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from types import TracebackType
from typing import Protocol

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint, checkpoint_if_cancelled

from accord.connection.faults import error_for
from accord.connection.limits import (
    CHECK_SECONDS_MAX,
    YIELD_MESSAGES_MAX,
    YIELD_SECONDS_MAX,
    Limits,
)
from accord.connection.workers import Workers
from accord.errors import ConnectionLost, LimitExceeded, LocalProtocolError, request_failed
from accord.jsonrpc import events
from accord.jsonrpc.framing import FrameTooLong, Framing, splitter_for
from accord.jsonrpc.peer import Peer
from accord.schema.codec import encode, to_python
from accord.schema.struct import Raw
from accord.transport.transport import Ended, Transport

_log = logging.getLogger("accord.connection")

REQUEST_CANCELLED = -32800
CANCEL_REQUEST = "$/cancel_request"

Work = Callable[[], Awaitable[bytes]]
RequestId = int | str | None


class Handler(Protocol):
    """The role above a connection: what an agent or a client does with what arrives."""

    def request(self, request: "IncomingRequest") -> bytes | Work:
        """Return the encoded result, or the work that gives it.  Raise to refuse."""

    def notification(self, method: str, params: Raw) -> None:
        """Handle a notification, without waiting for anything.  What it raises is logged."""

    def lost(self, error: ConnectionLost) -> None:
        """The connection has ended; no more calls into the handler follow."""


class IncomingRequest:
    """A request of the peer while it is served."""

    __slots__ = ("_scope", "cancel_requested", "id", "method", "on_answered", "on_cancel", "params")

    def __init__(self, request_id: RequestId, method: str, params: Raw) -> None:
        self.id = request_id
        self.method = method
        self.params = params
        self.cancel_requested = False
        # Work that must end in its own way (a turn ends `cancelled`, not as an error) sets this.
        self.on_cancel: Callable[[], None] | None = None
        # What must follow right behind the answer, such as a list that belongs to it.
        self.on_answered: Callable[[], None] | None = None
        self._scope: anyio.CancelScope | None = None

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


class _Call:
    __slots__ = ("answered", "background", "error", "method", "on_result", "result")

    def __init__(
        self, method: str, background: bool, on_result: Callable[[Raw], None] | None
    ) -> None:
        self.method = method
        self.background = background
        self.on_result = on_result
        self.answered = anyio.Event()
        self.result: Raw | None = None
        self.error: Exception | None = None


class Connection:
    """One conversation.  Use it as an async context manager; it lives as long as the block."""

    def __init__(
        self,
        transport: Transport,
        handler: Handler,
        *,
        limits: Limits | None = None,
        framing: Framing | None = None,
        accept_batches: bool = False,
        strict: bool = False,
    ) -> None:
        self.limits = limits or Limits()
        self._transport = transport
        self._handler = handler
        self._strict = strict
        self.peer = Peer(
            accept_batches=accept_batches,
            depth_max=self.limits.depth,
            pending_max=self.limits.pending_requests,
            strict=strict,
        )
        self._splitter = splitter_for(framing, frame_bytes_max=self.limits.frame_bytes)
        self._calls: dict[int, _Call] = {}
        self._foreground_calls = 0
        self._requests: dict[RequestId, IncomingRequest] = {}
        self._slot = anyio.Event()
        self._tasks: TaskGroup | None = None
        self._workers: Workers | None = None
        self._holds = 0
        self._paused = False
        self._sent_since_yield = 0
        self._now = self._yielded_at = self._checked_at = monotonic()
        self.error: ConnectionLost | None = None
        self.closed = anyio.Event()

    # ---- life

    async def __aenter__(self) -> "Connection":
        tasks = anyio.create_task_group()
        self._tasks = await tasks.__aenter__()
        self._workers = Workers(tasks)
        try:
            await self._transport.start(self, tasks)
        except BaseException:
            tasks.cancel_scope.cancel()
            await tasks.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._tasks is not None
        try:
            with anyio.CancelScope(shield=True):
                await self.aclose()
        finally:
            # The block's own exception goes its way as it is: inside the group it would come out
            # wrapped, and nobody could catch it by its class.
            self._tasks.cancel_scope.cancel()
            await self._tasks.__aexit__(None, None, None)

    async def aclose(self) -> None:
        """End the conversation from our side.  Calls that wait fail with ConnectionLost."""
        self._lose(ConnectionLost("the connection was closed here"))
        await self._transport.aclose()

    @property
    def tasks(self) -> TaskGroup:
        """Where tasks of this conversation live; they end with it."""
        assert self._tasks is not None, "the connection has not been entered"
        return self._tasks

    def run(self, job: Callable[[], Awaitable[None]]) -> None:
        """Run a job in a task of this conversation."""
        assert self._workers is not None
        self._workers.run(job)

    # ---- reading

    def data_received(self, data: bytes) -> None:
        """Split a chunk into frames and handle each, in order."""
        try:
            frames = self._splitter.feed(data)
        except FrameTooLong as error:
            self._frames_received(error.frames)
            limit = error.frame_bytes_max
            self._lose(LimitExceeded("frame_bytes", limit, "the peer sent too long a frame"))
            self.tasks.start_soon(self._transport.aclose, name="close")
            return
        self._frames_received(frames)

    def _frames_received(self, frames: list[bytes]) -> None:
        receive, notification = self.peer.receive, self._handler.notification
        for frame in frames:
            event = receive(frame)
            if type(event) is events.NotificationReceived and event.method != CANCEL_REQUEST:
                # Here and now, so in wire order.  It stands here without a call of its own,
                # since all updates of all sessions pass through this loop.
                try:
                    notification(event.method, event.params)
                except Exception:  # noqa: BLE001 - one bad one must not end the reading
                    _log.exception("handling the notification %s failed", event.method)
            else:
                self._event(event)
            if self.error is not None:
                return

    def _event(self, event: events.Event) -> None:
        if event.note is not None:
            _log.info("tolerated: %s", event.note)
        match event:
            case events.NotificationReceived():
                self._notification(event.method, event.params)
            case events.CallAnswered():
                self._settle(event.id, event.result, None)
            case events.RequestReceived():
                self._request(event.id, event.method, event.params)
            case events.CallFailed():
                self._call_failed(event)
            case events.Batch():
                for one in event.events:
                    self._event(one)
                if event.answer is not None:
                    self._write(event.answer)
            case events.FrameRejected():
                _log.warning("bad frame: %s", event.reason)
                if event.answer is not None:
                    self._write(event.answer)
            case events.StrayAnswer():
                _log.warning("answer for %r, which is not open: %s", event.id, event.message)
            case events.BlankSkipped():
                pass

    def _notification(self, method: str, params: Raw) -> None:
        try:
            if method == CANCEL_REQUEST:
                self._cancel_requested(params)
            else:
                self._handler.notification(method, params)
        except Exception:  # noqa: BLE001 - one bad notification must not end the reading
            _log.exception("handling the notification %s failed", method)

    def _cancel_requested(self, params: Raw) -> None:
        wanted = to_python(params)
        request_id = wanted.get("requestId") if isinstance(wanted, dict) else None
        request = self._requests.get(request_id) if isinstance(request_id, int | str) else None
        if request is not None and type(request.id) is type(request_id):
            request.cancel()

    def _request(self, request_id: RequestId, method: str, params: Raw) -> None:
        request = IncomingRequest(request_id, method, params)
        try:
            outcome = self._handler.request(request)
        except Exception as error:  # noqa: BLE001 - whatever it was, the peer gets an answer
            self._refuse(request, error)
            return
        if isinstance(outcome, bytes):
            self._answer(request, outcome)
            return
        self._requests[request_id] = request
        self.run(lambda: self._serve(request, outcome))

    async def _serve(self, request: IncomingRequest, work: Work) -> None:
        with anyio.CancelScope() as scope:
            request._scope = scope
            if request.cancel_requested and request.on_cancel is None:
                scope.cancel()
            try:
                result = await work()
            except anyio.get_cancelled_exc_class():
                raise
            except BaseException as error:
                self._requests.pop(request.id, None)
                self._refuse(request, error)
                if not isinstance(error, Exception):
                    raise
                return
            self._requests.pop(request.id, None)
            self._answer(request, result)
            if self.error is None and self._transport.backlog > self.limits.backlog_bytes:
                await self._transport.drain()
            return
        if self._requests.pop(request.id, None) is not None and self.error is None:
            self._write(self.peer.refuse(request.id, REQUEST_CANCELLED, "Request cancelled", None))

    def _answer(self, request: IncomingRequest, result: bytes) -> None:
        if self.error is None:
            self._write(self.peer.answer(request.id, result))
            if request.on_answered is not None:
                request.on_answered()

    def _refuse(self, request: IncomingRequest, error: BaseException) -> None:
        code, message, data = error_for(error, request.method)
        if self.error is None:
            encoded = None if data is None else encode(data)
            self._write(self.peer.refuse(request.id, code, message, encoded))

    def ended(self, why: Ended) -> None:
        """The transport's word that nothing more comes."""
        if self.error is None:
            self._frames_received(self._splitter.finish())
        self._lose(
            ConnectionLost(why.reason, exit_status=why.exit_status, stderr_tail=why.stderr_tail)
        )

    def _lose(self, error: ConnectionLost) -> None:
        if self.error is not None:
            return
        self.error = error
        for call in list(self._calls.values()):
            call.error = error
            call.answered.set()
        self._calls.clear()
        self._slot.set()
        for request in list(self._requests.values()):
            request.cancel()
            request.abort()
        self.closed.set()
        self._handler.lost(error)

    # ---- backpressure of reading

    def hold(self) -> None:
        """A consumer is full: stop reading, unless somebody waits for an answer meanwhile."""
        self._holds += 1
        self._update_reading()

    def unhold(self) -> None:
        """A consumer has room again."""
        self._holds -= 1
        self._update_reading()

    def _update_reading(self) -> None:
        pause = self._holds > 0 and self._foreground_calls == 0
        if pause != self._paused and self.error is None:
            self._paused = pause
            if pause:
                self._transport.pause()
            else:
                self._transport.resume()

    # ---- writing

    def _write(self, frame: bytes) -> None:
        # An answer inside a batch waits for the others and has no frame yet.
        if frame:
            self._transport.write(self._splitter.encode(frame))

    def post(self, method: str, params: bytes) -> None:
        """Send a notification now, without waiting for anything."""
        if self.error is not None:
            raise self.error
        self._transport.write(self._splitter.encode(self.peer.notify(method, params)))

    async def notify(self, method: str, params: bytes) -> None:
        """Send a notification; waits while the peer is slow."""
        if self.check_is_due():
            await checkpoint_if_cancelled()
        self.post(method, params)
        if self.wait_is_due():
            await self.give_way()

    # The two questions below cost a tenth of what asking anyio costs.  Between two sends that do
    # not wait no other task runs, so nobody else can have cancelled the sender meanwhile; only a
    # sender that cancels itself is noticed late, by CHECK_SECONDS_MAX.

    def check_is_due(self) -> bool:
        """Whether a sender must look for its cancellation before it sends."""
        now = self._now = monotonic()
        if now - self._checked_at < CHECK_SECONDS_MAX:
            return False
        self._checked_at = now
        return True

    def wait_is_due(self) -> bool:
        """Whether a sender must `give_way` after it has sent."""
        self._sent_since_yield += 1
        return (
            self._sent_since_yield >= YIELD_MESSAGES_MAX
            or self._now - self._yielded_at >= YIELD_SECONDS_MAX
            or self._transport.backlog > self.limits.backlog_bytes
        )

    async def give_way(self) -> None:
        """Wait while the backlog is full; let others run in any case."""
        if self._transport.backlog > self.limits.backlog_bytes:
            await self._transport.drain()
            if self.error is not None:
                raise self.error
        else:
            await checkpoint()
        self._sent_since_yield = 0
        self._now = self._yielded_at = monotonic()

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
        while not self.peer.can_call and self.error is None:
            # Several may wait at once: they share one event, or only the last would be woken.
            if self._slot.is_set():
                self._slot = anyio.Event()
            await self._slot.wait()
        if self.error is not None:
            raise self.error
        call_id, frame = self.peer.call(method, params)
        call = self._calls[call_id] = _Call(method, background, on_result)
        self._write(frame)
        if not background:
            self._foreground_calls += 1
            self._update_reading()
        try:
            await call.answered.wait()
        except BaseException:
            if self._calls.pop(call_id, None) is not None and self.error is None:
                self.peer.abandon(call_id)
                self.post(CANCEL_REQUEST, encode({"requestId": call_id}))
            raise
        finally:
            if not background:
                self._foreground_calls -= 1
                self._update_reading()
        if call.error is not None:
            raise call.error
        assert call.result is not None
        return call.result

    def withdraw(self, call_method: str) -> None:
        """Ask the peer to cancel our open calls of a method; each still gets its answer."""
        for call_id, call in self._calls.items():
            if call.method == call_method:
                self.post(CANCEL_REQUEST, encode({"requestId": call_id}))

    def _settle(self, call_id: RequestId, result: Raw | None, error: Exception | None) -> None:
        assert isinstance(call_id, int)
        self._slot.set()
        call = self._calls.pop(call_id, None)
        if call is not None:
            call.result = result
            call.error = error
            if result is not None and call.on_result is not None:
                try:
                    call.on_result(result)
                except Exception as problem:  # noqa: BLE001  it is raised in the caller
                    call.error = problem
            call.answered.set()

    def _call_failed(self, event: events.CallFailed) -> None:
        call = self._calls.get(event.id)
        method = call.method if call is not None else "?"
        data = None if event.data is None else to_python(event.data)
        self._settle(event.id, None, request_failed(method, event.code, event.message, data))

    def require_open(self, doing: str) -> None:
        """Raise with a sentence when the connection is over."""
        if self.error is not None:
            raise LocalProtocolError(f"cannot {doing}: {self.error.message}") from self.error
