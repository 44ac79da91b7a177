"""The connection to one neighbour: its bytes, the ids of its wire, and the open requests.

A hop is a transport with a splitter and a JSON-RPC peer.  Its owner, a proxy or a conductor,
decides where messages go; the hop keeps the ids of its own wire, so that no id crosses to another
wire, and leaves messages encoded.

On the wire to a conductor, messages wrapped in `proxy/successor` belong to the component behind
us.  Such a hop has a second `Endpoint`.

What always holds
    * Messages are handled in order, and all of them before `gone` is called.
    * A notification that is not `watched` is forwarded `through` byte for byte.
    * The messages that one chunk causes are written in one piece per neighbour.
    * A call ends exactly once: answered, failed or lost.
    * A neighbour that does not take its messages pauses the hops that send to it.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from anyio.abc import TaskGroup

from accord.errors import LocalProtocolError
from accord.jsonrpc import events
from accord.jsonrpc.envelope import NO_PARAMS, Id, notification_frame, one_line
from accord.jsonrpc.error_codes import INTERNAL_ERROR, INVALID_PARAMS
from accord.jsonrpc.framing import (
    FRAME_BYTES_MAX,
    DetectedFraming,
    FrameTooLong,
    Framing,
    splitter_for,
)
from accord.jsonrpc.peer import Peer
from accord.machine.redacted_logs import logger
from accord.proxy.successor import SUCCESSOR_METHODS, Wrapped, wrapped
from accord.schema.codec import Invalid, reading, to_python
from accord.schema.method import CANCEL_REQUEST
from accord.schema.struct import Raw
from accord.transport.transport import BACKLOG_BYTES_MAX, Ended, Transport

_log = logger("accord.proxy")
_read_wrapped = reading(Wrapped)

ENVELOPE_BYTES: Final = 64 * 1024
"""What components may add to a frame of the allowed length: an id, a wrapper."""
OPEN_MAX: Final = 4096
"""Open requests on one hop, per direction; each neighbour may have 1024."""

SHARED_BYTES_MAX: Final = 16 * 1024 * 1024
"""What may wait on a wire that carries both directions.

