"""Runs a handler for one request, from its arrival to its answer.

The queue of the sender is held until the handler has forwarded the request or is done, and the
other queue from the arrival of the answer until the handler is done: later messages stay behind.  A
handler that sends a request of its own releases both queues first, because its answer may wait in
one of them.

What always holds: the request is answered exactly once, whatever the handler does; a handler that
fails affects no other request.
"""

from __future__ import annotations

from typing import Any, Protocol

import anyio

from accord.connection.error_responses import unforeseen
from accord.errors import ConnectionLost, RequestError, RequestFailed, request_failed
from accord.jsonrpc.envelope import NO_PARAMS
from accord.jsonrpc.error_codes import INTERNAL_ERROR, REQUEST_CANCELLED, text_of
from accord.proxy.component_exit import gone_data, gone_sentence
from accord.proxy.direction_queue import DirectionQueue, QueueHold
from accord.proxy.handler_registry import Handler
from accord.proxy.hop import Hop, OpenRequest
from accord.proxy.message import Message, Sender, same_or_new
from accord.proxy.request_forward import pass_on, pass_on_cancel
from accord.schema.codec import Invalid, encode, to_python
from accord.schema.struct import Raw
from accord.transport.transport import Ended

Outcome = Raw | bytes | Exception


class AwaitedAnswer:
    """Lets a task wait for the answer to a call."""

    __slots__ = ("_done", "_method", "outcome", "request")

    def __init__(self, method: str, request: OpenRequest | None = None) -> None:
        self.request = request
        self.outcome: Outcome | None = None
        self._method = method
        self._done = anyio.Event()

    def answered(self, result: Raw) -> None:
        self.settle(result)

    def failed(self, code: int, message: str, data: Raw | None) -> None:
        plain = None if data is None else plain_or_none(data)
        self.settle(request_failed(self._method, code, message, plain))

    def lost(self, hop: Hop, why: Ended) -> None:
        """Take notice that the neighbour is gone."""
        said = gone_sentence(hop, why)
        lost = ConnectionLost(said, exit_status=why.exit_status, stderr_tail=why.stderr_tail)
        lost.__cause__ = RequestError(INTERNAL_ERROR, said, gone_data(hop, why))
        self.settle(lost)

    def settle(self, outcome: Outcome) -> None:
        """Set the outcome and wake the task."""
        self.outcome = outcome
        self._done.set()

    async def wait(self) -> Raw | bytes:
        """Return the result.

        Raises:
            RequestFailed: the answer is an error.
            ConnectionLost: the neighbour is gone.
        """
        await self._done.wait()
        assert self.outcome is not None
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class ForwardedAnswer(AwaitedAnswer):
    """The answer to a request that a handler forwarded, in order with other messages."""

    __slots__ = ("_run",)

    def __init__(self, run: RequestRun) -> None:
        super().__init__(run.message.method, run.request)
        self._run = run

    def settle(self, outcome: Outcome) -> None:
        """Wait in the queue, unless the handler itself holds it."""
        queue, run = self._run.way_back, self._run

        def take() -> None:
            run.is_forwarding = False
            if run.is_busy and queue.holder is None:
                queue.hold(run.hold)
            super(ForwardedAnswer, self).settle(outcome)

        if queue.holder is run.hold:
            take()
        else:
            queue.put(take)


class Router(Protocol):
    """The part of a conversation that a request in work needs."""

    name: str

    def queue_from(self, who: Sender) -> DirectionQueue:
        """Return the queue of messages from a side."""
        ...

    def queue_to(self, who: Sender) -> DirectionQueue:
        """Return the queue of messages to a side."""
        ...

    def send_on(self, request: OpenRequest, message: Message) -> None:
        """Pass a request on; only its sender waits for the answer."""
        ...

    def answer_with(self, request: OpenRequest, message: Message, result: Raw | bytes) -> None:
        """Answer a request, after the response handlers have seen the result."""
        ...

    async def answer_and_wait(
        self, request: OpenRequest, message: Message, result: Raw | bytes
    ) -> None:
        """Do the same, and wait until the answer is sent."""
        ...

    def done(self, run: RequestRun) -> None:
        """Take notice that a handler has ended."""
        ...


