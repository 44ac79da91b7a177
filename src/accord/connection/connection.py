"""One JSON-RPC conversation over one transport: order, cancellation, limits and backpressure.

Must not know: any method of ACP but `$/cancel_request`.

What always holds
    * Notifications are handled synchronously and so in wire order; a call returns after every
      notification that arrived before its answer has been handled.
    * A request runs in a task of its own, and is answered exactly once, whatever its handler does.
    * A frame over the limit is refused before any of it is written.
    * A program that sends without end waits for a slow peer, and lets other tasks run.
    * A call that its caller gives up is withdrawn from the peer, once.
    * When the transport ends, every call fails and every handler is cancelled, at once.  A peer
      that only stopped sending has a moment to receive the answers it waits for.
"""

import gc
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint, checkpoint_if_cancelled

from accord.connection.backpressure import TransportPauser
from accord.connection.handler import Handler, IncomingRequest, RequestId, Work
from accord.connection.incoming_requests import IncomingRequests
from accord.connection.limits import (
    CHECK_SECONDS_MAX,
    FRAMES_AT_ONCE,
    LAST_ANSWERS_SECONDS_MAX,
    MANY_FRAMES,
    YIELD_MESSAGES_MAX,
    YIELD_SECONDS_MAX,
    Limits,
)
from accord.connection.notification_batch import NotificationBatch
from accord.connection.notification_shortcut import Shortcut
from accord.connection.outgoing_calls import Call, PendingCalls
from accord.connection.peer_mistakes import PeerMistakes
from accord.connection.workers import Workers, raising
from accord.errors import ConnectionLost, LimitExceeded, LocalProtocolError, RemoteProtocolError
from accord.jsonrpc import events
from accord.jsonrpc.envelope import CARRIAGE_RETURN, LINE_FEED, notification_head, one_line
from accord.jsonrpc.framing import FrameTooLong, Framing, splitter_for
from accord.jsonrpc.peer import Peer
from accord.machine.redacted_logs import logger
from accord.schema.codec import encode
from accord.schema.method import CANCEL_REQUEST
from accord.schema.struct import Raw
from accord.transport.transport import Ended, Transport

if TYPE_CHECKING:
    from accord.connection.dialect import Dialect

_log = logger("accord.connection")

# The connection's own reasons to stop reading.
_UNREAD_FRAMES = "unread frames"
_UNTAKEN_ANSWERS = "untaken answers"


