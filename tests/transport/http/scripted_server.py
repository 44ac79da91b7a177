"""An HTTP server for tests, over HTTP/2 or HTTP/1.1, that can be made to misbehave.

It hands every request to a handler, which answers it as it likes: late, in pieces, or not at all.
"""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio
import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
import h11
from anyio.abc import ByteStream, SocketAttribute, TaskGroup
from anyio.streams.tls import TLSAttribute, TLSListener


class ServedRequest:
    """One request, and the ways to answer it."""

    def __init__(self, served: ServedConnection, method: str, path: str) -> None:
        self.connection = served
        self.method = method
        self.path = path
        self.headers: dict[str, str] = {}
        self.body = b""
        self.is_gone = anyio.Event()

    async def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Answer it completely."""
        await self.begin(status, **headers)
        await self.send(body, is_last=True)

    async def begin(self, status: int, **headers: str) -> None:
        """Send the status and headers; underscores in names become hyphens."""
        raise NotImplementedError

    async def send(self, data: bytes, *, is_last: bool = False) -> None:
        """Send a part of the body, as far as the client takes it."""
        raise NotImplementedError

    async def reset(self, code: int = h2.errors.ErrorCodes.INTERNAL_ERROR) -> None:
        """Give up the request alone."""
        raise NotImplementedError


class ServedConnection:
    """One connection of a client."""

    def __init__(self, server: ScriptedServer, stream: ByteStream, tasks: TaskGroup) -> None:
        self.server = server
        self.stream = stream
        self.tasks = tasks
        self.requests: list[ServedRequest] = []
        self.is_closed = anyio.Event()

    async def abort(self) -> None:
        """Cut the connection as a broken network does."""
        if self.is_closed.is_set():
            return
        raw = self.stream.extra(SocketAttribute.raw_socket)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await anyio.aclose_forcefully(self.stream)

    async def serve(self) -> None:
        raise NotImplementedError


Handler = Callable[[ServedRequest], Coroutine[Any, Any, None]]


class H2Request(ServedRequest):
    def __init__(self, served: H2Served, stream_id: int, headers: Any) -> None:
        named = {name.decode(): value.decode() for name, value in headers}
        super().__init__(served, named.pop(":method"), named.pop(":path"))
        self.served = served
        self.stream_id = stream_id
        self.headers = named

    async def begin(self, status: int, **headers: str) -> None:
        sent = [(name.replace("_", "-"), value) for name, value in headers.items()]
        self.served.h2.send_headers(self.stream_id, [(":status", str(status)), *sent])
        await self.served.flush()

    async def send(self, data: bytes, *, is_last: bool = False) -> None:
        rest = memoryview(data)
        while True:
            window = self.served.h2.local_flow_control_window(self.stream_id)
            size = min(window, self.served.h2.max_outbound_frame_size, len(rest))
            piece, rest = rest[:size], rest[size:]
            if piece or (is_last and not rest):
                self.served.h2.send_data(
                    self.stream_id, bytes(piece), end_stream=is_last and not rest
                )
                self.served.sent_bytes += len(piece)
                await self.served.flush()
            if not rest:
                return
            if not piece:
                await self.served.credit.wait()

    async def reset(self, code: int = h2.errors.ErrorCodes.INTERNAL_ERROR) -> None:
        self.served.h2.reset_stream(self.stream_id, code)
        await self.served.flush()


class H2Served(ServedConnection):
    """HTTP/2, by `h2`; `is_silent` makes it read and never write."""

    def __init__(self, server: ScriptedServer, stream: ByteStream, tasks: TaskGroup) -> None:
        super().__init__(server, stream, tasks)
        config = h2.config.H2Configuration(client_side=False, header_encoding=None)
        self.h2 = h2.connection.H2Connection(config)
        self.credit = anyio.Event()
        self.sent_bytes = 0
        self.pings = 0
        # Settings that the client has taken.
        self.acknowledged = 0
        self.pinged = anyio.Event()
        self.is_silent = False
        # Cancelled to stop reading.
        self.reads = anyio.CancelScope()
        self._open: dict[int, H2Request] = {}
        self._lock = anyio.Lock()

    async def flush(self) -> None:
        if self.is_silent:
            return
        async with self._lock:
            data = self.h2.data_to_send()
            if data:
                await self.stream.send(data)

    async def allow(self, streams_max: int) -> None:
        """Change how many requests the client may have open."""
        codes = h2.settings.SettingCodes
        self.h2.update_settings({codes.MAX_CONCURRENT_STREAMS: streams_max})
        await self.flush()

    async def send_raw(self, data: bytes) -> None:
        """Send bytes that `h2` knows nothing of."""
        async with self._lock:
            await self.stream.send(data)

    async def goaway(self, last_stream_id: int, code: int = 0) -> None:
        """Announce the end of the connection, and go on."""
        payload = struct.pack(">II", last_stream_id, code)
        head = struct.pack(">I", len(payload))[1:] + b"\x07\0" + bytes(4)
        await self.send_raw(head + payload)

    async def serve(self) -> None:
        self.h2.local_settings = h2.settings.Settings(
            client=False,
            initial_values={
                h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: self.server.streams_max,
                h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: self.server.window_bytes,
            },
        )
        self.h2.initiate_connection()
        if self.server.window_bytes > 65_535:
            self.h2.increment_flow_control_window(self.server.window_bytes)
        await self.flush()
        try:
            with self.reads:
                while True:
                    for event in self.h2.receive_data(await self.stream.receive()):
                        self._event(event)
                    await self.flush()
            await anyio.sleep_forever()
        finally:
            for request in self._open.values():
                request.is_gone.set()

    def _event(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.RequestReceived():
                request = H2Request(self, event.stream_id, event.headers)
                self._open[event.stream_id] = request
                self.requests.append(request)
                self.server.came(request)
            case h2.events.DataReceived():
                self._open[event.stream_id].body += event.data
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case h2.events.StreamEnded():
                self.tasks.start_soon(self.server.handle, self._open[event.stream_id])
            case h2.events.StreamReset():
                self._open[event.stream_id].is_gone.set()
            case h2.events.WindowUpdated() | h2.events.RemoteSettingsChanged():
                self.credit.set()
                self.credit = anyio.Event()
            case h2.events.SettingsAcknowledged():
                self.acknowledged += 1
                self.server.changed()
            case h2.events.PingReceived():
                self.pings += 1
                self.pinged.set()
            case _:
                pass


class H1Request(ServedRequest):
    def __init__(self, served: H1Served, head: h11.Request) -> None:
        super().__init__(served, head.method.decode(), head.target.decode())
        self.served = served
        self.headers = {name.decode(): value.decode() for name, value in head.headers}

    async def begin(self, status: int, **headers: str) -> None:
        sent = [(name.replace("_", "-"), value) for name, value in headers.items()]
        await self.served.send(h11.Response(status_code=status, headers=sent))

    async def send(self, data: bytes, *, is_last: bool = False) -> None:
        if data:
            await self.served.send(h11.Data(data=data))
        if is_last:
            await self.served.send(h11.EndOfMessage())

    async def reset(self, code: int = 0) -> None:
        await self.served.abort()


class H1Served(ServedConnection):
    """HTTP/1.1, by `h11`, one request after another."""

    def __init__(self, server: ScriptedServer, stream: ByteStream, tasks: TaskGroup) -> None:
        super().__init__(server, stream, tasks)
        self._h11 = h11.Connection(h11.SERVER)
        self._first = b""
        # The script's task and a test may both send, and a stream has one writer at a time.
        self._sending = anyio.Lock()

    async def send(self, event: Any) -> None:
        async with self._sending:
            data = self._h11.send(event)
            if data:
                await self.stream.send(data)

    async def serve(self) -> None:
        while True:
            request = await self._request()
            if request is None:
                return
            self.requests.append(request)
            self.server.came(request)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch, request, tasks)
                await self.server.handle(request)
                tasks.cancel_scope.cancel()
            if self._h11.our_state is not h11.DONE:
                return
            self._h11.start_next_cycle()

    async def _watch(self, request: H1Request, tasks: TaskGroup) -> None:
        """See the end of the client, or its next request."""
        try:
            self._h11.receive_data(await self.stream.receive())
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            request.is_gone.set()
            tasks.cancel_scope.cancel()

    async def _request(self) -> H1Request | None:
        request: H1Request | None = None
        while True:
            try:
                event = self._h11.next_event()
            except h11.RemoteProtocolError:
                await self.stream.send(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")
                return None
            if event is h11.NEED_DATA:
                try:
                    self._h11.receive_data(await self.stream.receive())
                except anyio.EndOfStream:
                    return None
            elif isinstance(event, h11.Request):
                request = H1Request(self, event)
            elif isinstance(event, h11.Data):
                assert request is not None
                request.body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                return request
            else:
                return None


class ScriptedServer:
    """Listens on a port of this machine."""

    def __init__(
        self, handler: Handler, version: str, *, streams_max: int = 100, window_bytes: int = 65_535
    ) -> None:
        self.handle = handler
        self.version = version
        self.streams_max = streams_max
        self.window_bytes = window_bytes
        self.port = 0
        self.connections: list[ServedConnection] = []
        self.requests: list[ServedRequest] = []
        self.accepts = True
        self._news = anyio.Event()

    def came(self, request: ServedRequest) -> None:
        """Take note of a request, unless it is the preface of HTTP/2."""
        if request.method != "PRI":
            self.requests.append(request)
        self.changed()

    def changed(self) -> None:
        """Wake those who wait in `until`."""
        self._news.set()
        self._news = anyio.Event()

    async def until(self, true: Callable[[], object]) -> None:
        """Wait until something is so; the handler calls `changed`."""
        while not true():
            await self._news.wait()

    async def _serve(self, stream: ByteStream) -> None:
        if not self.accepts:
            await anyio.aclose_forcefully(stream)
            return
        is_http_2 = self.version == "h2"
        if stream.extra(TLSAttribute.alpn_protocol, None) == "http/1.1":
            is_http_2 = False
        kind = H2Served if is_http_2 else H1Served
        try:
            async with stream, anyio.create_task_group() as tasks:
                served = kind(self, stream, tasks)
                self.connections.append(served)
                self.changed()
                try:
                    await served.serve()
                finally:
                    served.is_closed.set()
                    tasks.cancel_scope.cancel()
        except* (
            anyio.EndOfStream,
            anyio.BrokenResourceError,
            anyio.ClosedResourceError,
            h2.exceptions.ProtocolError,
        ):
            pass

    async def abort_all(self) -> None:
        """Cut every connection."""
        connections, self.connections = self.connections, []
        for served in connections:
            await served.abort()


@asynccontextmanager
async def serve(
    handler: Handler,
    version: str = "h2",
    *,
    tls: ssl.SSLContext | None = None,
    streams_max: int = 100,
    window_bytes: int = 65_535,
) -> AsyncIterator[ScriptedServer]:
    """Run a server inside this context."""
    server = ScriptedServer(handler, version, streams_max=streams_max, window_bytes=window_bytes)
    tcp = await anyio.create_tcp_listener(local_host="127.0.0.1")
    server.port = tcp.extra(SocketAttribute.local_port)
    listener: Any = tcp if tls is None else TLSListener(tcp, tls, standard_compatible=False)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, server._serve)
        yield server
        tasks.cancel_scope.cancel()


__all__ = ["H2Served", "ScriptedServer", "ServedConnection", "ServedRequest", "serve"]
