"""A server for ASGI applications: HTTP/2, HTTP/1.1 and WebSocket, in the place of granian.

It hands requests to the application in any order, as a server with threads does, and some of them
meet with a mishap: `Mishap`.

What always holds: without a mishap each request is handed over once, and its answer is sent whole.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, Literal

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h11
from websockets.frames import Frame, Opcode
from websockets.http11 import Request as HandshakeRequest
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from accord.machine.redacted_logs import SILENT
from accord.transport.server.listener.protocol_choice import choose_protocol
from accord.transport.server.peer_liveness import is_gone, tcp_info
from tests.simulation.remote.loop import Listener, NetworkLoop

Application = Callable[[Any, Any, Any], Awaitable[None]]
Mishap = Literal["none", "busy", "refused", "answer_lost", "twice", "go_away"]
Headers = list[tuple[bytes, bytes]]

_PREFACE = b"PRI * HTTP/2.0"
_ACCORD_MESSAGE = b"accord-message"
# A client that does not take the rest is left.
CLOSE_SECONDS_MAX = 0.5
# How often clients are looked after.
CHECK_SECONDS = 10.0


class PlayedHttpServer:
    """Listens on a path; `stop` ends everything."""

    def __init__(
        self,
        application: Application,
        loop: NetworkLoop,
        random: Random,
        *,
        has_http_2: bool,
        silence_seconds: float,
        draw_mishap: Callable[[], Mishap],
    ) -> None:
        self.application = application
        self.loop = loop
        self.random = random
        self.has_http_2 = has_http_2
        # When a client is given up that acknowledges nothing.
        self.silence_seconds = silence_seconds
        self.draw_mishap = draw_mishap
        # How long a request may take on its way to the application.
        self.delay_seconds = random.choice((0.0, 0.001, 0.05, 0.3))
        # A set with an order that does not depend on addresses.
        self.connections: dict[HttpProtocol, None] = {}
        self._listener: Listener | None = None
        self._stopped = asyncio.Event()

    def listen(self, place: Any) -> None:
        self._listener = self.loop.listen(lambda: HttpProtocol(self), place)

    def stop(self) -> None:
        """Take no more connections, and end those that there are."""
        if self._listener is not None:
            self._listener.close()
        for connection in list(self.connections):
            connection.abort()
        self._stopped.set()

    async def serve(self) -> None:
        await self._stopped.wait()


class HttpProtocol(asyncio.Protocol):
    """One connection; the first bytes show what it speaks."""

    def __init__(self, server: PlayedHttpServer) -> None:
        self.server = server
        self.transport: Any = None
        self._head = b""
        self._speaks: Http2 | Http1 | AsgiWebSocket | None = None
        self._liveness: asyncio.TimerHandle | None = None
        self._room: asyncio.Future[None] | None = None
        self.is_gone = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.server.connections[self] = None
        self._check_later()

    def _check_later(self) -> None:
        self._liveness = self.server.loop.call_later(CHECK_SECONDS, self._check)

    def _check(self) -> None:
        """Leave a client that acknowledges nothing, as servers do."""
        if isinstance(self._speaks, AsgiWebSocket):
            self._speaks.ping()
        info = tcp_info(self.transport.get_extra_info("socket"))
        if is_gone(info, self.server.silence_seconds):
            self.abort()
        self._check_later()

    def data_received(self, data: bytes) -> None:
        if self._speaks is None:
            self._head += data
            data = self._head
            if len(data) < len(_PREFACE) and _PREFACE.startswith(data):
                return
            choice = choose_protocol(data)
            if choice is None:
                return
            if choice == "websocket":
                self._speaks = AsgiWebSocket(self)
            else:
                is_http_2 = data.startswith(_PREFACE) and self.server.has_http_2
                self._speaks = Http2(self) if is_http_2 else Http1(self)
        self._speaks.receive(data)

    def pause_writing(self) -> None:
        self._room = self.server.loop.create_future()

    def resume_writing(self) -> None:
        room, self._room = self._room, None
        if room is not None and not room.done():
            room.set_result(None)

    async def drain(self) -> None:
        """Wait until the client has taken most of it."""
        while self._room is not None and not self.is_gone:
            await asyncio.shield(self._room)

    def close(self) -> None:
        """Send the rest, for a bounded time."""
        self.transport.close()
        self.server.loop.call_later(CLOSE_SECONDS_MAX, self.abort)

    def abort(self) -> None:
        if not self.is_gone:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_gone = True
        self.server.connections.pop(self, None)
        if self._liveness is not None:
            self._liveness.cancel()
        self.resume_writing()
        if self._speaks is not None:
            self._speaks.lost()


class Inbox:
    """What an application receives, in order; the last message stays."""

    def __init__(self, loop: NetworkLoop, last: str) -> None:
        self._loop = loop
        self._last = last
        self._messages: deque[dict[str, Any]] = deque()
        self._waiters: list[asyncio.Future[None]] = []

    def put(self, message: dict[str, Any]) -> None:
        self._messages.append(message)
        self.wake()

    def wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def changed(self) -> None:
        """Wait until something comes, or there is room."""
        waiter = self._loop.create_future()
        self._waiters.append(waiter)
        await waiter

    async def receive(self) -> dict[str, Any]:
        while not self._messages:
            await self.changed()
        message = self._messages[0]
        if message["type"] != self._last:
            self._messages.popleft()
        return message


class Request:
    """One request, as ASGI sees it."""

    def __init__(self, owner: "Http2 | Http1", key: int, scope: dict[str, Any]) -> None:
        self._owner = owner
        self.key = key
        self.scope = scope
        self._inbox = Inbox(owner.connection.server.loop, "http.disconnect")
        self.receive, self.changed = self._inbox.receive, self._inbox.changed
        self.wake = self._inbox.wake
        self._is_gone = False
        # Its answer goes nowhere.
        self.is_mute = False
        self.started: dict[str, Any] | None = None
        self.is_answered = False

    def begin(self) -> None:
        """Hand it to the application, perhaps after others that came later."""
        server = self._owner.connection.server
        seconds = server.random.random() * server.delay_seconds
        server.loop.call_later(seconds, self._begin)

    def _begin(self) -> None:
        self._owner.connection.server.loop.create_task(self._run(), name="request")

    async def _run(self) -> None:
        try:
            await self._owner.connection.server.application(self.scope, self.receive, self.send)
        finally:
            if not self.is_mute and not self._is_gone:
                self._owner.left(self)

    def body(self, data: bytes, *, more: bool) -> None:
        self._inbox.put({"type": "http.request", "body": data, "more_body": more})

    def gone(self) -> None:
        """Nobody waits for the answer any more."""
        if not self._is_gone:
            self._is_gone = True
            self._inbox.put({"type": "http.disconnect"})

    async def send(self, message: dict[str, Any]) -> None:
        if self._is_gone or self.is_mute:
            return
        if message["type"] == "http.response.start":
            self.started = message
            return
        assert self.started is not None
        if not self.is_answered:
            self.is_answered = True
            self._owner.answer(self, self.started["status"], self.started["headers"])
        await self._owner.send_body(
            self, message.get("body", b""), is_last=not message.get("more_body", False)
        )


def scope_of(version: str, method: bytes, target: bytes, headers: Headers) -> dict[str, Any]:
    path, _, query = target.partition(b"?")
    return {
        "type": "http",
        "http_version": version,
        "method": method.decode(),
        "path": path.decode(),
        "root_path": "",
        "query_string": query,
        "headers": [(name.lower(), value) for name, value in headers],
        "client": ("127.0.0.1", 0),
    }


class Http2:
    """The server's side of an HTTP/2 connection."""

    def __init__(self, connection: HttpProtocol) -> None:
        self.connection = connection
        config = h2.config.H2Configuration(client_side=False, header_encoding=None)
        self._h2 = h2.connection.H2Connection(config)
        self._h2.initiate_connection()
        self._requests: dict[int, Request] = {}
        self._mishaps: dict[int, Mishap] = {}
        self._is_going = False
        self._flush()

    def receive(self, data: bytes) -> None:
        try:
            events = self._h2.receive_data(data)
        except h2.exceptions.ProtocolError:
            self._flush()
            self.connection.close()
            return
        for event in events:
            self._event(event)
        self._flush()

    def _event(self, event: Any) -> None:
        match event:
            case h2.events.RequestReceived():
                self._begin(event)
            case h2.events.DataReceived():
                self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                request = self._requests.get(event.stream_id)
                if request is not None:
                    request.body(event.data, more=event.stream_ended is None)
            case h2.events.StreamReset():
                request = self._requests.pop(event.stream_id, None)
                if request is not None:
                    request.gone()
            case h2.events.WindowUpdated() | h2.events.RemoteSettingsChanged():
                for request in list(self._requests.values()):
                    request.wake()
            case h2.events.ConnectionTerminated():
                self.connection.close()

    def _begin(self, event: Any) -> None:
        named = dict(event.headers)
        headers = [one for one in event.headers if not one[0].startswith(b":")]
        headers.append((b"host", named[b":authority"]))
        scope = scope_of("2", named[b":method"], named[b":path"], headers)
        request = Request(self, event.stream_id, scope)
        if event.stream_ended is not None:
            request.body(b"", more=False)
        mishap = self.connection.server.draw_mishap() if b"acp-connection-id" in named else "none"
        if mishap == "refused":
            with contextlib.suppress(h2.exceptions.ProtocolError):
                self._h2.reset_stream(event.stream_id, h2.errors.ErrorCodes.REFUSED_STREAM)
            return
        self._requests[event.stream_id] = request
        if mishap == "busy":
            self._busy(request)
            return
        request.is_mute = mishap == "answer_lost" and named[b":method"] != b"GET"
        self._mishaps[event.stream_id] = mishap if request.is_mute else "none"
        request.begin()
        if mishap == "twice" and _ACCORD_MESSAGE in named:
            self._twice(request, event)
        if mishap == "go_away" and not self._is_going:
            self._is_going = True
            self.connection.server.loop.call_later(0.01, self._go_away, event.stream_id)
        if request.is_mute:
            self.connection.server.loop.call_later(0.5, self._lose_answer, event.stream_id)

    def _busy(self, request: Request) -> None:
        self.answer(request, 503, [(b"content-length", b"0")])
        # The client may have closed the connection in the same breath.
        with contextlib.suppress(h2.exceptions.ProtocolError):
            self._h2.end_stream(request.key)
        del self._requests[request.key]

    def _twice(self, request: Request, event: Any) -> None:
        """Somebody on the way sends it again; the first answer counts."""
        again = Request(self, -event.stream_id, request.scope)
        again.is_mute = True
        self._requests[-event.stream_id] = again
        body = request.body

        def both(data: bytes, *, more: bool) -> None:
            body(data, more=more)
            again.body(data, more=more)

        request.body = both  # type: ignore[method-assign]
        again.begin()

    def left(self, request: Request) -> None:
        """The application has returned: an answer that is not whole stays so."""
        if request.key in self._requests:
            self._lose_answer(request.key)

    def _lose_answer(self, stream_id: int) -> None:
        request = self._requests.pop(stream_id, None)
        if request is not None and not self.connection.is_gone:
            with contextlib.suppress(h2.exceptions.ProtocolError):
                self._h2.reset_stream(stream_id, h2.errors.ErrorCodes.INTERNAL_ERROR)
            self._flush()
            request.gone()

    def _go_away(self, last_stream_id: int) -> None:
        """Serve what has come, and then close."""
        if not self.connection.is_gone:
            self._h2.close_connection(last_stream_id=last_stream_id)
            self._flush()
            self.connection.close()

    def answer(self, request: Request, status: int, headers: Headers) -> None:
        if not self.connection.is_gone and not self._is_closed(request):
            # Not after the connection was closed by either side.
            with contextlib.suppress(h2.exceptions.ProtocolError):
                self._h2.send_headers(request.key, [(b":status", b"%d" % status), *headers])
            self._flush()

    def _is_closed(self, request: Request) -> bool:
        return request.key not in self._requests

    async def send_body(self, request: Request, data: bytes, *, is_last: bool) -> None:
        rest = memoryview(data)
        while not self.connection.is_gone and not self._is_closed(request):
            try:
                window = self._h2.local_flow_control_window(request.key)
                size = min(window, self._h2.max_outbound_frame_size, len(rest))
                if rest and size <= 0:
                    await request.changed()
                    continue
                piece, rest = bytes(rest[:size]), rest[size:]
                self._h2.send_data(request.key, piece, end_stream=is_last and not rest)
            except h2.exceptions.ProtocolError:
                return
            self._flush()
            if not rest:
                break
        if is_last:
            self._requests.pop(request.key, None)
        await self.connection.drain()

    def _flush(self) -> None:
        if not self.connection.is_gone and not self.connection.transport.is_closing():
            self.connection.transport.write(self._h2.data_to_send())

    def lost(self) -> None:
        for request in list(self._requests.values()):
            request.gone()
            request.wake()
        self._requests.clear()


