"""The pump: reads chunks, applies notifications in wire order, starts requests, settles calls.

One connection is one JSON-RPC conversation over one transport.  It knows order, cancellation,
limits and backpressure, and no method of ACP but `$/cancel_request`.

What always holds
    * Notifications are handled here and now, so in wire order; a call is answered after every
      notification that came before its answer.
    * A request runs in a task of its own, and is answered exactly once, whatever its handler does.
    * When the transport ends, every call fails and every handler is cancelled, at once.  A peer
      that only stopped sending gets the answers it waits for, for a moment.
"""

import logging
from collections.abc import Awaitable, Callable
from time import monotonic
from types import TracebackType

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint, checkpoint_if_cancelled

from accord.connection.calls import Calls
from accord.connection.incoming import Handler, IncomingRequest, RequestId, Work
from accord.connection.limits import (
    CHECK_SECONDS_MAX,
    LAST_ANSWERS_SECONDS_MAX,
    YIELD_MESSAGES_MAX,
    YIELD_SECONDS_MAX,
    Limits,
)
from accord.connection.noise import report
from accord.connection.requests import Requests
from accord.connection.workers import Workers
from accord.errors import ConnectionLost, LimitExceeded, LocalProtocolError
from accord.jsonrpc import events
from accord.jsonrpc.envelope import notification_framer
from accord.jsonrpc.framing import FrameTooLong, Framing, splitter_for
from accord.jsonrpc.peer import Peer
from accord.schema.codec import encode
from accord.schema.struct import Raw
from accord.transport.transport import Ended, Transport

_log = logging.getLogger("accord.connection")

