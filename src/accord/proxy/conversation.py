"""One conversation through a proxy: the client on one side, the agent on the other.

What always holds
    * Messages of each side keep their order, also around handlers that wait.
    * A message without a handler is forwarded byte for byte.
    * When one side disconnects, everything it sent before is forwarded first, and then the open
      requests of the other side are answered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from accord.connection.error_responses import report
from accord.jsonrpc.error_codes import INVALID_REQUEST, REQUEST_CANCELLED, text_of
from accord.jsonrpc.framing import FRAME_BYTES_MAX
from accord.proxy.component_exit import AGENT_EXIT_SECONDS_MAX
from accord.proxy.direction_queue import DirectionQueue, QueueHold
from accord.proxy.handler_registry import Handler, Handlers
from accord.proxy.hop import Endpoint, Hop, OpenRequest, Outbox
from accord.proxy.message import Hold, Message, Neighbour, Response, Sender
from accord.proxy.notification_dispatch import (
    NotificationRun,
    kind_of_update,
    show,
    show_now,
    tell_end,
)
from accord.proxy.request_dispatch import AwaitedAnswer, RequestRun, refused_answer
from accord.proxy.request_forward import AnswerForwarder, pass_on, pass_on_cancel, use_version
from accord.schema.codec import encode, to_python
from accord.schema.method import CANCEL_REQUEST, SESSION_UPDATE
from accord.schema.struct import Raw
from accord.transport.subprocess import SubprocessTransport
from accord.transport.transport import Ended, Transport

INITIALIZE: Final = "initialize"
INITIALIZE_PROXY: Final = {
    "proxy/initialize": "proxy/successor",
    "_proxy/initialize": "_proxy/successor",
}
"""The request that tells a component of its successor, and the method to reach that with."""
LAST_ANSWERS_SECONDS_MAX: Final = 2.0
"""How long open requests may continue after one side has disconnected."""


class OrderedAnswerForwarder(AnswerForwarder):
    """Returns the answer to a forwarded request, in order with other messages to the sender."""

    __slots__ = ("_conversation", "_message")

    def __init__(
        self, conversation: ProxyConversation, request: OpenRequest, message: Message
    ) -> None:
        super().__init__(request)
        self._conversation = conversation
        self._message = message

    def answered(self, result: Raw) -> None:
        """Return the result through the response handlers."""
        queue = self._conversation.queue_to(self._message.sender)
        size = memoryview(result).nbytes
        queue.put(lambda: self._conversation.answer_with(self.request, self._message, result), size)

    def failed(self, code: int, message: str, data: Raw | None) -> None:
        queue = self._conversation.queue_to(self._message.sender)
        queue.put(lambda: self.request.refuse(code, message, data))

    def lost(self, hop: Hop, why: Ended) -> None:
        """Answer that the other side is gone, after everything that it sent."""
        queue = self._conversation.queue_to(self._message.sender)
        queue.put(lambda: AnswerForwarder.lost(self, hop, why))


class ProxyConversation:
    """One client and one agent; `serve` runs it from start to end."""

    def __init__(
        self,
        name: str,
        handlers: Handlers,
        client: Transport,
        agent: Transport | None,
        tasks: TaskGroup,
        *,
        frame_bytes_max: int = FRAME_BYTES_MAX,
    ) -> None:
        """Without an agent, the client is a conductor that reaches the agent."""
        self.name = name
        self.tasks = tasks
        self._handlers = handlers
        self._outbox = outbox = Outbox()
        self._front = Hop(
            "the client", client, self, tasks, outbox, frame_bytes_max=frame_bytes_max
        )
        if agent is None:
            self._back = self._front
            self._front.far = self._agent = Endpoint(self._front, "proxy/successor")
        else:
            self._back = Hop(
                "the agent", agent, self, tasks, outbox, frame_bytes_max=frame_bytes_max
            )
            self._agent = self._back.near
        self._queues: dict[Sender, DirectionQueue] = {
            "client": DirectionQueue(self._front.near, self._queue_changed),
            "agent": DirectionQueue(self._agent, self._queue_changed),
        }
        for side, queue in self._queues.items():
            queue.end.outgoing_filter = handlers.outgoing_filters.get(side)
        self._watched = {side: handlers.watched(side) for side in self._queues}
        self._is_member = agent is None
        self._runs: set[RequestRun] = set()
        self._quiet = anyio.Event()
        self._over = anyio.Event()
        self.ended_first: tuple[Sender, Ended] | None = None
        for queue in self._queues.values():
            self._queue_changed(queue)

    # ---- lifetime

    async def serve(self) -> tuple[Sender, Ended]:
        """Forward messages until one side disconnects; return which side, and why.

        Raises:
            SpawnFailed: the agent's program cannot be started.
        """
        try:
            if not self._is_member:
                await self._back.transport.start(self._back, self.tasks)
            await self._front.transport.start(self._front, self.tasks)
            await self._over.wait()
            await self._finish()
        finally:
            with anyio.CancelScope(shield=True):
                for run in self._runs:
                    run.abort()
                await self._back.transport.aclose()
                await self._front.transport.aclose()
        assert self.ended_first is not None
        return self.ended_first

    async def _finish(self) -> None:
        """Let open requests end after one side has disconnected."""
        assert self.ended_first is not None
        who, why = self.ended_first
        back = self._back.transport
        if who == "client" and why.writable:
            # Its last messages may still wait for a handler.
            with anyio.move_on_after(LAST_ANSWERS_SECONDS_MAX):
                await self._settled(lambda: self._queues["client"].is_free)
        if who == "client" and why.writable and isinstance(back, SubprocessTransport):
            # The agent sees the end of its stdin, as it would without a proxy, and exits.
            back.close_write()
            with anyio.move_on_after(AGENT_EXIT_SECONDS_MAX):
                await self._settled(lambda: self._back.why is not None)
        elif who == "client" and why.writable and not self._is_member:
            with anyio.move_on_after(LAST_ANSWERS_SECONDS_MAX):
                await self._settled(lambda: not self._front.open_requests)
        with anyio.move_on_after(LAST_ANSWERS_SECONDS_MAX):
            await self._settled(self._is_idle)
        # Not earlier: until here the agent may still have sent something.
        tell_end(self._handlers.ends, Neighbour(self, "client"), self.name)

    async def _settled(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            self._quiet = anyio.Event()
            await self._quiet.wait()

    def _is_idle(self) -> bool:
        return not self._runs and all(queue.is_free for queue in self._queues.values())

    def gone(self, hop: Hop, why: Ended) -> None:
        """Take notice that a side has disconnected."""
        if self.ended_first is None:
            self.ended_first = ("client" if hop is self._front else "agent", why)
            self._over.set()
        self._quiet.set()

    def start_soon(self, job: Callable[..., Awaitable[Any]], *arguments: Any) -> None:
        """Run a job until the conversation ends at the latest."""

        async def work() -> None:
            try:
                await job(*arguments)
            except Exception as error:  # noqa: BLE001 - the conversation goes on
                report(error, f"accord: a task of the proxy {self.name!r} failed")

        self.tasks.start_soon(work)

    # ---- for handlers and their messages

    def end_of(self, who: Sender) -> Endpoint:
        """Return the endpoint of the client or of the agent."""
        return self._queues[who].end

    def notify(self, who: Sender, method: str, params: bytes) -> None:
        """Send a notification after everything that was sent to this side before."""
        self.end_of(who).notify(method, params)

    def queue_from(self, who: Sender) -> DirectionQueue:
        """Return the queue of messages from a side."""
        return self._queues[who]

    def queue_to(self, who: Sender) -> DirectionQueue:
        """Return the queue of messages to a side, which are those from the other."""
        return self._queues["agent" if who == "client" else "client"]

    async def ask(self, who: Sender, method: str, params: bytes, hold: Hold | None) -> Any:
        """Send a request of the proxy's own; its answer does not wait in a queue."""
        if hold is not None:
            hold.release()
        end = self.end_of(who)
        waiting = AwaitedAnswer(method)
        call_id = end.call(method, params, waiting)
        self._await(end.hop, 1)
        try:
            return to_python(await waiting.wait())
        finally:
            self._await(end.hop, -1)
            if waiting.outcome is None and end.hop.calls.pop(call_id, None) is not None:
                end.hop.peer.abandon(call_id)
                end.hop.notify(CANCEL_REQUEST, encode({"requestId": call_id}))

    def _await(self, hop: Hop, more: int) -> None:
        hop.awaited += more
        for queue in self._queues.values():
            queue.update_reading()

    def done(self, run: RequestRun) -> None:
        """Forget a handler that has ended."""
        self._runs.discard(run)
        self._quiet.set()

    # ---- receiving

    def _queue_changed(self, queue: DirectionQueue) -> None:
        """Forward bytes directly while the queue is free and no handler wants every message."""
        if self._is_member:
            return
        hop = queue.end.hop
        watched = self._watched[self._sender(queue.end)]
        if watched is None or not queue.is_free:
            hop.through = None
        else:
            hop.watched = watched | {CANCEL_REQUEST}
            hop.through = self._back if hop is self._front else self._front
        self._quiet.set()

    def _sender(self, end: Endpoint) -> Sender:
        return "agent" if end is self._agent else "client"

    def notified(self, end: Endpoint, method: str, params: Raw, frame: bytes | None) -> None:
        """Take a notification that may have a handler, or has to wait in the queue."""
        sender = self._sender(end)
        queue = self._queues[sender]
        if queue.is_free:
            self._notify(sender, method, params, frame)
        else:
            size = memoryview(params).nbytes
            queue.put(lambda: self._notify(sender, method, params, frame), size)

    def _notify(self, sender: Sender, method: str, params: Raw, frame: bytes | None) -> None:
        watched = self._watched[sender]
        if watched is not None and method not in watched:
            self._pass(self.queue_to(sender).end, method, params, frame)
            return
        chosen = self._handlers.for_notification(sender, method)
        for_update: list[Handler] = []
        if sender == "agent" and method == SESSION_UPDATE and self._handlers.has_updates:
            kind = kind_of_update(params)
            for_update = [] if kind is None else self._handlers.for_update(kind)
        target = self.queue_to(sender).end
        if not chosen and not for_update:
            self._pass(target, method, params, frame)
            return
        message = Message(self, sender, method, params)
        run = NotificationRun(self.name, message, chosen, for_update)
        if not run.is_async:
            if run.run_now():
                self._pass_message(target, message, params, frame)
            return
        queue = self._queues[sender]

        async def work() -> None:
            try:
                if await run.run():
                    self._pass_message(target, message, params, frame)
            finally:
                hold.release()
                self._quiet.set()

        message.hold = hold = QueueHold(queue)
        queue.hold(hold)
        self.tasks.start_soon(work, name=f"proxy {method}")

    def _pass_message(
        self, to: Endpoint, message: Message, params: Raw, frame: bytes | None
    ) -> None:
        try:
            encoded = message.encoded
        except Exception as error:  # noqa: BLE001 - the handler's value has no JSON form
            report(error, f"accord: the proxy {self.name!r} dropped {message.method}")
            return
        self._pass(to, message.method, encoded, frame if encoded is params else None)

    def _pass(self, to: Endpoint, method: str, params: Raw | bytes, frame: bytes | None) -> None:
        is_plain = to.wrapper is None and to.hop.is_listening
        if frame is not None and is_plain and to.passes_unchanged(method, params):
            to.hop.post(frame)
        else:
            to.notify(method, params)

    def requested(self, request: OpenRequest, params: Raw) -> None:
        if request.method in INITIALIZE_PROXY:
            if not self._is_member:
                said = f"the proxy {self.name!r} has its own agent and accepts no successor"
                request.refuse(INVALID_REQUEST, said)
                return
            self._agent.wrapper = INITIALIZE_PROXY[request.method]
            request.method = INITIALIZE
        elif self._is_member and request.method == INITIALIZE and request.end is self._front.near:
            said = f"the proxy {self.name!r} has no agent: run it inside a conductor's chain"
            request.refuse(INVALID_REQUEST, said, encode({"proxy": self.name}))
            return
        queue = self._queues[self._sender(request.end)]
        queue.put(lambda: self._request(request, params), memoryview(params).nbytes, request)

    def _request(self, request: OpenRequest, params: Raw) -> None:
        sender = self._sender(request.end)
        message = Message(self, sender, request.method, params)
        handler = self._handlers.for_request(sender, request.method)
        if handler is None:
            self.send_on(request, message)
            return
        run = request.run = RequestRun(self, request, message, handler)
        if handler.is_async:
            self._runs.add(run)
            self._queues[sender].hold(run.hold)
            self.tasks.start_soon(run.run, name=f"proxy {request.method}")
        else:
            run.run_now()

    def send_on(self, request: OpenRequest, message: Message) -> None:
        """Forward a request; only its sender waits for the answer."""
        to = self.queue_to(message.sender).end
        request.run = None
        pass_on(
            request,
            message.encoded,
            to,
            OrderedAnswerForwarder(self, request, message),
            message.method,
        )

    def answer_with(self, request: OpenRequest, message: Message, result: Raw | bytes) -> None:
        """Answer a request, after the response handlers have seen the result."""
        if message.method == INITIALIZE:
            use_version(result, (self._front, self._back))
        chosen = self._handlers.for_response(message.sender, message.method)
        if not chosen:
            request.answer(result)
            return
        response = Response(message, result)
        if not any(one.is_async for one in chosen):
            try:
                show_now(chosen, response)
                request.answer(response.encoded)
            except Exception as error:  # noqa: BLE001 - the sender gets an answer
                self._refuse_for(request, message, error)
            return
        queue = self.queue_to(message.sender)
        message.hold = hold = QueueHold(queue)
        if queue.holder is None:
            queue.hold(hold)

        async def work() -> None:
            try:
                await self.answer_and_wait(request, message, result)
            finally:
                hold.release()
                self._quiet.set()

        self.tasks.start_soon(work, name=f"proxy {message.method}")

    async def answer_and_wait(
        self, request: OpenRequest, message: Message, result: Raw | bytes
    ) -> None:
        """Do the same, and wait until the answer is sent."""
        if message.method == INITIALIZE:
            use_version(result, (self._front, self._back))
        chosen = self._handlers.for_response(message.sender, message.method)
        response = Response(message, result)
        try:
            await show(chosen, response)
            request.answer(response.encoded)
        except Exception as error:  # noqa: BLE001 - the sender gets an answer
            self._refuse_for(request, message, error)

    def _refuse_for(self, request: OpenRequest, message: Message, error: Exception) -> None:
        request.refuse(*refused_answer(error, self.name, message.method))

    def answered(self, request: OpenRequest) -> None:
        """Wake the task that waits until all requests are answered."""
        self._quiet.set()

    def withdrawn(self, request: OpenRequest, params: Raw) -> None:
        """Cancel a request that its sender has withdrawn."""
        queue = self._queues[self._sender(request.end)]
        run: RequestRun | None = request.run
        if queue.withdraw(request):
            request.refuse(REQUEST_CANCELLED, text_of(REQUEST_CANCELLED))
        elif run is not None and request.is_open:
            run.withdraw(params)
        elif run is not None:
            run.abort()
        else:
            queue.put(lambda: pass_on_cancel(request, params))