class Http1:
    """The server's side of an HTTP/1.1 connection: one request after the other."""

    def __init__(self, connection: HttpProtocol) -> None:
        self.connection = connection
        self._h11 = h11.Connection(h11.SERVER)
        self._request: Request | None = None
        self._count = 0

    def receive(self, data: bytes) -> None:
        self._h11.receive_data(data)
        self._read()

    def _read(self) -> None:
        while not self.connection.is_gone:
            try:
                event = self._h11.next_event()
            except h11.RemoteProtocolError:
                self.connection.transport.write(
                    b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                )
                self.connection.close()
                return
            if isinstance(event, h11.Request):
                self._begin(event)
            elif isinstance(event, h11.Data) and self._request is not None:
                self._request.body(bytes(event.data), more=True)
            elif isinstance(event, h11.EndOfMessage) and self._request is not None:
                self._request.body(b"", more=False)
            elif isinstance(event, h11.ConnectionClosed):
                if self._request is not None:
                    self._request.gone()
                self.connection.close()
                return
            elif event is h11.NEED_DATA or event is h11.PAUSED:
                return

    def _begin(self, event: h11.Request) -> None:
        headers = list(event.headers)
        scope = scope_of("1.1", event.method, event.target, headers)
        self._count += 1
        request = self._request = Request(self, self._count, scope)
        named = dict(headers)
        mishap = self.connection.server.draw_mishap() if b"acp-connection-id" in named else "none"
        if mishap == "busy":
            request.is_mute = True
            self.answer(request, 503, [(b"content-length", b"0"), (b"connection", b"close")])
            self.connection.close()
            return
        if mishap == "answer_lost" and event.method != b"GET":
            request.is_mute = True
            self.connection.server.loop.call_later(0.5, self.connection.abort)
        request.begin()

    def answer(self, request: Request, status: int, headers: Headers) -> None:
        if request is self._request and not self.connection.is_gone:
            self._send(h11.Response(status_code=status, headers=headers))

    async def send_body(self, request: Request, data: bytes, *, is_last: bool) -> None:
        if request is not self._request or self.connection.is_gone:
            return
        if data:
            self._send(h11.Data(data=data))
        if is_last:
            self._send(h11.EndOfMessage())
            self._request = None
            if self._h11.our_state is h11.DONE and self._h11.their_state is h11.DONE:
                self._h11.start_next_cycle()
                self._read()
            else:
                self.connection.close()
        await self.connection.drain()

    def left(self, request: Request) -> None:
        """The application has returned: an answer that is not whole stays so."""
        if request is self._request:
            self.connection.abort()

    def _send(self, event: Any) -> None:
        data = self._h11.send(event)
        if data and not self.connection.transport.is_closing():
            self.connection.transport.write(data)

    def lost(self) -> None:
        if self._request is not None:
            self._request.gone()


