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

import gc
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint

from accord.connection.bad_line_log import Noise, quoted
from accord.connection.caller import CANCEL_REQUEST, Calling
from accord.connection.deviation_log import Tolerated
from accord.connection.handler import Handler, IncomingRequest, RequestId, Shortcut, Work
from accord.connection.incoming_requests import Requests
from accord.connection.limits import (
    FRAMES_AT_ONCE,
    LAST_ANSWERS_SECONDS_MAX,
    MANY_FRAMES,
    Limits,
)
from accord.connection.workers import Workers, leaving
from accord.errors import ConnectionLost, LimitExceeded, RemoteProtocolError, RequestError
from accord.jsonrpc import events
from accord.jsonrpc.error_codes import PARSE_ERROR
from accord.jsonrpc.framing import FrameTooLong, Framing
from accord.machine.logs import logger
from accord.schema.codec import Invalid
from accord.schema.struct import Raw
from accord.transport.transport import Ended, Transport

if TYPE_CHECKING:
    from accord.connection.dialect import Manners

_log = logger("accord.connection")


class Connection(Calling):
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
        super().__init__(
            transport,
            limits=limits,
            framing=framing,
            accept_batches=accept_batches,
            strict=strict,
        )
        self.strict = strict
        self._handler = handler
        self.shortcut: Shortcut | None = None
        self._noise = Noise()
        self._tolerated = Tolerated()
        self._requests = Requests(self.peer, handler, self._write_answer)
        self.idle = self._requests.idle
        self._tasks: TaskGroup | None = None
        self._workers: Workers | None = None
        # Frames of a large chunk, while others run.
        self._unread: deque[bytes] = deque()
        self._answers_untaken = 0
        self.noise_hint = ""  # for people, about lines that are no JSON
        # Set where it was we who ended it, because the peer went too far.
        self.broken: ConnectionLost | None = None
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

    def begin_within(self, outer: "Connection") -> None:
        """Live in the tasks of another conversation, and end with it."""
        self._tasks, self._workers = outer._tasks, outer._workers

    @property
    def backlog(self) -> int:
        """Bytes that the peer has not taken yet."""
        return self._transport.backlog

    async def drain(self) -> None:
        """Wait until the peer has taken most of it."""
        await self._transport.drain()

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

    def agree_on(self, manners: "Manners | None") -> None:
        """From now on errors and withdrawals are as this dialect has them; None is official."""
        self._manners = self._calls.manners = self._requests.manners = manners

    # ---- reading

    def data_received(self, data: bytes) -> None:
        """Split a chunk into frames and handle each, in order."""
        if self.error is not None:
            return
        self._count_read(len(data))
        try:
            frames = self._splitter.feed(data)
        except FrameTooLong as error:
            self._take_unread(error.frames)
            limit = error.frame_bytes_max
            lost = LimitExceeded("frame_bytes", limit, "the peer sent too long a frame")
            self._end_with(lost)
            return
        if self._unread:
            self._unread.extend(frames)
        elif len(frames) <= FRAMES_AT_ONCE:
            self._handle(frames)
        else:
            self._unread.extend(frames[FRAMES_AT_ONCE:])
            self._crowded = True
            self._update_reading()
            self._handle(frames[:FRAMES_AT_ONCE])
            self.run(self._go_on)

    def _handle(self, frames: list[bytes]) -> None:
        # Little of what is made for each stays: one look for garbage, behind all of them.
        looks_behind = len(frames) >= MANY_FRAMES and gc.isenabled()
        if looks_behind:
            gc.disable()
        try:
            self._frames_received(frames)
        except (SystemExit, KeyboardInterrupt) as error:
            # Out of a callback it would stop the event loop with everything still open.
            self.run(leaving(error))
        finally:
            if looks_behind:
                gc.enable()
        if self._noise.more and not self.peer.noise_count:
            self._noise.over()

    async def _go_on(self) -> None:
        """Handle what is left of a large chunk, and let others run meanwhile."""
        unread = self._unread
        while unread and self.error is None:
            await checkpoint()
            self._handle([unread.popleft() for _ in range(min(len(unread), FRAMES_AT_ONCE))])
        self._crowded = False
        self._update_reading()

    def _take_unread(self, frames: list[bytes]) -> None:
        """Handle all that is there now, since the end comes behind it."""
        unread = [*self._unread, *frames]
        self._unread.clear()
        self._handle(unread)

    def _frames_received(self, frames: list[bytes]) -> None:
        shortcut = self.shortcut
        while shortcut is not None and len(frames) >= MANY_FRAMES and self.error is None:
            taken = shortcut.take_all(frames, self, self._notification_failed)
            if taken:
                self.peer.good_frame_passed()
            # Those between, of other kinds; where they are many, all go the usual way.
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
                    if shortcut.take(frame):
                        was_taken = True
                        continue
                except Exception as error:  # noqa: BLE001 - as for any notification
                    self._notification_failed(shortcut.method, error)
                    continue
                if was_taken:
                    was_taken = False
                    self.peer.good_frame_passed()
            event = receive(frame)
            if (
                type(event) is events.NotificationReceived
                and event.method != CANCEL_REQUEST
                and event.note is None
            ):
                # Here and now, so in wire order; without a call of its own, since many come.
                try:
                    notification(event.method, event.params)
                except Exception as error:  # noqa: BLE001 - one bad one must not end the reading
                    self._notification_failed(event.method, error)
            else:
                self._event(event, frame)
        if was_taken:
            self.peer.good_frame_passed()

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
                    self._write_answer((event.answer,))
            case events.FrameRejected():
                self._rejected(event, frame)
            case events.StrayAnswer():
                self._stray(event)
            case events.BlankSkipped():
                pass

    def _notification(self, method: str, params: Raw) -> None:
        try:
            if method == CANCEL_REQUEST:
                self._requests.cancel_requested(params)
            else:
                self._handler.notification(method, params)
        except Exception as error:  # noqa: BLE001 - one bad one must not end the reading
            self._notification_failed(method, error)

    def _notification_failed(self, method: str, error: Exception) -> None:
        if isinstance(error, Invalid | RequestError):
            # The peer's mistake, not a bug: where the traceback leads is of no interest.
            self.tolerate(f"the notification {method} is ignored: {error}", logging.WARNING)
        else:
            _log.error("handling the notification %s failed", method, exc_info=error)

    def _rejected(self, event: events.FrameRejected, frame: bytes) -> None:
        if event.answer is not None:
            self._write_answer((event.answer,))
        is_seen = event.answer is not None and event.count == 0
        if self.strict and not is_seen:
            # A bad request is refused, and so its sender sees it; of this it would see nothing.
            hint = self.noise_hint if event.code == PARSE_ERROR else ""
            self.break_off(f"{event.reason}: {quoted(frame)}{hint}")
        elif event.count:
            hint = self.noise_hint if event.code == PARSE_ERROR else ""
            self._noise.heard(event.count, event.reason, frame, hint)
        else:
            text = f"a frame is refused: {event.reason}"
            self._tolerated.warn(f"{text}: {quoted(frame)}", kind=text)

    def _stray(self, event: events.StrayAnswer) -> None:
        said = "" if event.message is None else f": {event.message} (code {event.code})"
        if event.id is None:
            self.tolerate(f"the peer could not read a message of ours{said}", logging.WARNING)
        elif event.kind == "late":
            _log.debug("a late answer to request %s, which we gave up%s", event.id, said)
            self._calls.answered_late(int(event.id), has_result=event.code is None)
        elif event.kind == "second":
            self.tolerate(f"a second or late answer to request {event.id}{said}", logging.WARNING)
        else:
            text = f"an answer to request {event.id!r}, which was never made{said}"
            self.tolerate(text, logging.WARNING)

    def tolerate(self, what: str, level: int = logging.INFO, *, kind: str | None = None) -> None:
        """Live with a mistake of the peer: logged once per kind.  In strict mode it is the end."""
        if self.strict:
            self.break_off(what)
        else:
            self._tolerated.tell(what, kind=kind, level=level)

    def break_off(self, reason: str) -> None:
        """End the conversation at once, because the peer broke a rule and we are strict."""
        lost = ConnectionLost(f"strict: {reason}")
        lost.__cause__ = RemoteProtocolError(reason)
        self._end_with(lost)

    def _end_with(self, lost: ConnectionLost) -> None:
        if self.error is None:
            # Whoever owns the connection gets the error; telling a person is left to it.
            _log.info("the connection ends: %s", lost.message)
            self.broken = lost
            self._lose(lost)
            self.tasks.start_soon(self._transport.aclose, name="close")

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
        self._take_unread(self._splitter.finish())
        self._noise.over()
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

    # ---- writing

    def _write_answer(self, parts: Iterable[bytes]) -> None:
        """Write an answer; a peer that takes none of many is not heard until it does.

        A peer that keeps the bound on open requests never has more answers than that to take, so
        this cannot stop two peers who wait for each other.
        """
        if isinstance(parts, tuple) and len(parts) == 1:
            self._write(parts[0])
        else:
            self._write_parts(parts)
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


__all__ = ["Connection", "Handler", "IncomingRequest", "RequestId", "Work"]