CANCEL_REQUEST = "$/cancel_request"


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
        self._calls = Calls(self.peer)
        self._foreground_calls = 0
        self._requests = Requests(self.peer, handler, self._write_answer)
        self._tasks: TaskGroup | None = None
        self._workers: Workers | None = None
        self._holds = 0
        self._answers_untaken = 0
        self._choked = False
        self._paused = False
        self._sent_since_yield = 0
        self._now = self._yielded_at = self._checked_at = monotonic()
        self.noise_hint = ""  # for people, about lines that are no JSON
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
        self._requests.refuse_all()
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
        if self.error is not None:
            return
        try:
            frames = self._splitter.feed(data)
        except FrameTooLong as error:
            self._frames_received(error.frames)
            limit = error.frame_bytes_max
            lost = LimitExceeded("frame_bytes", limit, "the peer sent too long a frame")
            _log.error("the connection ends: %s", lost.message)
            self._lose(lost)
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
                self._event(event, frame)
            if self.error is not None:
                return

    def _event(self, event: events.Event, frame: bytes) -> None:
        if event.note is not None:
            _log.info("tolerated: %s", event.note)
        match event:
            case events.NotificationReceived():
                self._notification(event.method, event.params)
            case events.CallAnswered():
                self._calls.answered(event.id, event.result)
            case events.RequestReceived():
                self._request(event.id, event.method, event.params)
            case events.CallFailed():
                self._calls.failed(event)
            case events.Batch():
                for one in event.events:
                    self._event(one, frame)
                if event.answer is not None:
                    self._write_answer(event.answer)
            case events.FrameRejected():
                report(event, frame, self.noise_hint)
                if event.answer is not None:
                    self._write_answer(event.answer)
            case events.StrayAnswer():
                _log.warning("answer for %r, which is not open: %s", event.id, event.message)
            case events.BlankSkipped():
                pass

    def _notification(self, method: str, params: Raw) -> None:
        try:
            if method == CANCEL_REQUEST:
                self._requests.cancel_requested(params)
            else:
                self._handler.notification(method, params)
        except Exception:  # noqa: BLE001 - one bad notification must not end the reading
            _log.exception("handling the notification %s failed", method)

    def _request(self, request_id: RequestId, method: str, params: Raw) -> None:
        request = IncomingRequest(request_id, method, params)
        work = self._requests.begin(request)
        if work is not None:
            self.run(lambda: self._serve(request, work))

    async def _serve(self, request: IncomingRequest, work: Work) -> None:
        await self._requests.serve(request, work)
        if self.error is None and self._transport.backlog > self.limits.backlog_bytes:
            await self._transport.drain()

    def ended(self, why: Ended) -> None:
        """The transport's word that nothing more comes."""
        if self.error is not None:
            return
        self._frames_received(self._splitter.finish())
        error = ConnectionLost(why.reason, exit_status=why.exit_status, stderr_tail=why.stderr_tail)
        if not why.clean:
            _log.warning("the connection ended: %s", why.reason)
        if why.writable and self._requests.are_open:
            self._calls.lose(error)
            self.tasks.start_soon(self._give_last_answers, error, name="last answers")
        else:
            self._lose(error)

    async def _give_last_answers(self, error: ConnectionLost) -> None:
        """The peer asks no more but may still read: what it asked is answered, for a moment."""
        with anyio.move_on_after(LAST_ANSWERS_SECONDS_MAX):
            await self._requests.finish()
        self._lose(error)

    def _lose(self, error: ConnectionLost) -> None:
        if self.error is not None:
            return
        self.error = error
        self._calls.lose(error)
        self._requests.abort_all()
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
        pause = self._choked or (self._holds > 0 and self._foreground_calls == 0)
        if pause != self._paused and self.error is None:
            self._paused = pause
            if pause:
                self._transport.pause()
            else:
                self._transport.resume()

    # ---- writing

    def _write_answer(self, frame: bytes) -> None:
        """Write an answer; a peer that takes none of many is not heard until it does.

        A peer that keeps the bound on open requests never has more answers than that to take, so
        this cannot stop two peers who wait for each other.
        """
        self._write(frame)
        if self._transport.backlog == 0:
            self._answers_untaken = 0
            return
        self._answers_untaken += 1
        if self._answers_untaken > self.limits.pending_requests and not self._choked:
            self._choked = True
            self._update_reading()
            self.tasks.start_soon(self._wait_for_taker, name="answers untaken")

    async def _wait_for_taker(self) -> None:
        await self._transport.drain()
        self._answers_untaken = 0
        self._choked = False
        self._update_reading()

    def _write(self, frame: bytes) -> None:
        # An answer inside a batch waits for the others and has no frame yet.
        if frame:
            self._transport.write(self._splitter.encode(frame))

    def post(self, method: str, params: bytes) -> None:
        """Send a notification now, without waiting for anything."""
        if self.error is not None:
            raise self.error
        self._transport.write(self._splitter.encode(self.peer.notify(method, params)))

    def poster(self, method: str) -> Callable[[bytes], None]:
        """`post` for one method, with everything looked up once: for what is sent very often."""
        frame_of = notification_framer(method)
        write, encode_frame = self._transport.write, self._splitter.encode

        def post(params: bytes) -> None:
            if self.error is not None:
                raise self.error
            write(encode_frame(frame_of(params)))

        return post

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
        await self._calls.place()
        call_id, frame, call = self._calls.start(method, params, on_result)
        self._write(frame)
        if not background:
            self._foreground_calls += 1
            self._update_reading()
        try:
            return await call.outcome()
        except anyio.get_cancelled_exc_class():
            if self._calls.give_up(call_id) and self.error is None:
                self.post(CANCEL_REQUEST, encode({"requestId": call_id}))
            raise
        finally:
            if not background:
                self._foreground_calls -= 1
                self._update_reading()

    def withdraw(self, call_method: str) -> None:
        """Ask the peer to cancel our open calls of a method; each still gets its answer."""
        for call_id in self._calls.of_method(call_method):
            self.post(CANCEL_REQUEST, encode({"requestId": call_id}))

    def require_open(self, doing: str) -> None:
        """Raise with a sentence when the connection is over."""
        if self.error is not None:
            raise LocalProtocolError(f"cannot {doing}: {self.error.message}") from self.error


__all__ = ["Connection", "Handler", "IncomingRequest", "RequestId", "Work"]