class Connection:
    """One conversation with one peer.  Use it as an async context manager."""

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
        self.principal = ""  # the name of the peer's user, if somebody has verified it
        self.limits = limits or Limits()
        self.strict = strict
        # Why the connection is over; None while it is open.
        self.error: ConnectionLost | None = None
        # Set if this side ended the connection because of what the peer did.
        self.broken: ConnectionLost | None = None
        self.closed = anyio.Event()
        self.peer = Peer(
            accept_batches=accept_batches,
            depth_max=self.limits.depth,
            pending_max=self.limits.pending_requests,
            frame_bytes_max=self.limits.frame_bytes,
            strict=strict,
        )
        self.reading = TransportPauser(transport)
        self.mistakes = PeerMistakes(strict=strict, break_off=self.break_off)
        self.tolerate = self.mistakes.tolerate
        self.shortcut: Shortcut | None = None
        self._transport = transport
        self._handler = handler
        self._splitter = splitter_for(framing, frame_bytes_max=self.limits.frame_bytes)
        self._calls = PendingCalls(self.peer, self._splitter)
        self._requests = IncomingRequests(self.peer, self._splitter, handler, self._write_answer)
        self._dialect: Dialect | None = None
        self._tasks: TaskGroup | None = None
        self._workers: Workers | None = None
        # Frames of a large chunk that are handled later, so that other tasks can run.
        self._unread: deque[bytes] | None = None
        self._answers_untaken = 0
        self._sent_since_yield = 0
        self._now = self._yielded_at = self._checked_at = monotonic()

    # ---- lifetime

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

    def begin_within(self, outer: "Connection") -> None:
        """Live in the tasks of another conversation, for the same user, and end with it."""
        self._tasks, self._workers = outer._tasks, outer._workers
        self.principal = outer.principal

    @property
    def transport(self) -> Transport:
        """What carries the bytes."""
        return self._transport

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
            # The task group does not see the block's own exception: it would wrap it, and nobody
            # could catch it by its class.
            self._tasks.cancel_scope.cancel()
            await self._tasks.__aexit__(None, None, None)

    async def aclose(self) -> None:
        """Close the connection.  Pending calls fail with ConnectionLost."""
        self._requests.refuse_all()
        self._lose(ConnectionLost("the connection was closed here"))
        await self._transport.aclose()

    @property
    def tasks(self) -> TaskGroup:
        """The task group of this connection; its tasks end with the connection."""
        assert self._tasks is not None, "the connection has not been entered"
        return self._tasks

    def run(self, job: Callable[[], Awaitable[None]]) -> None:
        """Run a job in a task of this connection."""
        assert self._workers is not None
        self._workers.run(job)

    def run_while_idle(self, steps: Iterable[None]) -> None:
        """Take these steps one by one in a task of this connection, while no request is open."""
        self.run(partial(self._requests.take_idle_steps, steps))

    def hand_over(self, handler: Handler) -> None:
        """Let another handler take what arrives from now on."""
        self._handler = handler
        self._requests.hand_over(handler)

    def agree_on(self, dialect: "Dialect | None") -> None:
        """Use the error codes and the cancellation of a dialect from now on; None is official."""
        self._dialect = self._calls.dialect = self._requests.dialect = dialect

    def require_open(self, doing: str) -> None:
        """Raise LocalProtocolError, with a sentence about `doing`, if the connection is over."""
        if self.error is not None:
            raise LocalProtocolError(f"cannot {doing}: {self.error.message}") from self.error

    def break_off(self, reason: str) -> None:
        """Close the connection at once because the peer broke a rule and strict mode is on."""
        lost = ConnectionLost(f"strict: {reason}")
        lost.__cause__ = RemoteProtocolError(reason)
        self._end_with(lost)

    def _end_with(self, lost: ConnectionLost) -> None:
        if self.error is None:
            # Only a note: the owner of the connection gets the error and reports it.
            _log.info("the connection ends: %s", lost.message)
            self.broken = lost
            self._lose(lost)
            self.tasks.start_soon(self._transport.aclose, name="close")

    def ended(self, why: Ended) -> None:
        """Take the transport's notice that no more data will arrive."""
        if self.error is not None:
            return
        self._handle_unread(self._splitter.finish())
        self.mistakes.bad_lines_over()
        error = ConnectionLost(why.reason, exit_status=why.exit_status, stderr_tail=why.stderr_tail)
        if not why.clean:
            _log.warning("the connection ended: %s", why.reason)
        if why.writable and self._requests.are_open:
            self._calls.lose(error)
            self.tasks.start_soon(self._give_last_answers, error, name="last answers")
        else:
            self._lose(error)

    async def _give_last_answers(self, error: ConnectionLost) -> None:
        with anyio.move_on_after(LAST_ANSWERS_SECONDS_MAX):
            await self._requests.finish()
        self._lose(error)

    def _lose(self, error: ConnectionLost) -> None:
        if self.error is not None:
            return
        self.error = error
        self.reading.end()
        self._calls.lose(error)
        self._requests.abort_all()
        self.closed.set()
        self._handler.lost(error)

    # ---- receiving

    def data_received(self, data: bytes) -> None:
        """Split a chunk into frames and handle each, in order."""
        if self.error is not None:
            return
        self.reading.count(len(data))
        try:
            frames = self._splitter.feed(data)
        except FrameTooLong as error:
            self._handle_unread(error.frames)
            limit = error.frame_bytes_max
            self._end_with(LimitExceeded("frame_bytes", limit, "the peer sent too long a frame"))
            return
        if self._unread:
            self._unread.extend(frames)
        elif len(frames) <= FRAMES_AT_ONCE:
            self._handle(frames)
        else:
            self._unread = deque(frames[FRAMES_AT_ONCE:])
            self.reading.stop_for(_UNREAD_FRAMES)
            self._handle(frames[:FRAMES_AT_ONCE])
            self.run(self._handle_rest)

    def _handle(self, frames: list[bytes]) -> None:
        # Few of the objects made for each frame survive: one garbage collection after all of them.
        pauses_gc = len(frames) >= MANY_FRAMES and gc.isenabled()
        if pauses_gc:
            gc.disable()
        try:
            self._frames_received(frames)
        except (SystemExit, KeyboardInterrupt) as error:
            # Raised out of a callback, it would stop the event loop with everything still open.
            self.run(raising(error))
        finally:
            if pauses_gc:
                gc.enable()
        if self.mistakes.bad_lines_after_first and not self.peer.noise_count:
            self.mistakes.bad_lines_over()

    async def _handle_rest(self) -> None:
        """Handle the rest of a large chunk, and let other tasks run in between."""
        unread = self._unread
        while unread and self.error is None:
            await checkpoint()
            self._handle([unread.popleft() for _ in range(min(len(unread), FRAMES_AT_ONCE))])
        self.reading.go_on(_UNREAD_FRAMES)

    def _handle_unread(self, frames: list[bytes]) -> None:
        """Handle everything that was received before the end."""
        unread = [*(self._unread or ()), *frames]
        (self._unread or deque()).clear()
        self._handle(unread)

    def _frames_received(self, frames: list[bytes]) -> None:
        shortcut = self.shortcut
        while shortcut is not None and len(frames) >= MANY_FRAMES and self.error is None:
            taken = shortcut.take_all(frames, self, self.mistakes.notification_failed)
            if taken:
                self.peer.noise_count = 0
            # A single frame of another kind, or all the rest if there are many such frames.
            others = frames[taken : taken + 1] if taken >= MANY_FRAMES else frames[taken:]
            frames = frames[taken + len(others) :]
            self._take_each(others)
        self._take_each(frames)

    def _take_each(self, frames: list[bytes]) -> None:
        receive, notification = self.peer.receive, self._handler.notification
        shortcut, was_taken = self.shortcut, False
        for frame in frames:
            if self.error is not None:
                return
            if shortcut is not None:
                try:
                    found = shortcut.read(frame)
                    if found is not None:
                        was_taken = True
                        shortcut.handle(found)
                        continue
                except Exception as error:  # noqa: BLE001 - as for any notification
                    self.mistakes.notification_failed(shortcut.method, error)
                    continue
                if was_taken:
                    was_taken = False
                    self.peer.noise_count = 0
            event = receive(frame)
            if (
                type(event) is events.NotificationReceived
                and event.method != CANCEL_REQUEST
                and event.note is None
            ):
                # Handled inline, since notifications are by far the most frequent messages.
                try:
                    notification(event.method, event.params)
                except Exception as error:  # noqa: BLE001 - a bad notification must not end reading
                    self.mistakes.notification_failed(event.method, error)
            else:
                self._event(event, frame)
        if was_taken:
            self.peer.noise_count = 0

    def _event(self, event: events.Event, frame: bytes) -> None:
        if event.note is not None:
            self.tolerate(event.note)
            if self.error is not None:
                return
        match event:
            case events.NotificationReceived():
                self._notification(event.method, event.params)
            case events.CallAnswered():
                self._calls.answered(event.id, event.result)
            case events.RequestReceived():
                self._request(event.id, event.method, event.params)
            case events.CallFailed():
                self._calls.failed(event, frame)
            case events.Batch():
                for one, entry in zip(event.events, event.entries, strict=True):
                    if self.error is not None:
                        return
                    self._event(one, entry)
                if event.answer is not None:
                    # Each entry that is answered here counts as an answer.
                    self._answers_untaken += len(event.events) - 1
                    self._write_answer(self._splitter.in_parts(event.answer))
            case events.FrameRejected():
                if event.answer is not None:
                    self._write_answer(self._splitter.in_parts(event.answer))
                self.mistakes.frame_rejected(event, frame)
            case events.StrayAnswer():
                self.mistakes.stray_answer(event)
                if event.id is not None and event.kind == "late":
                    self._calls.answered_late(int(event.id), has_result=event.code is None)
            case events.BlankSkipped():
                pass

    def _notification(self, method: str, params: Raw) -> None:
        try:
            if method == CANCEL_REQUEST:
                self._requests.cancel_requested(params)
            else:
                self._handler.notification(method, params)
        except Exception as error:  # noqa: BLE001 - a bad notification must not end reading
            self.mistakes.notification_failed(method, error)

    def _request(self, request_id: RequestId, method: str, params: Raw) -> None:
        request = IncomingRequest(request_id, method, params)
        work = self._requests.begin(request)
        if work is not None:
            self.run(lambda: self._serve(request, work))

    async def _serve(self, request: IncomingRequest, work: Work) -> None:
        # This task begins, so that every sender has just given way.
        self._sent_since_yield, self._yielded_at = 0, monotonic()
        await self._requests.serve(request, work)
        if self.error is None and self._transport.backlog > self.limits.backlog_bytes:
            await self._transport.drain()

    # ---- calls

    @property
    def _withdraws(self) -> bool:
        return not self._dialect or self._dialect.withdraws

    async def place(self) -> None:
        """Wait until one more call may be open; a `call` directly after this is sent at once.

        Raises:
            ConnectionLost: the connection is over.
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

        Cancelling the wait is safe: the peer gets `$/cancel_request`, and a later answer is
        dropped.  A background call does not keep reading alive while a consumer is full; a prompt
        is one, since its answer comes after the updates that fill the consumer.  `on_result` gets
        the result in wire order, before anything that arrived after it; what it raises is raised
        here.

        Raises:
            RequestFailed: the peer answered with an error.
            ConnectionLost: the transport ended before the answer arrived.
        """
        await self._calls.place()
        call = Call(method, on_result)
        call_id = self._send(call, params)
        assert call_id is not None
        try:
            if background:
                return await call.outcome()
            with self.reading.awaited():
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
        """Start a background call without a task that waits, and return its id.

        `on_result` works as in `call`, and `on_end` gets what `call` would have raised, or None.
        Returns None and sends nothing when the connection is over or no more calls may be open.
        """
        if self.error is not None:
            return None
        return self._send(Call(method, on_result, on_end), params)

    def _send(self, call: Call, params: bytes) -> int | None:
        call_id, data = self._calls.start(call, params) or (None, ())
        for part in data:
            self._transport.write(part)
        return call_id

    def give_up(self, call_id: int, on_late: Callable[[bool], None] | None = None) -> None:
        """Stop waiting for a call, and tell the peer if it may still work on it.

        A later answer is dropped; `on_late` is told whether it is a result.
        """
        is_open = self._calls.give_up(call_id, on_late)
        if is_open and self.error is None and self._withdraws:
            self.post(CANCEL_REQUEST, encode({"requestId": call_id}))

    def is_calling(self, methods: Iterable[str]) -> bool:
        """Whether a call of one of these methods is open."""
        return any(self._calls.of_method(method) for method in methods)

    def withdraw(self, call_method: str) -> None:
        """Ask the peer to cancel our open calls of a method; each still gets its answer."""
        for call_id in self._calls.of_method(call_method) if self._withdraws else ():
            self.post(CANCEL_REQUEST, encode({"requestId": call_id}))

    # ---- notifications

    def post(self, method: str, params: bytes) -> None:
        """Send a notification now, without waiting.

        Raises:
            LocalProtocolError: the notification exceeds the frame limit.
            ConnectionLost: the connection is over.
        """
        if self.error is not None:
            raise self.error
        self._transport.write(self._splitter.encode(self.peer.notify(method, params)))
        self._sent_since_yield += 1

    def poster(
        self, method: str, before: bytes = b"", behind: bytes = b""
    ) -> Callable[[bytes], bool]:
        """Return a function that posts very frequent notifications of one method.

        Their params are `before`, a value, and `behind`; all that they have in common is made once.
        The function returns whether its caller must `give_way`.
        """
        transport, line_end = self._transport, self._splitter.line_end
        head, tail = one_line(notification_head(method) + before), one_line(behind + b"}")
        end = tail + (line_end or b"")
        frame_bytes_max, backlog_bytes_max = self.limits.frame_bytes, self.limits.backlog_bytes

        def post(value: bytes) -> bool:
            if self.error is not None:
                raise self.error
            data = head + value + end
            is_odd = LINE_FEED in value or CARRIAGE_RETURN in value or len(data) > frame_bytes_max
            if is_odd or line_end is None:
                frame = self.peer.checked(one_line(head + value + tail), method)
                data = self._splitter.encode(frame)
            transport.write(data)
            # As in `wait_is_due`, without another call.
            self._sent_since_yield += 1
            return (
                self._sent_since_yield >= YIELD_MESSAGES_MAX
                or self._now - self._yielded_at >= YIELD_SECONDS_MAX
                or transport.backlog > backlog_bytes_max
            )

        return post

    def gather(self, method: str, before: bytes = b"", behind: bytes = b"") -> NotificationBatch:
        """Return a batch of notifications; their params are `before`, a value, and `behind`."""
        return NotificationBatch(self, method, before, behind)

    async def notify(self, method: str, params: bytes) -> None:
        """Send a notification as `post` does, and wait while the peer is slow."""
        if self.check_is_due():
            await checkpoint_if_cancelled()
        self.post(method, params)
        if self.wait_is_due():
            await self.give_way()

    # `check_is_due` and `wait_is_due` cost a tenth of a checkpoint.  No other task runs between two
    # sends that do not wait, so nobody else can have cancelled the sender in between; only a sender
    # that cancels itself notices it late, by at most CHECK_SECONDS_MAX.

    def check_is_due(self) -> bool:
        """Whether a sender must check for its own cancellation before it sends."""
        now = self._now = monotonic()
        if now - self._checked_at < CHECK_SECONDS_MAX:
            return False
        self._checked_at = now
        return True

    def wait_is_due(self) -> bool:
        """Whether a sender must `give_way` after it has sent."""
        return (
            self._sent_since_yield >= YIELD_MESSAGES_MAX
            or self._now - self._yielded_at >= YIELD_SECONDS_MAX
            or self._transport.backlog > self.limits.backlog_bytes
        )

    async def give_way(self) -> None:
        """Wait while the backlog is full, and let other tasks run in any case."""
        if self._transport.backlog > self.limits.backlog_bytes:
            await self._transport.drain()
            if self.error is not None:
                raise self.error
        else:
            await checkpoint()
        self._sent_since_yield = 0
        self._now = self._yielded_at = monotonic()

    # ---- writing

    def write_lines(self, lines: bytes) -> None:
        """Write checked frames, one per line, in one go."""
        if self.error is not None:
            raise self.error
        self._transport.write(self._splitter.encode_lines(lines))

    def _write_answer(self, parts: Iterable[bytes]) -> None:
        """Write the bytes of an answer; stop reading from a peer that takes none of many.

        There are none for an answer that waits for the rest of its batch.  Each part of a large
        one is written before the next is made, if the framing allows it.

        A peer that respects the limit on open requests never has more answers than that to take,
        so two peers that wait for each other cannot block each other here.
        """
        for part in parts:
            self._transport.write(part)
        if self._transport.backlog == 0:
            self._answers_untaken = 0
            return
        self._answers_untaken += 1
        if self._answers_untaken > self.limits.pending_requests and not self.reading.is_stopped_for(
            _UNTAKEN_ANSWERS
        ):
            self.reading.stop_for(_UNTAKEN_ANSWERS)
            self.tasks.start_soon(self._wait_for_taker, name="answers untaken")

    async def _wait_for_taker(self) -> None:
        await self._transport.drain()
        self._answers_untaken = 0
        self.reading.go_on(_UNTAKEN_ANSWERS)


__all__ = ["Connection", "Handler", "IncomingRequest", "RequestId", "Work"]