class AsgiWebSocket:
    """The server's side of a WebSocket, for the application's own endpoint."""

    def __init__(self, connection: HttpProtocol) -> None:
        self.connection = connection
        self._protocol = ServerProtocol(logger=SILENT, max_size=None)
        self._inbox = Inbox(connection.server.loop, "websocket.disconnect")
        self._request: HandshakeRequest | None = None
        self._is_over = False

    def receive(self, data: bytes) -> None:
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, HandshakeRequest):
                self._begin(event)
            elif isinstance(event, Frame) and event.opcode is Opcode.TEXT:
                text = bytes(event.data).decode()
                self._inbox.put({"type": "websocket.receive", "text": text})
            elif isinstance(event, Frame) and event.opcode is Opcode.CLOSE:
                code = self._protocol.close_rcvd.code if self._protocol.close_rcvd else 1005
                self._disconnect(code)
        self._flush()

    def _begin(self, request: HandshakeRequest) -> None:
        self._request = request
        headers = [(n.encode(), v.encode()) for n, v in request.headers.raw_items()]
        scope = scope_of("1.1", b"GET", request.path.encode(), headers)
        self._inbox.put({"type": "websocket.connect"})
        loop = self.connection.server.loop
        loop.create_task(self._run({**scope, "type": "websocket"}), name="websocket")

    async def _run(self, scope: dict[str, Any]) -> None:
        try:
            await self.connection.server.application(scope, self._inbox.receive, self.send)
        finally:
            if not self.connection.is_gone:
                self.connection.close()

    async def send(self, message: dict[str, Any]) -> None:
        protocol = self._protocol
        if self.connection.is_gone:
            return
        if message["type"] == "websocket.accept":
            assert self._request is not None
            response = protocol.accept(self._request)
            for name, value in message.get("headers", ()):
                response.headers[name.decode()] = value.decode()
            protocol.send_response(response)
        elif protocol.state is not OPEN:
            return
        elif message["type"] == "websocket.send":
            protocol.send_text(message["text"].encode())
        else:
            protocol.send_close(message["code"], message["reason"])
        self._flush()
        await self.connection.drain()

    def ping(self) -> None:
        if self._protocol.state is OPEN:
            self._protocol.send_ping(b"")
            self._flush()

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data and not self.connection.transport.is_closing():
                self.connection.transport.write(data)
            elif not data:
                self.connection.close()

    def _disconnect(self, code: int) -> None:
        if not self._is_over:
            self._is_over = True
            self._inbox.put({"type": "websocket.disconnect", "code": code})

    def lost(self) -> None:
        self._disconnect(1006)


__all__ = ["Mishap", "PlayedHttpServer"]
