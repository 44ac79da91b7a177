"""The peer's requests while they are served.

Guards: each request is answered exactly once, whatever its handler does.  After the end of the
connection nothing is answered.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

import anyio
from anyio.lowlevel import checkpoint

from accord.connection.error_responses import encoded_error_for
from accord.connection.handler import Handler, IncomingRequest, RequestId, Result, Work
from accord.errors import LocalProtocolError
from accord.jsonrpc.batch import OpenBatch
from accord.jsonrpc.framing import COPIED_BYTES_MAX, Splitter
from accord.jsonrpc.peer import Peer
from accord.machine.redacted_logs import logger
from accord.schema.codec import to_python
from accord.schema.struct import Raw

if TYPE_CHECKING:
    from accord.connection.dialect import Dialect

_log = logger("accord.connection")

REQUEST_CANCELLED = -32800


class IncomingRequests:
    """All open requests of one peer."""

    def __init__(
        self,
        peer: Peer,
        framing: Splitter,
        handler: Handler,
        write: Callable[[Iterable[bytes]], None],
    ) -> None:
        self._peer = peer
        self._framing = framing
        self._handler = handler
        self._write_now = write
        self._open: dict[RequestId, IncomingRequest] = {}
        self._all_answered: anyio.Event | None = None
        self._over = False
        self.dialect: Dialect | None = None
        # Requests whose `on_answered` waits until the rest of their batch is answered.
        self._after_batch: list[tuple[OpenBatch, IncomingRequest]] = []

    @property
    def are_open(self) -> bool:
        """Whether a request still waits for its answer."""
        return bool(self._open)

    def hand_over(self, handler: Handler) -> None:
        """Let another handler take the requests from now on."""
        self._handler = handler

    def begin(self, request: IncomingRequest) -> Work | None:
        """Pass a request to the handler; run the returned work with `serve`."""
        try:
            outcome = self._handler.request(request)
        except Exception as error:  # noqa: BLE001 - whatever it was, the peer gets an answer
            self._refuse(request, error)
            return None
        if not callable(outcome):
            self._answer(request, outcome)
            return None
        self._open[request.id] = request
        request.settle = partial(self._settle, request)
        return outcome

    async def serve(self, request: IncomingRequest, work: Work) -> None:
        """Run the work and answer with its outcome."""
        with anyio.CancelScope() as scope:
            request.runs_in(scope)
            try:
                result = await work()
            except (anyio.get_cancelled_exc_class(), SystemExit, KeyboardInterrupt):
                # The program exits, and closing the connection tells the peer.
                raise
            except BaseException as error:
                if self._open.get(request.id) is not request and not self._over:
                    # Nobody is left to be told.
                    _log.error("%s failed after its answer", request.method, exc_info=error)
                self._settle(request, error)
                if not isinstance(error, Exception):
                    raise
                return
            if result is not None:
                self._settle(request, result)
            return
        if self._open.get(request.id) is request:
            self._close(request)
            if not self._over:
                self._write(self._cancelled(request))

    def _cancelled(self, request: IncomingRequest) -> Iterable[bytes]:
        code, dialect = REQUEST_CANCELLED, self.dialect
        if dialect:
            code, _ = dialect.error_out(request.method, code, None)
        refusal = self._peer.refuse(request.id, code, "Request cancelled", None)
        return self._framing.in_parts(refusal)

    def _settle(self, request: IncomingRequest, outcome: Result | BaseException) -> None:
        """Answer a request unless it is already answered."""
        if self._open.get(request.id) is not request:
            return
        self._close(request)
        if isinstance(outcome, BaseException):
            self._refuse(request, outcome)
        else:
            self._answer(request, outcome)

    def cancel_requested(self, params: Raw) -> None:
        """Cancel the open request with exactly the id in a `$/cancel_request`."""
        if self.dialect and not self.dialect.withdraws:
            return
        wanted = to_python(params)
        request_id = wanted.get("requestId") if isinstance(wanted, dict) else None
        request = self._open.get(request_id) if isinstance(request_id, int | str) else None
        if request is not None and type(request.id) is type(request_id):
            request.cancel()

    async def finish(self) -> None:
        """Wait until no request is open; ask those that can stop early to do so."""
        for request in list(self._open.values()):
            if request.on_cancel is not None:
                request.cancel()
        await self._idle()

    async def take_idle_steps(self, steps: Iterable[None]) -> None:
        """Take these steps one by one, each while no request is open."""
        await self._idle()
        for _ in steps:
            await checkpoint()
            await self._idle()

    async def _idle(self) -> None:
        while self._open:
            if self._all_answered is None or self._all_answered.is_set():
                self._all_answered = anyio.Event()
            await self._all_answered.wait()

    def refuse_all(self) -> None:
        """Answer every open request before this side closes the connection."""
        for request in [] if self._over else list(self._open.values()):
            last = request.answer_at_close
            if last is not None:
                self._write(self._framing.in_parts(self._peer.answer(request.id, last)))
            else:
                self._write(self._cancelled(request))
        self._over = True

    def abort_all(self) -> None:
        """Cancel all work, and answer nothing from now on: the connection is over."""
        self._over = True
        for request in list(self._open.values()):
            request.cancel()
            request.abort()

    def _close(self, request: IncomingRequest) -> None:
        self._open.pop(request.id, None)
        if self._all_answered is not None and not self._open:
            self._all_answered.set()

    def _answer(self, request: IncomingRequest, result: Result) -> None:
        if self._over:
            return
        peer, framing = self._peer, self._framing
        answer: Iterable[bytes]
        batch = peer.batch_of(request.id)
        try:
            if isinstance(result, bytes) and len(result) <= COPIED_BYTES_MAX:
                answer = framing.in_parts(peer.answer(request.id, result))
            else:
                answer = peer.answer_in_parts(request.id, result)
                is_whole = isinstance(answer, tuple) and len(answer) == 1
                answer = framing.in_parts(*answer) if is_whole else framing.encode_parts(answer)
        except LocalProtocolError as error:
            self._refuse(request, error)
            return
        if request.on_answered is not None and batch is not None:
            self._after_batch.append((batch, request))
        self._write(answer)
        if request.on_answered is not None and batch is None:
            _call(request.on_answered, request.method)

    def _write(self, answer: Iterable[bytes]) -> None:
        """Write an answer in its framing, and finish the requests of a batch that it completes."""
        self._write_now(answer)
        if self._after_batch:
            waiting, self._after_batch = self._after_batch, []
            for batch, request in waiting:
                if batch.waiting_count:
                    self._after_batch.append((batch, request))
                elif request.on_answered is not None:
                    _call(request.on_answered, request.method)

    def _refuse(self, request: IncomingRequest, error: BaseException) -> None:
        code, message, data = encoded_error_for(error, request.method, self.dialect)
        if not self._over:
            refusal = self._peer.refuse(request.id, code, message, data)
            self._write(self._framing.in_parts(refusal))


def _call(on_answered: Callable[[], None], method: str) -> None:
    try:
        on_answered()
    except Exception:  # noqa: BLE001 - the peer has its answer, the connection lives
        _log.exception("the callback after the answer to %s failed", method)
