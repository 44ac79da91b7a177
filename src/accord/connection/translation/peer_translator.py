"""A translator between the connection of a foreign peer and an endpoint of ours.

The foreign peer keeps its own `Connection`, with its limits and its order; this is the handler of
it.  To our endpoint this is the transport of a second `Connection`, which speaks an official
version and knows nothing of the other dialect.

What always holds
    * Messages of each side are translated and sent in the order in which they came.
    * Every request of the foreign peer is answered once, in its own error numbers.
    * Our endpoint is never called from inside its own `write`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import anyio

from accord.connection.connection import Connection
from accord.connection.dialect import Dialect
from accord.connection.error_responses import error_for, unforeseen
from accord.connection.handler import IncomingRequest, Work
from accord.connection.limits import Limits
from accord.connection.translation.translator_side import Port
from accord.errors import ConnectionLost, LocalProtocolError, RequestError, RequestFailed
from accord.jsonrpc.error_codes import INTERNAL_ERROR, REQUEST_CANCELLED
from accord.jsonrpc.framing import Lines
from accord.jsonrpc.peer import Peer
from accord.machine.redacted_logs import logger
from accord.schema.codec import encode, to_python
from accord.schema.invalid import Invalid
from accord.schema.struct import Raw
from accord.translate.draft.conversion.meta_restore import without_notes
from accord.translate.draft.error_codes import DRAFT_CANCELLED
from accord.translate.message import (
    AGENT,
    CLIENT,
    UNREADABLE,
    Failure,
    Key,
    Message,
    Notification,
    Out,
    Request,
    Result,
    Side,
)
from accord.translate.validation import (
    Spoken,
    methods_of,
    read_params,
    read_result,
    refused,
    require_meta,
)
from accord.transport.transport import Ended, Receiver

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from accord.schema.method import Method
    from accord.translate.adapter import Adapter

_log = logger("accord.connection")


def _error_out(_method: str, code: int, data: Any) -> tuple[int, Any]:
    """The translator has the draft's numbers already; only the connection's own is official."""
    return (DRAFT_CANCELLED if code == REQUEST_CANCELLED else code), data


def _error_in(_method: str, code: int, data: Any) -> tuple[int, Any]:
    return code, data


# The translator maps error numbers itself, and the draft cannot take a request back.
NO_ANSWERS: Mapping[str, bytes] = MappingProxyType({})
DIALECT = Dialect(_error_out, _error_in)


# The foreign connection has bounded a message; said in the other dialect it may be larger.
FRAME_GROWTH_MAX = 16
DEPTH_GROWTH_MAX = 16
PENDING_GROWTH_MAX = 2


def within(foreign: Limits) -> Limits:
    """The limits of a connection behind one with these, which must never be the narrower ones."""
    return foreign._replace(
        frame_bytes=foreign.frame_bytes * FRAME_GROWTH_MAX,
        depth=foreign.depth + DEPTH_GROWTH_MAX,
        pending_requests=foreign.pending_requests * PENDING_GROWTH_MAX,
    )


class Junction:
    """The handler of a foreign peer's connection, and the transport of our own endpoint's."""

    def __init__(
        self,
        translator: Adapter,
        foreign: Connection,
        *,
        side: Side,
        foreign_spoken: Spoken,
        own_spoken: Spoken = "v1",
        answers_at_close: Mapping[str, bytes] = NO_ANSWERS,
        check_result: Callable[[Any, Raw], object] | None = None,
    ) -> None:
        """`side` is where the foreign peer stands: it is a client or an agent.

        `answers_at_close` are the answers to its open requests, by method, when we close.
        `check_result` is called with the type and the text of each of its answers, and raises
        `Invalid` to refuse it.
        """
        self._answers_at_close = answers_at_close
        self._check_result = check_result
        self.translator = translator
        self._foreign = foreign
        self._side = side
        self._own_side = AGENT if side is CLIENT else CLIENT
        self._methods: dict[str, Method] = methods_of(foreign_spoken)
        self.limits = within(foreign.limits)
        """Those of our endpoint's connection."""
        self._own = Port(
            "own endpoint",
            self._deliver,
            Lines(frame_bytes_max=self.limits.frame_bytes),
            Peer(
                depth_max=self.limits.depth,
                pending_max=self.limits.pending_requests,
                frame_bytes_max=self.limits.frame_bytes,
            ),
        )
        self._own.speak(own_spoken)
        self._receiver: Receiver | None = None
        self._keys = 0
        # Requests of the foreign peer that are not answered yet.
        self._open: dict[Key, IncomingRequest] = {}
        # The answer to the request that is being handed on, if it comes at once.
        self._handing_on: Key | None = None
        self._at_once: Result | Failure | None = None
        self._is_writing = False
        self._undelivered: deque[bytes] = deque()
        self._is_over = False
        self._armed: float | None = None
        self._rearm = anyio.Event()
        foreign.agree_on(DIALECT)
        foreign.run(self._keep_time)

    # ---- the handler of the foreign peer's connection

    def request(self, request: IncomingRequest) -> bytes | Work:
        """Translate a request; its answer follows when our endpoint has given it."""
        method = self._methods.get(request.method)
        try:
            require_meta(request.params)
            params = read_params(method, request.params)
        except Invalid as error:
            raise RequestError.invalid_params(error.reason, error.path) from None
        self._keys += 1
        key = self._handing_on = self._keys
        self._open[key] = request
        try:
            self._through(self._side, Request(key, request.method, params))
            answer = self._at_once
        finally:
            self._handing_on = self._at_once = None
        if isinstance(answer, Failure):
            raise RequestError(answer.code, answer.message, answer.data)
        if answer is not None:
            return encode(without_notes(answer.result))
        request.on_cancel = partial(self._withdraw, key)
        request.answer_at_close = self._answers_at_close.get(request.method)
        return _answered_later

    def notification(self, method: str, params: Raw) -> None:
        read = read_params(self._methods.get(method), params)
        self._through(self._side, Notification(method, read))

    def lost(self, error: ConnectionLost) -> None:
        """The foreign peer is gone, and so our endpoint's transport has ended."""
        self._end(Ended(error.message, error.exit_status, error.stderr_tail, clean=True))

    def leave(self) -> None:
        """The foreign peer is spoken to directly from now on; our endpoint hears no more of it."""
        self._is_over = True
        self._rearm.set()

    def _withdraw(self, key: Key) -> None:
        self._send(self.translator.withdraw(self._side, key))
        self._flush()

    # ---- the transport of our endpoint's connection

    @property
    def backlog(self) -> int:
        """Bytes that the foreign peer has not taken yet."""
        return self._foreign.transport.backlog

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Deliver to this receiver."""
        del tasks
        self.deliver_to(receiver)

    def deliver_to(self, receiver: Receiver) -> None:
        """Begin without waiting: everything that is needed runs already."""
        self._receiver = receiver

    def write(self, data: bytes) -> None:
        """Take frames of our endpoint and send the foreign peer what they mean."""
        if self._is_over:
            return
        was_writing, self._is_writing = self._is_writing, True
        try:
            for frame in self._own.split(data):
                message = self._own.take(frame)
                if message is not None:
                    self._through(self._own_side, message)
        finally:
            self._is_writing = was_writing

    async def drain(self) -> None:
        """Wait until the foreign peer has taken most of it."""
        await self._foreign.transport.drain()

    def pause(self) -> None:
        """Read nothing from the foreign peer until `resume`."""
        self._foreign.reading.hold()

    def resume(self) -> None:
        self._foreign.reading.unhold()

    async def aclose(self) -> None:
        """Close the transport of our endpoint."""
        self._end(Ended("closed here", clean=True))

    def _end(self, why: Ended) -> None:
        if not self._is_over:
            self._is_over = True
            self._rearm.set()
            if self._receiver is not None:
                self._receiver.ended(why)

    def _deliver(self, data: bytes) -> None:
        """Bytes for our endpoint: at once, unless its own `write` led to them."""
        if self._is_writing or self._undelivered:
            self._undelivered.append(data)
            if len(self._undelivered) == 1:
                self._foreign.run(self._deliver_rest)
        elif not self._is_over:
            assert self._receiver is not None
            self._receiver.data_received(data)

    async def _deliver_rest(self) -> None:
        assert self._receiver is not None
        while self._undelivered and not self._is_over:
            data = b"".join(self._undelivered)
            self._undelivered.clear()
            self._receiver.data_received(data)

    # ---- between

    def _through(self, side: Side, message: Message) -> None:
        try:
            said = self.translator.receive(side, message)
        except Exception as error:  # noqa: BLE001 - one message is lost, the conversation goes on
            code, sentence, data = unforeseen(error, getattr(message, "method", "an answer"))
            if isinstance(message, Request):
                self._send([(side, Failure(message.key, code, sentence, data))])
        else:
            self._send(said)
        self._flush()

    def _send(self, said: Iterable[Out]) -> None:
        for side, message in said:
            failure = self._put(message) if side is self._side else self._own.put(message)
            if failure is not None:
                self._send(self.translator.receive(side, failure))

    def _flush(self) -> None:
        self._own.flush()
        if self.translator.wake_at != self._armed:
            self._armed = self.translator.wake_at
            self._rearm.set()

    def _put(self, message: Message) -> Message | None:
        """Send the foreign peer a message; the answer, where it has one at once."""
        if isinstance(message, Result | Failure):
            self._answer(message)
            return None
        raw = encode(without_notes(message.params))
        wrong = refused(self._methods.get(message.method), raw)
        if wrong is not None:
            _log.warning("%s was not sent: %s", message.method, wrong)
            if isinstance(message, Request):
                return Failure(message.key, INTERNAL_ERROR, f"{message.method}: {wrong}")
            return None
        if isinstance(message, Notification):
            if self._foreign.error is None:
                try:
                    self._foreign.post(message.method, raw)
                except LocalProtocolError as error:
                    _log.warning("%s was not sent: %s", message.method, error)
            return None
        self._ask(message, raw)
        return None

    def _answer(self, message: Result | Failure) -> None:
        request = self._open.pop(message.key, None)
        if request is None:
            return
        if message.key == self._handing_on:
            self._at_once = message
        elif isinstance(message, Failure):
            request.settle(RequestError(message.code, message.message, message.data))
        else:
            request.settle(encode(without_notes(message.result)))

    # ---- what our endpoint asks of the foreign peer

    def _ask(self, message: Request, raw: bytes) -> None:
        key, method = message.key, self._methods.get(message.method)

        def answered(result: Raw) -> None:
            try:
                if self._check_result is not None and method is not None:
                    self._check_result(method.result, result)
                answer: Message = Result(key, read_result(method, result))
            except Invalid as error:
                said = f"the answer to {message.method} cannot be read: {error}"
                about = {"reason": UNREADABLE, "answer": to_python(result)}
                answer = Failure(key, INTERNAL_ERROR, said, about)
            self._through(self._side, answer)

        def ended(error: Exception | None) -> None:
            if isinstance(error, RequestFailed):
                self._through(self._side, Failure(key, error.code, error.message, error.data))
            elif error is not None and not isinstance(error, ConnectionLost):
                self._through(self._side, Failure(key, *error_for(error, message.method)))

        call_id = self._foreign.begin_call(message.method, raw, on_result=answered, on_end=ended)
        if call_id is None and self._foreign.error is None:
            self._foreign.run(partial(self._ask_later, message.method, raw, answered, ended))

    async def _ask_later(self, method: str, raw: bytes, answered: Any, ended: Any) -> None:
        try:
            await self._foreign.call(method, raw, background=True, on_result=answered)
        except Exception as error:  # noqa: BLE001 - our endpoint is told
            ended(error)

    # ---- time

    async def _keep_time(self) -> None:
        while not self._is_over:
            self._rearm = anyio.Event()
            if self._armed is None:
                await self._rearm.wait()
                continue
            seconds = self._armed - self.translator.around.now()
            with anyio.move_on_after(max(0.0, seconds)):
                await self._rearm.wait()
                continue
            self._armed = None
            self._send(self.translator.wake())
            self._flush()


async def _answered_later() -> None:
    """Nothing to do here: the request is settled when the answer comes."""
