"""A server for the application: one port, HTTP by granian, WebSocket on the event loop itself.

granian needs 148 KiB for each WebSocket, this needs a tenth of that: see decision 0030.  The first
bytes of a connection say which of the two it is; HTTP is passed on to granian, which listens on a
Unix socket that only this process can reach.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import ssl
import tempfile
from collections import deque
from collections.abc import Coroutine
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Protocol

from accord.errors import ConfigError
from accord.machine.redacted_logs import logger, place_of
from accord.transport.readiness import context_of_asyncio
from accord.transport.remote_limits import RemoteLimits
from accord.transport.server.connections import Connections
from accord.transport.server.listener.byte_relay import relay
from accord.transport.server.listener.protocol_choice import choose_protocol, head_length
from accord.transport.server.peer_liveness import is_gone, keep_alive, tcp_info
from accord.transport.server.request_guard import Refusal, RequestGuard, is_loopback
from accord.transport.server.requests import Receive, RemoteRequest, Scope, Send
from accord.transport.server.websocket.handshake import Handshake
from accord.transport.server.websocket.native_socket import NativeSocket

if TYPE_CHECKING:
    from granian.server.embed import Server as GranianServer

_log = logger("accord.transport")

BACKLOG: Final = 1024
# granian listens a moment after it was started.
START_SECONDS_MAX: Final = 30.0
POLL_SECONDS: Final = 0.005
# How long closing waits for the close frames of WebSockets.
CLOSE_SECONDS_MAX: Final = 1.0
# How often some of the connections are looked at, and in how many rounds all of them.
CHECK_SECONDS: Final = 1.0
CHECK_ROUNDS: Final = 3
# A client opens one stream per session; more than this need another connection.
STREAMS_MAX: Final = 256
# What a WebSocket may have unsent in the event loop before its agent waits.
SOCKET_BUFFER_BYTES: Final = 256 * 1024
_BAD_HEAD: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n\r\n"


class Application(Protocol):
    """What can be served: an agent at a URL, or a gateway with several."""

    @property
    def is_encrypted(self) -> bool:
        """Whether TLS ends in this program."""
        ...

    @is_encrypted.setter
    def is_encrypted(self, value: bool) -> None: ...

    @property
    def limits(self) -> RemoteLimits:
        """The bounds of every connection."""
        ...

    @property
    def guard(self) -> RequestGuard:
        """What is refused before it is read."""
        ...

    async def admit(self, request: RemoteRequest) -> str | Refusal:
        """Return the principal of a request, or why the request is refused."""
        ...

    def connections_at(self, path: str) -> Connections:
        """Return the connections of the agent at a path that was admitted."""
        ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the life of the server."""
        ...

    async def aclose(self) -> None:
        """End every connection; new ones are refused."""
        ...