class RequestRun:
    """A handler at work on a request."""

    def __init__(
        self, conversation: Router, request: OpenRequest, message: Message, handler: Handler
    ) -> None:
        self.request = request
        self.message = message
        self.is_busy = True
        self.is_forwarding = False
        self.way_there = conversation.queue_from(message.sender)
        self.way_back = conversation.queue_to(message.sender)
        self.hold = QueueHold(self.way_there, self.way_back)
        self._conversation = conversation
        self._handler = handler
        self._scope = anyio.CancelScope()
        self._last: Raw | bytes | None = None
        message.hold = self.hold

    # ---- for the handler

    async def forward(self, message: Message) -> Any:
        """Forward the request and return its result as plain JSON.

        Raises:
            RequestFailed: the answer is an error; if not caught, it is returned unchanged.
            ConnectionLost: the other side is gone.
        """
        waiting = ForwardedAnswer(self)
        self.is_forwarding = True
        self.way_back.release(self.hold)
        to = self.way_back.end
        pass_on(self.request, message.encoded, to, waiting, message.method)
        self.way_there.release(self.hold)
        self._last = await waiting.wait()
        return to_python(self._last)

    # ---- for the conversation

    def run_now(self) -> None:
        """Run a synchronous handler."""
        try:
            result = self._result(self._handler.call(self.message))
            if result is not None:
                self._conversation.answer_with(self.request, self.message, result)
        except Exception as error:  # noqa: BLE001 - the request is answered in any case
            self._fail(error)
        self.is_busy = False

    async def run(self) -> None:
        """Run an async handler."""
        arguments = (self.message, self.forward)[: self._handler.takes]
        try:
            with self._scope:
                result = self._result(await self._handler.call(*arguments))
                if result is not None:
                    await self._conversation.answer_and_wait(self.request, self.message, result)
        except Exception as error:  # noqa: BLE001 - the request is answered in any case
            self._fail(error)
        finally:
            self.is_busy = False
            if self._scope.cancelled_caught:
                self.request.refuse(REQUEST_CANCELLED, text_of(REQUEST_CANCELLED))
            self.hold.release()
            self._conversation.done(self)

    def withdraw(self, params: Raw) -> None:
        """Cancel the forwarded request, or the handler if it has not forwarded it."""
        if self.is_forwarding:
            pass_on_cancel(self.request, params)
        else:
            self._scope.cancel()

    def abort(self) -> None:
        """Cancel everything: the sender is gone."""
        if self.is_forwarding:
            pass_on_cancel(self.request, NO_PARAMS)
        self._scope.cancel()

    def _result(self, value: Any) -> Raw | bytes | None:
        """Return the answer; None if the request was forwarded and is answered later."""
        if value is not None:
            return encode(value) if self._last is None else same_or_new(self._last, value)
        if self._last is None:
            self._conversation.send_on(self.request, self.message)
        return self._last

    def _fail(self, error: Exception) -> None:
        message = self.message.method
        match error:
            case RequestError():
                pass
            case Invalid():
                # Params without a Python value, such as 1e400; unread, they would pass.
                error = RequestError.invalid_params(error.reason, error.path)
            case RequestFailed():
                error = RequestError(error.code, error.message, error.data)
            case ConnectionLost() if isinstance(error.__cause__, RequestError):
                error = error.__cause__
            case _:
                _, _, data = unforeseen(error, message)
                said = f"the proxy {self._conversation.name!r} failed at {message}"
                error = RequestError(
                    INTERNAL_ERROR, said, {"proxy": self._conversation.name, **data}
                )
        self.request.refuse(*_error_parts(error))


def _error_parts(error: RequestError) -> tuple[int, str, bytes | None]:
    try:
        data = None if error.data is None else encode(error.data)
    except (TypeError, ValueError):
        data = None
    return error.code, error.message, data


def refused_answer(error: Exception, proxy: str, method: str) -> tuple[int, str, bytes | None]:
    """Return the error for a request whose response handler raised; a `RequestError` as it is."""
    if isinstance(error, RequestError):
        return _error_parts(error)
    _, _, data = unforeseen(error, method)
    said = f"the proxy {proxy!r} failed at the answer to {method}"
    return INTERNAL_ERROR, said, encode({"proxy": proxy, **data})


def plain_or_none(raw: Raw) -> Any:
    """Return the data of an error as plain JSON; None if Python cannot represent it."""
    try:
        return to_python(raw)
    except Invalid:
        return None
