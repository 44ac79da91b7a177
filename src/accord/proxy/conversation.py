"""One conversation through a proxy: the client on one side, the agent on the other.

What always holds
    * Messages of each side keep their order, also around handlers that wait.
    * What no handler wants goes on as the bytes that came.
    * When one side goes, the open requests of the other are answered, and all that came before is
      passed on first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from accord.connection.error_responses import report
from accord.jsonrpc.error_codes import INVALID_REQUEST, REQUEST_CANCELLED, text_of
from accord.jsonrpc.framing import FRAME_BYTES_MAX
from accord.machine.logs import logger
from accord.proxy.direction_queue import Holding, Lane
from accord.proxy.handler_registry import Handler, Handlers
from accord.proxy.hop import Hop, Outbox
from accord.proxy.message import Message, Neighbour, Response, Sender
from accord.proxy.notification_dispatch import Letting, kind_of_update, show, show_now, tell_end
from accord.proxy.open_requests import Asked, End
from accord.proxy.request_dispatch import Doing, Waiting, refused_answer
from accord.proxy.request_forward import Passed, heed_version, pass_on, pass_on_cancel
from accord.schema.codec import encode, to_python
from accord.schema.method import CANCEL_REQUEST, SESSION_UPDATE
from accord.schema.struct import Raw
from accord.transport.subprocess import SubprocessTransport
from accord.transport.transport import Ended, Transport

_log = logger("accord.proxy")

INITIALIZE: Final = "initialize"
INITIALIZE_PROXY: Final = {
    "proxy/initialize": "proxy/successor",
    "_proxy/initialize": "_proxy/successor",
}
"""How a component is told that it has a successor, and how it then speaks to it."""
LAST_ANSWERS_SECONDS_MAX: Final = 2.0
"""How long what is under way may go on when one side has gone."""
LAST_WORDS_SECONDS_MAX: Final = 10.0
"""How long an agent may take to end by itself when its client has said its last word."""


class Returned(Passed):
    """The answer to a request that was passed on untouched; it takes its turn on the way back."""

    __slots__ = ("_link", "_message")

    def __init__(self, link: Link, asked: Asked, message: Message) -> None:
        super().__init__(asked)
        self._link = link
        self._message = message

    def answered(self, result: Raw) -> None:
        """Hand the result back, by way of whoever wants to see it."""
        lane = self._link.lane_to(self._message.sender)
        size = memoryview(result).nbytes
        lane.put(lambda: self._link.give(self.asked, self._message, result), size)

    def failed(self, code: int, message: str, data: Raw | None) -> None:
        """Hand the error back."""
        lane = self._link.lane_to(self._message.sender)
        lane.put(lambda: self.asked.refuse(code, message, data))

    def lost(self, hop: Hop, why: Ended) -> None:
        """Say who is gone, behind all that it has said."""
        lane = self._link.lane_to(self._message.sender)
        lane.put(lambda: Passed.lost(self, hop, why))


class Link:
    """See the module.  `serve` is its whole life."""

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
        """Without an agent the client is a conductor, and the agent is behind that."""
        self.name = name
        self.tasks = tasks
        self._handlers = handlers
        self._outbox = outbox = Outbox()
        self._front = Hop(
            "the client", client, self, tasks, outbox, frame_bytes_max=frame_bytes_max
        )
        if agent is None:
            self._back = self._front
            self._front.far = self._agent = End(self._front, "proxy/successor")
        else:
            self._back = Hop(
                "the agent", agent, self, tasks, outbox, frame_bytes_max=frame_bytes_max
            )
            self._agent = self._back.near
        self._lanes: dict[Sender, Lane] = {
            "client": Lane(self._front.near, self._lane_changed),
            "agent": Lane(self._agent, self._lane_changed),
        }
        for who, lane in self._lanes.items():
            lane.end.screen = handlers.screens.get(who)
        self._watched = {who: handlers.watched(who) for who in self._lanes}
        self._is_member = agent is None
        self._doings: set[Doing] = set()
        self._quiet = anyio.Event()
        self._over = anyio.Event()
        self.ended_first: tuple[Sender, Ended] | None = None
        for lane in self._lanes.values():
            self._lane_changed(lane)

    # ---- life

    async def serve(self) -> tuple[Sender, Ended]:
        """Pass messages until one side goes; who went first, and why.

        Raises:
            SpawnFailed: there is no such agent.
        """
        try:
            if not self._is_member:
                await self._back.transport.start(self._back, self.tasks)
            await self._front.transport.start(self._front, self.tasks)
            await self._over.wait()
            await self._finish()
        finally:
            with anyio.CancelScope(shield=True):
                for doing in self._doings:
                    doing.abort()
                await self._back.transport.aclose()
                await self._front.transport.aclose()
        assert self.ended_first is not None
        return self.ended_first

    async def _finish(self) -> None:
        """One side has said its last; what that leaves under way ends in its own way."""
        assert self.ended_first is not None
        who, why = self.ended_first
        back = self._back.transport
        if who == "client" and why.writable:
            # What it said last may still wait for a handler.
            with anyio.move_on_after(LAST_ANSWERS_SECONDS_MAX):
                await self._settled(lambda: self._lanes["client"].is_free)
        if who == "client" and why.writable and isinstance(back, SubprocessTransport):
            # It learns it as it would from the client itself, and ends in its own time.
            back.close_write()
            with anyio.move_on_after(LAST_WORDS_SECONDS_MAX):
                await self._settled(lambda: self._back.why is not None)
        elif who == "client" and why.writable and not self._is_member:
            with anyio.move_on_after(LAST_ANSWERS_SECONDS_MAX):
                await self._settled(lambda: not self._front.asked)
        with anyio.move_on_after(LAST_ANSWERS_SECONDS_MAX):
            await self._settled(self._is_idle)
        # Not before: until here an agent may still have said something.
        tell_end(self._handlers.ends, Neighbour(self, "client"), self.name)

    async def _settled(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            self._quiet = anyio.Event()
            await self._quiet.wait()

    def _is_idle(self) -> bool:
        return not self._doings and all(lane.is_free for lane in self._lanes.values())

    def gone(self, hop: Hop, why: Ended) -> None:
        """A side has gone."""
        if self.ended_first is None:
            self.ended_first = ("client" if hop is self._front else "agent", why)
            self._over.set()
        self._quiet.set()

    def start_soon(self, job: Callable[..., Awaitable[Any]], *arguments: Any) -> None:
        """Run something beside the messages; it ends with the conversation at the latest."""

        async def run() -> None:
            try:
                await job(*arguments)
            except Exception as error:  # noqa: BLE001 - the conversation goes on
                report(error, f"accord: a job of the proxy {self.name!r} failed")

        self.tasks.start_soon(run)

    # ---- for handlers and their messages

    def end_of(self, who: Sender) -> End:
        """The client or the agent, as it is to be spoken to."""
        return self._lanes[who].end

    def lane_from(self, who: Sender) -> Lane:
        """What comes from a side."""
        return self._lanes[who]

    def lane_to(self, who: Sender) -> Lane:
        """What goes to a side, which is what comes from the other."""
        return self._lanes["agent" if who == "client" else "client"]

    async def ask(self, who: Sender, method: str, params: bytes, holding: Holding | None) -> Any:
        """A request of the proxy's own; its answer stands in no line."""
        if holding is not None:
            holding.let_go()
        end = self.end_of(who)
        waiting = Waiting(method)
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
        for lane in self._lanes.values():
            lane.breathe()

    def done(self, doing: Doing) -> None:
        """A handler has ended."""
        self._doings.discard(doing)
        self._quiet.set()

    # ---- what comes

    def _lane_changed(self, lane: Lane) -> None:
        """Let bytes through while nobody holds the lane and nobody wants all of it."""
        if self._is_member:
            return
        hop = lane.end.hop
        watched = self._watched[self._sender(lane.end)]
        if watched is None or not lane.is_free:
            hop.through = None
        else:
            hop.watched = watched | {CANCEL_REQUEST}
            hop.through = self._back if hop is self._front else self._front
        self._quiet.set()

    def _sender(self, end: End) -> Sender:
        return "agent" if end is self._agent else "client"

    def notified(self, end: End, method: str, params: Raw, frame: bytes | None) -> None:
        """A notification came that somebody may want, or that has to wait."""
        sender = self._sender(end)
        lane = self._lanes[sender]
        if lane.is_free:
            self._notify(sender, method, params, frame)
        else:
            size = memoryview(params).nbytes
            lane.put(lambda: self._notify(sender, method, params, frame), size)

    def _notify(self, sender: Sender, method: str, params: Raw, frame: bytes | None) -> None:
        watched = self._watched[sender]
        if watched is not None and method not in watched:
            self._pass(self.lane_to(sender).end, method, params, frame)
            return
        chosen = self._handlers.for_notification(sender, method)
        for_update: list[Handler] = []
        if sender == "agent" and method == SESSION_UPDATE and self._handlers.has_updates:
            kind = kind_of_update(params)
            for_update = [] if kind is None else self._handlers.for_update(kind)
        target = self.lane_to(sender).end
        if not chosen and not for_update:
            self._pass(target, method, params, frame)
            return
        message = Message(self, sender, method, params)
        letting = Letting(self.name, message, chosen, for_update)
        if not letting.is_async:
            if letting.run_now():
                self._pass_message(target, message, params, frame)
            return
        lane = self._lanes[sender]

        async def run() -> None:
            try:
                if await letting.run():
                    self._pass_message(target, message, params, frame)
            finally:
                holding.let_go()
                self._quiet.set()

        message.doing = holding = Holding(lane)
        lane.hold(holding)
        self.tasks.start_soon(run, name=f"proxy {method}")

    def _pass_message(self, to: End, message: Message, params: Raw, frame: bytes | None) -> None:
        try:
            encoded = message.encoded
        except Exception as error:  # noqa: BLE001 - what a handler made of it has no JSON form
            report(error, f"accord: the proxy {self.name!r} dropped {message.method}")
            return
        self._pass(to, message.method, encoded, frame if encoded is params else None)

    def _pass(self, to: End, method: str, params: Raw | bytes, frame: bytes | None) -> None:
        is_plain = to.wrapper is None and to.hop.is_listening
        if frame is not None and is_plain and to.lets_pass(method, params):
            to.hop.post(frame)
        else:
            to.notify(method, params)

    def requested(self, asked: Asked, params: Raw) -> None:
        """A request came."""
        if asked.method in INITIALIZE_PROXY:
            if not self._is_member:
                said = f"the proxy {self.name!r} has an agent of its own and takes no successor"
                asked.refuse(INVALID_REQUEST, said)
                return
            self._agent.wrapper = INITIALIZE_PROXY[asked.method]
            asked.method = INITIALIZE
        elif self._is_member and asked.method == INITIALIZE and asked.end is self._front.near:
            said = f"the proxy {self.name!r} has no agent behind it: start it by a conductor"
            asked.refuse(INVALID_REQUEST, said, encode({"proxy": self.name}))
            return
        lane = self._lanes[self._sender(asked.end)]
        lane.put(lambda: self._request(asked, params), memoryview(params).nbytes, asked)

    def _request(self, asked: Asked, params: Raw) -> None:
        sender = self._sender(asked.end)
        message = Message(self, sender, asked.method, params)
        handler = self._handlers.for_request(sender, asked.method)
        if handler is None:
            self.send_on(asked, message)
            return
        doing = asked.doing = Doing(self, asked, message, handler)
        if handler.is_async:
            self._doings.add(doing)
            self._lanes[sender].hold(doing)
            self.tasks.start_soon(doing.run, name=f"proxy {asked.method}")
        else:
            doing.run_now()

    def send_on(self, asked: Asked, message: Message) -> None:
        """Pass a request on, with nobody waiting for its answer but the asker."""
        to = self.lane_to(message.sender).end
        asked.doing = None
        pass_on(asked, message.encoded, to, Returned(self, asked, message), message.method)

    def give(self, asked: Asked, message: Message, result: Raw | bytes) -> None:
        """Answer a request with a result, by way of whoever wants to see it."""
        if message.method == INITIALIZE:
            heed_version(result, (self._front, self._back))
        chosen = self._handlers.for_response(message.sender, message.method)
        if not chosen:
            asked.answer(result)
            return
        response = Response(message, result)
        if not any(one.is_async for one in chosen):
            try:
                show_now(chosen, response)
                asked.answer(response.encoded)
            except Exception as error:  # noqa: BLE001 - the asker gets an answer
                self._refuse_for(asked, message, error)
            return
        lane = self.lane_to(message.sender)
        message.doing = holding = Holding(lane)
        if lane.holder is None:
            lane.hold(holding)

        async def run() -> None:
            try:
                await self.give_in_time(asked, message, result)
            finally:
                holding.let_go()
                self._quiet.set()

        self.tasks.start_soon(run, name=f"proxy {message.method}")

    async def give_in_time(self, asked: Asked, message: Message, result: Raw | bytes) -> None:
        """The same, and wait until it is given."""
        if message.method == INITIALIZE:
            heed_version(result, (self._front, self._back))
        chosen = self._handlers.for_response(message.sender, message.method)
        response = Response(message, result)
        try:
            await show(chosen, response)
            asked.answer(response.encoded)
        except Exception as error:  # noqa: BLE001 - the asker gets an answer
            self._refuse_for(asked, message, error)

    def _refuse_for(self, asked: Asked, message: Message, error: Exception) -> None:
        asked.refuse(*refused_answer(error, self.name, message.method))

    def answered(self, asked: Asked) -> None:
        """Somebody may wait for the last answer."""
        self._quiet.set()

    def withdrawn(self, asked: Asked, params: Raw) -> None:
        """The asker wants no answer any more."""
        lane = self._lanes[self._sender(asked.end)]
        doing: Doing | None = asked.doing
        if lane.withdraw(asked):
            asked.refuse(REQUEST_CANCELLED, text_of(REQUEST_CANCELLED))
        elif doing is not None and asked.is_open:
            doing.withdraw(params)
        elif doing is not None:
            doing.abort()
        else:
            lane.put(lambda: pass_on_cancel(asked, params))
