"""The connections to one server: opened when needed, of the best version that the server speaks.

HTTP/2 needs one connection for as many exchanges as the server allows, HTTP/1.1 one for each stream
of events and one for requests.

What always holds: an exchange that was given to `send` is on a connection, waits for one, or has
been told that it is lost.
"""

import ssl
from collections import deque
from functools import partial
from typing import Final

import anyio
from anyio.abc import TaskGroup

from accord.transport.connect_errors import connect_failed, connect_reason
from accord.transport.http.connections.exchange import Exchange, HttpConnection, Loss
from accord.transport.http.connections.h1_connection import H1Connection
from accord.transport.http.connections.h2_connection import H2Connection, NotHttp2, open_h2
from accord.transport.http.connections.socket_stream import HTTP_1, HTTP_2, open_stream
from accord.transport.readiness import driver_for
from accord.transport.remote_address import RemoteAddress
from accord.transport.remote_limits import RemoteLimits

CONNECTIONS_MAX: Final = 128
# Connections that streams of events leave free.
CONNECTIONS_FOR_REQUESTS: Final = 4


def tls_context() -> ssl.SSLContext:
    """Return the usual TLS settings: certificates are checked, TLS 1.2 at least."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class ConnectionPool:
    """Sends exchanges over connections to one address."""

    def __init__(
        self, address: RemoteAddress, limits: RemoteLimits, tls: ssl.SSLContext | None
    ) -> None:
        self._address = address
        self._limits = limits
        self._tls = tls
        self._tasks: TaskGroup | None = None
        self._connections: list[HttpConnection] = []
        self._waiting: deque[Exchange] = deque()
        self._opening = 0
        # Of attempts to connect, the oldest first.
        self._scopes: dict[anyio.CancelScope, None] = {}
        self._paused = False
        self._is_closed = False
        # Whether a server without TLS speaks HTTP/2; found out by the first connection.
        self._has_http_2: bool | None = None
        self.version = ""

    async def start(self, tasks: TaskGroup) -> None:
        """Open the first connection.

        Raises:
            ConnectFailed: the server cannot be reached; says why.
        """
        self._tasks = tasks
        self._driver = driver_for(tasks)
        if self._address.is_encrypted:
            self._tls = self._tls or tls_context()
            self._tls.set_alpn_protocols([HTTP_2, HTTP_1])
        try:
            with anyio.fail_after(self._limits.connect_seconds):
                self._add(await self._open())
        except OSError as error:
            raise connect_failed(self._address, error) from error

    async def _open(self) -> HttpConnection:
        assert self._tasks is not None
        address, limits, tasks = self._address, self._limits, self._tasks
        if not address.is_encrypted and self._has_http_2 is not False:
            try:
                found: HttpConnection = await open_h2(address, limits, self, tasks)
            except NotHttp2 as error:
                if self._has_http_2:
                    raise (TimeoutError if error.is_silent else ConnectionResetError) from None
            else:
                self._has_http_2 = True
                return found
        stream = await open_stream(address, self._tls, tasks)
        if stream.protocol == HTTP_2:
            try:
                return await open_h2(address, limits, self, tasks, stream)
            except NotHttp2:
                raise ConnectionResetError from None
        self._has_http_2 = False
        return H1Connection(stream, address, limits, self)

    def _add(self, connection: HttpConnection) -> None:
        if self._is_closed:
            connection.close()
            return
        self.version = connection.version
        self._connections.append(connection)
        if self._paused:
            connection.pause()

    # ---- exchanges

    def send(self, exchange: Exchange) -> None:
        """Send a request as soon as there is a connection for it."""
        for connection in self._connections:
            if connection.has_room(exchange):
                connection.request(exchange)
                return
        self._waiting.append(exchange)
        self._open_more()

    def cancel(self, exchange: Exchange) -> None:
        """Give up an exchange; it is told nothing more."""
        if exchange in self._waiting:
            self._waiting.remove(exchange)
            return
        for connection in tuple(self._connections):
            if connection.cancel(exchange):
                return

    def room_made(self) -> None:
        """Send what waits, as far as there is room."""
        waiting, self._waiting = self._waiting, deque()
        while waiting and not self._is_closed:
            exchange = waiting.popleft()
            for connection in self._connections:
                if connection.has_room(exchange):
                    connection.request(exchange)
                    break
            else:
                self._waiting.append(exchange)
        if self._waiting:
            self._open_more()

    def connection_lost(self, connection: HttpConnection) -> None:
        """Forget a connection that is over."""
        if connection in self._connections:
            self._connections.remove(connection)

    # ---- more connections

    def _open_more(self) -> None:
        """Open connections for what waits: one for all with HTTP/2, otherwise one for each."""
        if self._is_closed or self._tasks is None or self._server_takes_nothing:
            return
        wanted = len(self._waiting) if self._has_http_2 is False else 1
        self._drop_stale()
        streams = sum(exchange.is_stream for exchange in self._waiting)
        room = CONNECTIONS_MAX - len(self._connections) - self._opening
        if streams and room <= CONNECTIONS_FOR_REQUESTS:
            self._refuse_streams()
            wanted -= streams
        while self._opening < wanted and room > 0:
            room -= 1
            self._opening += 1
            self._tasks.start_soon(self._open_one, name="http connection")

    @property
    def _server_takes_nothing(self) -> bool:
        """Whether a connection waits for its first place; another one would wait beside it."""
        return any(isinstance(one, H2Connection) and one.takes_nothing for one in self._connections)

    def _drop_stale(self) -> None:
        for connection in tuple(self._connections):
            if isinstance(connection, H1Connection) and connection.is_stale:
                self._connections.remove(connection)
                connection.close()

    def _refuse_streams(self) -> None:
        reason = f"there are already {CONNECTIONS_MAX} connections to the server"
        refused = [exchange for exchange in self._waiting if exchange.is_stream]
        self._waiting = deque(one for one in self._waiting if not one.is_stream)
        for exchange in refused:
            self._driver.soon(partial(exchange.lost, Loss(reason, "unsent")))

    async def _open_one(self) -> None:
        failure: str | None = None
        scope = anyio.CancelScope()
        self._scopes[scope] = None
        try:
            with scope:
                try:
                    with anyio.fail_after(self._limits.connect_seconds):
                        self._add(await self._open())
                except OSError as error:
                    failure = connect_reason(self._address, error)
        finally:
            del self._scopes[scope]
            self._opening -= 1
        if failure is None:
            self.room_made()
        elif not self._opening:
            waiting, self._waiting = self._waiting, deque()
            for exchange in waiting:
                exchange.lost(Loss(failure, "network"))

    # ---- pausing and the end

    def pause(self) -> None:
        """Deliver nothing of streams until `resume`."""
        self._paused = True
        for connection in self._connections:
            connection.pause()

    def resume(self) -> None:
        self._paused = False
        for connection in tuple(self._connections):
            connection.resume()

    def close(self) -> None:
        """Close every connection at once.  May be called again."""
        self._is_closed = True
        self._waiting.clear()
        for scope in tuple(self._scopes):
            scope.cancel()
        for connection in self._connections:
            connection.close()
        self._connections.clear()


__all__ = ["ConnectionPool", "tls_context"]
