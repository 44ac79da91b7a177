"""A TCP connection, with or without TLS, on the event loop's callbacks.

What always holds
    * The receiver is called from the event loop only, never from inside `write`.
    * `stream_ended` is called at most once, and not after `close`.
    * A write goes to the socket at once; what it does not take waits in order.
"""

import contextlib
import errno
import socket
import ssl
from collections import deque
from typing import Final, Protocol

import anyio
from anyio.abc import TaskGroup

from accord.transport.readiness import Driver, driver_for
from accord.transport.remote_address import RemoteAddress
from accord.transport.tcp_connect import connect_socket

READ_BYTES_MIN: Final = 64 * 1024
READ_BYTES_MAX: Final = 256 * 1024
# Read in one iteration of the loop, as long as each read fills its buffer.
READ_BYTES_AT_ONCE: Final = 1024 * 1024
HTTP_2: Final = "h2"
HTTP_1: Final = "http/1.1"
ENDED_BY_SERVER: Final = "the server closed the connection"


class StreamReceiver(Protocol):
    """The methods that a stream calls."""

    def data_received(self, data: bytes) -> None:
        """Take the next bytes."""
        ...

    def stream_ended(self, reason: str) -> None:
        """Take notice that the stream is over."""
        ...


class SocketStream:
    """A connected socket; owns and closes it."""

    def __init__(self, sock: socket.socket, driver: Driver, tls: "_Tls | None") -> None:
        self._socket = sock
        self._driver = driver
        self._tls = tls
        self._receiver: StreamReceiver | None = None
        self._waiting: deque[memoryview] = deque()
        # Bytes that the peer has not taken yet.
        self.backlog = 0
        self._ask_bytes = READ_BYTES_MIN
        self._reading = False
        self._is_over = False

    @property
    def protocol(self) -> str | None:
        """The protocol that TLS agreed on."""
        return None if self._tls is None else self._tls.engine.selected_alpn_protocol()

    @property
    def driver(self) -> Driver:
        """Timers and callbacks, which end with the stream."""
        return self._driver

    def start(self, receiver: StreamReceiver) -> None:
        """Start to read, and tell the receiver."""
        self._receiver = receiver
        self.resume()
        if self._tls is not None and self._tls.has_early_data:
            self._driver.soon(self._deliver_early)

    def _deliver_early(self) -> None:
        """Deliver what arrived together with the end of the handshake."""
        if not self._is_over:
            self._deliver(b"")

    def pause(self) -> None:
        if self._reading:
            self._reading = False
            self._driver.unwatch_read(self._socket.fileno())

    def resume(self) -> None:
        if not self._reading and not self._is_over:
            self._reading = True
            self._driver.watch_read(self._socket.fileno(), self._readable)

    def _readable(self) -> None:
        left = READ_BYTES_AT_ONCE
        # The receiver may pause or close us in between.
        while self._reading and left > 0:
            asked = self._ask_bytes
            try:
                data = self._socket.recv(asked)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self._end(f"reading failed: {error.strerror or error}")
                return
            if not data:
                self._end(ENDED_BY_SERVER)
                return
            got = len(data)
            left -= got
            self._ask_bytes = min(2 * asked, READ_BYTES_MAX) if got == asked else READ_BYTES_MIN
            self._deliver(data)
            if got < asked:
                return

    def _deliver(self, data: bytes) -> None:
        assert self._receiver is not None
        if self._tls is None:
            self._receiver.data_received(data)
            return
        try:
            plain, is_last = self._tls.decrypt(data)
        except ssl.SSLError as error:
            self._end(f"TLS failed: {error.reason or error}")
            return
        if plain:
            self._receiver.data_received(plain)
        if not self._is_over:
            # TLS itself may have something to send, such as new keys.
            self._send(self._tls.take_outgoing())
            if is_last:
                self._end(ENDED_BY_SERVER)

    def write(self, data: bytes) -> None:
        """Send bytes; they are dropped if the stream is over."""
        if self._is_over or not data:
            return
        if self._tls is not None:
            try:
                data = self._tls.encrypt(data)
            except ssl.SSLError as error:
                self._end_soon(f"TLS failed: {error.reason or error}")
                return
        self._send(data)

    def _send(self, data: bytes) -> None:
        if not data:
            return
        if self._waiting:
            self._waiting.append(memoryview(data))
            self.backlog += len(data)
            return
        try:
            taken = self._socket.send(data)
        except (BlockingIOError, InterruptedError):
            taken = 0
        except OSError as error:
            self._end_soon(f"writing failed: {error.strerror or error}")
            return
        if taken < len(data):
            self._waiting.append(memoryview(data)[taken:])
            self.backlog = len(data) - taken
            self._driver.watch_write(self._socket.fileno(), self._flush)

    def _flush(self) -> None:
        try:
            while self._waiting:
                piece = self._waiting[0]
                taken = self._socket.send(piece)
                self.backlog -= taken
                if taken < len(piece):
                    self._waiting[0] = piece[taken:]
                    return
                self._waiting.popleft()
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._end(f"writing failed: {error.strerror or error}")
            return
        self._driver.unwatch_write(self._socket.fileno())

    def _end_soon(self, reason: str) -> None:
        """End from the event loop; what the server has sent before is read first."""
        self._waiting.clear()
        self._driver.soon(lambda: self._end_after_rest(reason))

    def _end_after_rest(self, reason: str) -> None:
        if self._reading:
            self._readable()
        self._end(reason)

    def _end(self, reason: str) -> None:
        if self._is_over:
            return
        receiver = self._receiver
        self.close()
        if receiver is not None:
            receiver.stream_ended(reason)

    def close(self) -> None:
        """Close at once; what was not sent is dropped.  May be called again."""
        if self._is_over:
            return
        fd = self._socket.fileno()
        self.pause()
        if self._waiting:
            self._driver.unwatch_write(fd)
            self._waiting.clear()
        elif self._tls is not None:
            with contextlib.suppress(OSError):
                self._socket.send(self._tls.farewell())
        self._is_over = True
        self._driver.close()
        self._socket.close()