More than elsewhere, because pausing that wire stops both directions.
"""


class AnswerReceiver(Protocol):
    """Gets the answer to a call."""

    def answered(self, result: Raw) -> None: ...

    def failed(self, code: int, message: str, data: Raw | None) -> None: ...

    def lost(self, hop: Hop, why: Ended) -> None:
        """Take notice that the neighbour is gone without an answer."""
        ...


class HopOwner(Protocol):
    """The owner of hops, which gets their messages."""

    def notified(self, end: Endpoint, method: str, params: Raw, frame: bytes | None) -> None:
        """Take a notification; `frame` is None if it was wrapped or had to be repaired."""
        ...

    def requested(self, request: OpenRequest, params: Raw) -> None:
        """Take a request, to be answered once, at any time."""
        ...

    def withdrawn(self, request: OpenRequest, params: Raw) -> None:
        """Cancel a request: its sender withdrew it, or is gone."""
        ...

    def answered(self, request: OpenRequest) -> None:
        """Take notice that a request was answered."""
        ...

    def gone(self, hop: Hop, why: Ended) -> None:
        """Take notice that nothing more arrives on this hop."""
        ...


class OutgoingFilter(Protocol):
    """Sees every message to one endpoint last of all, and may change it.

    It returns the same object if it changes nothing.
    """

    def params(self, method: str, params: bytes | Raw) -> bytes | Raw:
        """Filter the params of a request or a notification."""
        ...

    def result(self, method: str, result: bytes | Raw) -> bytes | Raw:
        """Filter the result of a request of this method."""
        ...

    def error(self, message: str, data: bytes | Raw | None) -> tuple[str, bytes | Raw | None]:
        """Filter the message and the data of an error."""
        ...


class Endpoint:
    """One component behind a hop, reached directly or through a wrapper."""

    __slots__ = ("hop", "outgoing_filter", "wrapper")

    def __init__(self, hop: Hop, wrapper: str | None = None) -> None:
        self.hop = hop
        self.wrapper = wrapper
        self.outgoing_filter: OutgoingFilter | None = None

    def passes_unchanged(self, method: str, params: bytes | Raw) -> bool:
        """Whether the filter leaves a message as it is."""
        return self.outgoing_filter is None or self.outgoing_filter.params(method, params) is params

    def call(self, method: str, params: bytes | Raw, receiver: AnswerReceiver) -> int:
        """Send a request; return its id, or 0 if it failed at once."""
        if self.outgoing_filter is not None:
            params = self.outgoing_filter.params(method, params)
        if self.wrapper is None:
            return self.hop.call(method, None if params is NO_PARAMS else params, receiver)
        return self.hop.call(self.wrapper, wrapped(method, params), receiver)

    def notify(self, method: str, params: bytes | Raw) -> None:
        if self.outgoing_filter is not None:
            params = self.outgoing_filter.params(method, params)
        if self.wrapper is None:
            self.hop.notify(method, None if params is NO_PARAMS else params)
        else:
            self.hop.notify(self.wrapper, wrapped(method, params))


class OpenRequest:
    """A request of a neighbour until it is answered."""

    __slots__ = ("end", "error_code", "id", "is_open", "is_withdrawn", "method", "run", "sent")

    def __init__(self, end: Endpoint, request_id: Id, method: str) -> None:
        self.end = end
        self.id = request_id
        self.method = method
        self.is_open = True
        self.is_withdrawn = False
        # Once it was answered with an error.
        self.error_code: int | None = None
        # Where it was forwarded to, and under which id.
        self.sent: tuple[Hop, int] | None = None
        # For the owner: the handler at work on it.
        self.run: Any = None

    def answer(self, result: bytes | Raw) -> None:
        """Answer with a result; do nothing if it is already answered or its sender is gone."""
        if self.is_open:
            if self.end.outgoing_filter is not None:
                result = self.end.outgoing_filter.result(self.method, result)
            self.end.hop.settle(self, result)

    def refuse(self, code: int, message: str, data: bytes | Raw | None = None) -> None:
        """Answer with an error, under the same conditions as `answer`."""
        if self.is_open:
            if self.end.outgoing_filter is not None:
                message, data = self.end.outgoing_filter.error(message, data)
            self.end.hop.settle_with_error(self, code, message, data)


class Outbox:
    """Collects frames while a chunk is handled; shared by the hops of one owner."""

    __slots__ = ("depth", "dirty")

    def __init__(self) -> None:
        self.depth = 0
        self.dirty: set[Hop] = set()

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        if self.depth == 1:
            while self.dirty:
                self.dirty.pop().flush()
        self.depth -= 1


class Hop:
    """The wire to one neighbour.  `name` appears in error messages."""

    def __init__(
        self,
        name: str,
        transport: Transport,
        owner: HopOwner,
        tasks: TaskGroup,
        outbox: Outbox,
        *,
        framing: Framing | None = None,
        frame_bytes_max: int = FRAME_BYTES_MAX,
    ) -> None:
        self.name = name
        self.transport = transport
        self.owner = owner
        self.near = Endpoint(self)
        # The component behind this neighbour, if the neighbour is a conductor.
        self.far: Endpoint | None = None
        # Where unwatched notifications go; None sends all of them to the owner.
        self.through: Hop | None = None
        self.watched: frozenset[str] = frozenset((CANCEL_REQUEST,))
        self.why: Ended | None = None
        bytes_max = frame_bytes_max + ENVELOPE_BYTES
        self.peer = Peer(pending_max=OPEN_MAX, frame_bytes_max=bytes_max)
        self.calls: dict[int, AnswerReceiver] = {}
        self.open_requests: dict[Id, OpenRequest] = {}
        self._tasks = tasks
        self._outbox = outbox
        self._splitter = splitter_for(framing, frame_bytes_max=bytes_max)
        self._out: list[bytes] = []
        # The hops that wait for this neighbour, and the number of `pause` calls in force.
        self._waiting: set[Hop] = set()
        self._slowed_by = 0
        # Tasks that wait for an answer of this neighbour, so it has to be read.
        self.awaited = 0

    @property
    def is_awaited(self) -> bool:
        """Whether a task waits for an answer of this neighbour."""
        return self.awaited > 0

    @property
    def is_listening(self) -> bool:
        """Whether it still reads; it may do so after it has stopped sending."""
        return self.why is None or self.why.writable

    # ---- receiving

    def data_received(self, data: bytes) -> None:
        """Take the next bytes of the neighbour from its transport."""
        if self.why is not None:
            return
        try:
            frames = self._splitter.feed(data)
        except FrameTooLong as error:
            self._take(error.frames)
            self._lose(Ended(f"{self.name} sent too long a message: {error}"))
            self._tasks.start_soon(self.transport.aclose, name="close")
            return
        self._take(frames)

    def ended(self, why: Ended) -> None:
        """Take the transport's notice that no more data will arrive."""
        if self.why is None:
            self._take(self._splitter.finish())
            self._lose(why)

    def _take(self, frames: list[bytes]) -> None:
        receive, watched, outbox = self.peer.receive, self.watched, self._outbox
        with outbox:
            through, append = self._way()
            for frame in frames:
                event = receive(frame)
                if (
                    through is not None
                    and type(event) is events.NotificationReceived
                    and event.method not in watched
                    and event.note is None
                ):
                    append(frame)
                else:
                    self._event(event, frame)
                    through, append = self._way()
                    watched = self.watched
            crowded = [hop for hop in outbox.dirty if hop is not self]
        for hop in crowded:
            if hop.transport.backlog > BACKLOG_BYTES_MAX:
                hop.slow_down(self)
        if self.far is not None and self.transport.backlog > SHARED_BYTES_MAX:
            self.slow_down(self)

    def _way(self) -> tuple[Hop | None, Any]:
        through = self.through
        if through is None or not through.is_listening:
            return None, None
        if self._breaks_lines and not through._breaks_lines:
            return None, None
        if not through._out:
            self._outbox.dirty.add(through)
        return through, through._out.append

    @property
    def _breaks_lines(self) -> bool:
        """Whether a frame of this neighbour may hold a line break."""
        splitter = self._splitter
        return isinstance(splitter, DetectedFraming) and splitter.framing == "content-length"

    def _event(self, event: events.Event, frame: bytes) -> None:
        match event:
            case events.NotificationReceived():
                self._notification(event, frame if event.note is None else None)
            case events.RequestReceived():
                self._request(event)
            case events.CallAnswered():
                receiver = self.calls.pop(event.id, None)
                if receiver is not None:
                    receiver.answered(event.result)
            case events.CallFailed():
                receiver = self.calls.pop(event.id, None)
                if receiver is not None:
                    receiver.failed(event.code, event.message, event.data)
            case events.FrameRejected():
                _log.info("%s: %s", self.name, event.reason)
                if event.answer is not None:
                    self.send(event.answer)
            case events.StrayAnswer():
                _log.debug("%s: an answer without a pending call (id %r)", self.name, event.id)
            case events.Batch():
                # One by one, as if each had arrived alone: only single messages are forwarded.
                for one, entry in zip(event.events, event.entries, strict=True):
                    self._event(one, entry)
                if event.answer is not None:
                    self.send(event.answer)
            case events.BlankSkipped():
                pass

    def _notification(self, event: events.NotificationReceived, frame: bytes | None) -> None:
        if event.method == CANCEL_REQUEST:
            request = self._named_by(event.params)
            if request is not None:
                self.owner.withdrawn(request, event.params)
            return
        if self.far is None or event.method not in SUCCESSOR_METHODS:
            self.owner.notified(self.near, event.method, event.params, frame)
            return
        try:
            inner: Wrapped = _read_wrapped(event.params)
        except Invalid as error:
            _log.warning("%s: dropped a wrapped message: %s", self.name, error)
            return
        # An id of another wire means nothing here; a cancellation goes from hop to hop.
        if inner.method != CANCEL_REQUEST:
            self.owner.notified(self.far, inner.method, inner.inner_params, None)

    def _request(self, event: events.RequestReceived) -> None:
        if self.far is None or event.method not in SUCCESSOR_METHODS:
            self._ask_owner(OpenRequest(self.near, event.id, event.method), event.params)
            return
        try:
            inner: Wrapped = _read_wrapped(event.params)
        except Invalid as error:
            self.open_requests[event.id] = request = OpenRequest(self.far, event.id, event.method)
            request.refuse(INVALID_PARAMS, f"Invalid params: {error.reason} at {error.path}")
            return
        self._ask_owner(OpenRequest(self.far, event.id, inner.method), inner.inner_params)

    def _ask_owner(self, request: OpenRequest, params: Raw) -> None:
        self.open_requests[request.id] = request
        self.owner.requested(request, params)

    def _named_by(self, params: Raw) -> OpenRequest | None:
        try:
            named = to_python(params)
        except Invalid:
            return None
        request_id = named.get("requestId", self) if isinstance(named, dict) else self
        return (
            self.open_requests.get(request_id) if isinstance(request_id, int | str | None) else None
        )

    def retire(self, why: Ended) -> None:
        """Ignore this neighbour from now on, without calling `gone`."""
        self.why = why
        with self._outbox:
            self.peer.fail_all()
            calls, self.calls = self.calls, {}
            for receiver in calls.values():
                receiver.lost(self, why)

    def _lose(self, why: Ended) -> None:
        with self._outbox:
            self.retire(why)
            if not why.writable:
                request, self.open_requests = self.open_requests, {}
                for one in request.values():
                    one.is_open = False
                    self.owner.withdrawn(one, NO_PARAMS)
            self.owner.gone(self, why)

    # ---- sending

    def send(self, frame: bytes) -> None:
        """Write a frame, together with others while a chunk is handled."""
        if self._outbox.depth:
            if not self._out:
                self._outbox.dirty.add(self)
            self._out.append(frame)
        else:
            self.transport.write(self._splitter.encode(frame))

    def flush(self) -> None:
        """Write the collected frames."""
        frames, self._out = self._out, []
        if frames:
            self.transport.write(self._splitter.encode_all(frames))

    def post(self, frame: bytes) -> None:
        """Forward a frame unchanged but for line breaks."""
        if not self._breaks_lines:
            frame = one_line(frame)
        self.send(frame)

    def call(self, method: str, params: bytes | Raw | None, receiver: AnswerReceiver) -> int:
        """Send a request; return its id, or 0 if `receiver` got a failure at once."""
        if self.why is not None:
            receiver.lost(self, self.why)
            return 0
        try:
            call_id, frame = self.peer.call(method, params)
        except LocalProtocolError as error:
            receiver.failed(INTERNAL_ERROR, f"{method} cannot be forwarded: {error}", None)
            return 0
        self.calls[call_id] = receiver
        self.send(frame)
        return call_id

    def notify(self, method: str, params: bytes | Raw | None) -> None:
        """Send a notification if the neighbour still reads."""
        if self.is_listening:
            self.send(notification_frame(method, params))

    def settle(self, request: OpenRequest, result: bytes | Raw) -> None:
        """Answer a request of this neighbour."""
        try:
            frame = self.peer.answer(request.id, result)
        except LocalProtocolError as error:
            self.settle_with_error(request, INTERNAL_ERROR, str(error))
            return
        self._settled(request, frame)

    def settle_with_error(
        self, request: OpenRequest, code: int, message: str, data: bytes | Raw | None = None
    ) -> None:
        """Answer a request of this neighbour with an error."""
        request.error_code = code
        self._settled(request, self.peer.refuse(request.id, code, message, data))

    def _settled(self, request: OpenRequest, frame: bytes) -> None:
        request.is_open = False
        if self.open_requests.get(request.id) is request:
            del self.open_requests[request.id]
        # An empty frame: the answer waits for the rest of its batch.
        if frame and self.is_listening:
            self.send(frame)
        self.owner.answered(request)

    # ---- slow neighbours

    def slow_down(self, source: Hop) -> None:
        """Pause a source: this neighbour already has too much to take."""
        if source in self._waiting:
            return
        if not self._waiting:
            self._tasks.start_soon(self._let_go, name="drain")
        self._waiting.add(source)
        source.pause()

    async def _let_go(self) -> None:
        await self.transport.drain()
        waiting, self._waiting = self._waiting, set()
        for source in waiting:
            source.resume()

    def pause(self) -> None:
        """Stop reading from this neighbour until the same number of `resume` calls."""
        self._slowed_by += 1
        self.transport.pause()

    def resume(self) -> None:
        self._slowed_by -= 1
        if not self._slowed_by and self.why is None:
            self.transport.resume()