class RemoteServer:
    """Serves an application at an address until it is closed.  Use it as a context manager."""

    def __init__(
        self,
        application: Application,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.application = application
        self._host = host
        self._asked_port = port
        self._tls = tls
        application.is_encrypted = tls is not None
        self._server: asyncio.Server | None = None
        self._granian: GranianServer | None = None
        self._granian_task: asyncio.Task[None] | None = None
        self._folder = ""
        self._incoming: set[asyncio.Transport] = set()
        self._sockets: deque[NativeSocket] = deque()
        self._checks: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """The port that is listened on."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def socket_path(self) -> str:
        """The path of the Unix socket behind the port."""
        return os.path.join(self._folder, "http")

    @property
    def _handshake_seconds(self) -> float | None:
        """How long TLS may take; asyncio refuses a limit without TLS, and one of 0."""
        seconds = self.application.limits.head_seconds
        return seconds if self._tls is not None and seconds else None

    async def __aenter__(self) -> RemoteServer:
        # Callbacks of the event loop are made in this context, and handed on by it.
        starting = asyncio.get_running_loop().create_task(
            self._start(), context=context_of_asyncio()
        )
        try:
            await starting
        except BaseException:
            await self.aclose()
            raise
        return self

    async def _start(self) -> None:
        # Short: the path of a Unix socket has 108 bytes.
        self._folder = tempfile.mkdtemp(prefix="accord-")
        await self._start_granian()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: IncomingConnection(self),
            self._host,
            self._asked_port,
            ssl=self._tls,
            ssl_handshake_timeout=self._handshake_seconds,
            backlog=BACKLOG,
        )
        self._checks = loop.call_later(CHECK_SECONDS, self._check_sockets)

    async def _start_granian(self) -> None:
        try:
            from granian.constants import HTTPModes, Interfaces
            from granian.http import HTTP1Settings, HTTP2Settings
            from granian.server.embed import Server
        except ImportError as error:
            raise ConfigError(
                f"serving needs the package {(error.name or '').partition('.')[0]};"
                " install accord[remote]"
            ) from None
        limits = self.application.limits
        server = Server(
            self.application,
            uds=Path(self.socket_path),
            interface=Interfaces.ASGINL,
            http=HTTPModes.auto,
            # The listener serves them, but for one on a connection that served HTTP before.
            websockets=True,
            backlog=BACKLOG,
            # Requests at once, and an open stream is one.
            backpressure=limits.connections + limits.session_streams,
            # From one request to the end of the next one's head.
            http1_settings=HTTP1Settings(
                header_read_timeout=max(1, int(limits.silence_seconds * 1000))
            ),
            http2_settings=HTTP2Settings(
                keep_alive_interval=int(limits.keep_alive_seconds * 1000),
                keep_alive_timeout=max(1, int(limits.silence_seconds - limits.keep_alive_seconds)),
                max_concurrent_streams=STREAMS_MAX,
                max_headers_size=limits.header_bytes,
            ),
            log_enabled=False,
        )
        self._granian = server
        self._granian_task = asyncio.get_running_loop().create_task(server.serve())
        async with asyncio.timeout(START_SECONDS_MAX):
            while not await self._is_listening():
                if self._granian_task.done():
                    await self._granian_task
                await asyncio.sleep(POLL_SECONDS)

    async def _is_listening(self) -> bool:
        loop = asyncio.get_running_loop()
        try:
            probe, _ = await loop.create_unix_connection(asyncio.Protocol, self.socket_path)
        except OSError:
            return False
        probe.close()
        return True

    # ---- connections

    def incoming(self, transport: asyncio.Transport) -> None:
        """Remember a new connection, to close it at the end."""
        self._incoming.add(transport)

    def gone(self, transport: asyncio.Transport) -> None:
        """Take notice that a connection has ended, or that another object has it."""
        self._incoming.discard(transport)

    def run(self, transport: asyncio.Transport, head: bytes, *, is_websocket: bool) -> None:
        """Serve a connection whose first bytes were read."""
        serve = self._upgrade if is_websocket else self._relay
        task = asyncio.get_running_loop().create_task(
            self._serve(transport, serve(transport, head)), context=context_of_asyncio()
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(
        self, transport: asyncio.Transport, serving: Coroutine[None, None, None]
    ) -> None:
        """Serve a connection; one that cannot be served is closed, whatever the reason."""
        try:
            await serving
        except BaseException as error:
            transport.abort()
            if not isinstance(error, Exception):
                raise
            _log.error("serving a connection failed (%s)", place_of(error))

    async def _relay(self, transport: asyncio.Transport, head: bytes) -> None:
        await relay(transport, head, self.socket_path, lambda: self.gone(transport))

    async def _upgrade(self, transport: asyncio.Transport, head: bytes) -> None:
        self.gone(transport)
        length = head_length(head)
        handshake = Handshake(transport, head[:length])
        request = handshake.request()
        if request is None:
            return
        application = self.application
        admitted = await application.admit(request)
        if isinstance(admitted, Refusal):
            handshake.refuse(admitted)
            return
        if transport.is_closing():
            return
        connections = application.connections_at(request.path)
        socket = handshake.accept(connections, application.limits, request, admitted)
        if socket is None:
            return
        transport.set_protocol(socket)
        transport.set_write_buffer_limits(high=SOCKET_BUFFER_BYTES)
        self._sockets.append(socket)
        if length < len(head):
            socket.data_received(head[length:])
        transport.resume_reading()

    def _check_sockets(self) -> None:
        """Look at a share of the WebSockets, and at the HTTP connections."""
        loop = asyncio.get_running_loop()
        for _ in range(len(self._sockets) // CHECK_ROUNDS + 1):
            if not self._sockets:
                break
            socket = self._sockets.popleft()
            if not socket.is_gone:
                # It is looked at again after this many seconds.
                socket.check_alive(loop.time(), CHECK_ROUNDS * CHECK_SECONDS)
                self._sockets.append(socket)
        silence = self.application.limits.silence_seconds - CHECK_SECONDS
        for transport in list(self._incoming):
            if is_gone(tcp_info(transport.get_extra_info("socket")), silence):
                transport.abort()
        self._checks = loop.call_later(CHECK_SECONDS, self._check_sockets)

    # ---- the end

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Stop listening, end every connection, and wait for a bounded time."""
        if self._server is not None:
            self._server.close()
        await self.application.aclose()
        if self._checks is not None:
            self._checks.cancel()
        await self._close_sockets()
        for transport in list(self._incoming):
            transport.close()
        if self._granian is not None and self._granian_task is not None:
            self._granian.stop()  # type: ignore[no-untyped-call]
            seconds = self.application.limits.close_seconds
            await asyncio.wait({self._granian_task}, timeout=seconds)
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _close_sockets(self) -> None:
        """Wait a moment for the clients' close frames, and then for nobody."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS_MAX):
                for one in list(self._sockets):
                    await one.wait_gone()
        for one in self._sockets:
            one.abort()
        # Their sockets are closed when the event loop comes round.
        await asyncio.sleep(0)


class IncomingConnection(asyncio.Protocol):
    """A connection until its first bytes say what it wants."""

    def __init__(self, server: RemoteServer) -> None:
        self._server = server
        self._transport: asyncio.Transport | None = None
        self._head = b""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        peer = transport.get_extra_info("peername")
        # granian does not see the address.
        if self._server.application.guard.loopback_only and not is_loopback(peer[0]):
            transport.abort()
            return
        limits = self._server.application.limits
        keep_alive(
            transport.get_extra_info("socket"), limits.keep_alive_seconds, limits.silence_seconds
        )
        self._server.incoming(transport)
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(limits.head_seconds, transport.abort)

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        self._head += data
        choice = choose_protocol(self._head)
        if choice is None:
            if len(self._head) > self._server.application.limits.header_bytes:
                self._transport.write(_BAD_HEAD)
                self._transport.close()
            return
        self._stop_timer()
        self._transport.pause_reading()
        self._server.run(self._transport, self._head, is_websocket=choice == "websocket")

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        if self._transport is not None:
            self._server.gone(self._transport)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


__all__ = ["RemoteServer"]