class _Tls:
    """The TLS side of a stream, in memory."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.engine = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)

    async def shake_hands(self, sock: socket.socket) -> None:
        while True:
            try:
                self.engine.do_handshake()
            except ssl.SSLWantReadError:
                await _send_all(sock, self._outgoing.read())
                await anyio.wait_readable(sock)
                with contextlib.suppress(BlockingIOError):
                    data = sock.recv(READ_BYTES_MIN)
                    if not data:
                        raise ConnectionResetError(errno.ECONNRESET, ENDED_BY_SERVER) from None
                    self._incoming.write(data)
            else:
                await _send_all(sock, self._outgoing.read())
                return

    @property
    def has_early_data(self) -> bool:
        return self._incoming.pending > 0

    def decrypt(self, data: bytes) -> tuple[bytes, bool]:
        """Return what these bytes hold, and whether the peer said goodbye."""
        self._incoming.write(data)
        pieces: list[bytes] = []
        try:
            while piece := self.engine.read(READ_BYTES_MAX):
                pieces.append(piece)
        except ssl.SSLWantReadError:
            return b"".join(pieces), False
        except ssl.SSLZeroReturnError:
            pass
        return b"".join(pieces), True

    def encrypt(self, data: bytes) -> bytes:
        self.engine.write(data)
        return self._outgoing.read()

    def take_outgoing(self) -> bytes:
        return self._outgoing.read()

    def farewell(self) -> bytes:
        with contextlib.suppress(ssl.SSLError):
            self.engine.unwrap()
        return self._outgoing.read()


async def open_stream(
    address: RemoteAddress, tls: ssl.SSLContext | None, tasks: TaskGroup
) -> SocketStream:
    """Connect to the first address of the host that answers, and agree on TLS if it is given.

    Raises:
        OSError: no address answered, or TLS failed.
    """
    sock = await connect_socket(address)
    try:
        session = None if tls is None else _Tls(tls, address.host)
        if session is not None:
            await session.shake_hands(sock)
        return SocketStream(sock, driver_for(tasks), session)
    except BaseException:
        sock.close()
        raise


async def _send_all(sock: socket.socket, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[sock.send(rest) :]
        except BlockingIOError:
            await anyio.wait_writable(sock)


__all__ = [
    "ENDED_BY_SERVER",
    "HTTP_1",
    "HTTP_2",
    "SocketStream",
    "StreamReceiver",
    "open_stream",
]
