"""One WebSocket of a client, from the upgrade to the end of its TCP connection.

It sits on asyncio's callbacks.  The package `websockets` does the handshake, pings, fragments and
closing; whole text messages go past it (`frames.py`).

What always holds
    * The owner is told nothing before `start`, then of messages in order, and then exactly once
      that the socket is lost.
    * A socket is pinged while nothing is heard, and lost when nothing is heard for too long; while
      reading is paused, nothing can be heard.
"""

import asyncio
import ssl
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus, PayloadTooBig
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import OPEN
from websockets.uri import WebSocketURI

from accord.errors import ConnectFailed
from accord.machine.redacted_logs import SILENT
from accord.transport.connect_errors import connect_failed, status_reason, status_refused
from accord.transport.readiness import context_of_asyncio
from accord.transport.remote_address import RemoteAddress
from accord.transport.remote_limits import RemoteLimits
from accord.transport.request_headers import HiddenValues
from accord.transport.tcp_connect import connect_socket
from accord.transport.transport import BACKLOG_BYTES_LOW
from accord.transport.websocket.frames import FrameReader, FrameWriter
from accord.version import __version__

ABNORMAL_CLOSURE: Final = 1006
NORMAL_CLOSURE: Final = 1000
_HEAD_END: Final = b"\r\n\r\n"
_UPGRADED: Final = b"HTTP/1.1 101"


class SocketLost(NamedTuple):
    """How a socket ended; 1006 means that nobody closed it properly."""

    code: int
    reason: str


class SocketOwner(Protocol):
    """What a socket tells its owner."""

    def messages_received(self, messages: list[bytes]) -> None:
        """Take the next messages, in order."""
        ...

    def socket_drained(self) -> None:
        """Take notice that most of what was sent is on its way."""
        ...

    def socket_lost(self, socket: "ClientSocket", lost: SocketLost) -> None:
        """Take notice that the socket has ended."""
        ...


class ClientSocket(asyncio.Protocol):
    """Guards: after `socket_lost`, nothing is sent and nothing is told."""

    def __init__(
        self,
        address: RemoteAddress,
        headers: Iterable[tuple[str, str]],
        limits: RemoteLimits,
        owner: SocketOwner,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        # Callbacks run outside of tasks, where anyio finds its backend in the context.
        self._context = context_of_asyncio()
        self._limits = limits
        self._owner = owner
        self._protocol = ClientProtocol(
            WebSocketURI(
                address.is_encrypted, address.host, address.port, address.path, address.query
            ),
            max_size=limits.message_bytes,
            logger=SILENT,
        )
        self._headers = (("User-Agent", f"accord/{__version__}"), *headers)
        self._reader = FrameReader(limits.message_bytes)
        self._writer = FrameWriter()
        self._transport: asyncio.Transport | None = None
        # The response to the upgrade, or why there is none.
        self.upgraded: asyncio.Future[Response] = self._loop.create_future()
        self._head = b""
        self._is_open = False
        # What came together with the response, until the owner is ready.
        self._early = b""
        self._is_started = False
        self._lost: SocketLost | None = None
        self._fragments: list[bytes] = []
        self._gathered: list[bytes] = []
        self._is_flush_due = False
        self._sent_bytes = 0
        self._taken_bytes = 0
        self._taken_at = self._heard_at = self._loop.time()
        self._is_paused = False
        self._timer: asyncio.TimerHandle | None = None

    # ---- asyncio's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the upgrade."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=BACKLOG_BYTES_LOW, low=BACKLOG_BYTES_LOW)
        request = self._protocol.connect()
        for name, value in self._headers:
            request.headers[name] = value
        self._protocol.send_request(request)
        self._write_protocol_data()
        self._heard_at = self._loop.time()

    def start(self) -> None:
        """Begin to read, and to tell the owner."""
        self._soon(self._start)

    def _start(self) -> None:
        self._is_started = True
        if self._lost is not None:
            self._owner.socket_lost(self, self._lost)
        elif not self._is_paused:
            self._read_on()

    def _may_read(self) -> bool:
        return self._is_started and not self._is_paused and self._lost is None

    def _read_on(self) -> None:
        """Read what came early, then what comes."""
        if not self._may_read():
            return
        early, self._early = self._early, b""
        if early:
            self._read_frames(early)
        if self._may_read() and self._transport is not None:
            # Often called in a task, in whose context anyio finds no event loop outside of it.
            self._context.copy().run(self._transport.resume_reading)

    def data_received(self, data: bytes) -> None:
        """Read the response to the upgrade, then frames."""
        self._heard_at = self._loop.time()
        if not self._is_open:
            data = self._read_response(data)
        if self._is_started:
            self._read_frames(data)
        else:
            self._early += data

    def _read_frames(self, data: bytes) -> None:
        for found in self._reader.feed(data):
            if self._lost is not None:
                return
            if isinstance(found, list):
                if self._protocol.state is OPEN:
                    self._owner.messages_received(found)
            else:
                self._other_frame(found)

    def _read_response(self, data: bytes) -> bytes:
        """Read the head of the response, and return what comes after it."""
        data, self._head = self._head + data, b""
        rest = b""
        if _UPGRADED.startswith(data[: len(_UPGRADED)]):
            end = data.find(_HEAD_END)
            if end < 0 and len(data) <= self._limits.header_bytes:
                self._head = data
                return b""
            if end >= 0:
                end += len(_HEAD_END)
                data, rest = data[:end], data[end:]
        self._protocol.receive_data(data)
        self._take_response()
        return rest if self._is_open else b""

    def _take_response(self) -> None:
        """Note the response, or why it is none, as soon as it is complete."""
        self._write_protocol_data()
        events, refused = self._protocol.events_received(), self._protocol.handshake_exc
        if self.upgraded.done():
            return
        if refused is not None:
            self._refuse(refused)
        elif events:
            (response,) = events
            assert isinstance(response, Response)
            assert self._transport is not None
            self._transport.pause_reading()
            self._is_open = True
            self.upgraded.set_result(response)
            self._watch_later(self._limits.silence_seconds)

    def _refuse(self, error: Exception) -> None:
        self.upgraded.set_exception(error)
        # Nobody need wait for it: the attempt may have been cancelled.
        self.upgraded.exception()

    def _other_frame(self, frame: bytes) -> None:
        protocol = self._protocol
        protocol.receive_data(frame)
        self._write_protocol_data()
        for event in protocol.events_received():
            if not isinstance(event, Frame):
                continue
            if event.opcode is Opcode.BINARY:
                # Fragments of a binary message are dropped as well.
                self._fragments.clear()
            elif event.opcode is Opcode.TEXT:
                self._fragments = [bytes(event.data)]
            elif event.opcode is Opcode.CONT and self._fragments:
                self._fragments.append(bytes(event.data))
            else:
                continue
            if event.fin and self._fragments:
                message, self._fragments = b"".join(self._fragments), []
                self._owner.messages_received([message])
        if protocol.close_expected():
            self._close_soon()

    def eof_received(self) -> bool:
        """Let asyncio close the socket; a response may end like this."""
        if not self._is_open:
            self._protocol.receive_eof()
            self._take_response()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the owner how it ended."""
        if not self.upgraded.done():
            self._refuse(exc or EOFError())
        self._lose(self._end_of(exc))

    def _end_of(self, error: Exception | None) -> SocketLost:
        protocol = self._protocol
        if protocol.parser_exc is not None and protocol.close_sent is not None:
            # The package closed over what the server did.
            sent = protocol.close_sent
            reason = f"the server broke a rule of WebSocket: {sent.reason}"
            if isinstance(protocol.parser_exc, PayloadTooBig):
                limit = self._limits.message_bytes
                reason = f"the server sent too long a message (limit message_bytes = {limit})"
            return SocketLost(sent.code, reason)
        if protocol.close_rcvd is not None:
            return SocketLost(protocol.close_rcvd.code, protocol.close_rcvd.reason)
        words = (getattr(error, "strerror", None) or str(error)) if error is not None else ""
        return SocketLost(ABNORMAL_CLOSURE, words or "the connection was cut")

    def resume_writing(self) -> None:
        """Tell the owner that there is room again."""
        self._owner.socket_drained()

    # ---- what the owner does

    @property
    def backlog(self) -> int:
        """Bytes that the system has not taken yet."""
        if self._transport is None or self._lost is not None:
            return 0
        return self._transport.get_write_buffer_size() + sum(map(len, self._gathered))

    def send(self, messages: list[bytes]) -> None:
        """Send messages: the first in a round of the loop at once, later ones together."""
        if self._lost is not None or self._protocol.state is not OPEN:
            return
        if self._is_flush_due:
            self._gathered += messages
            return
        self._is_flush_due = True
        self._soon(self._flush)
        self._write(self._writer.encode(messages))

    def _flush(self) -> None:
        self._is_flush_due = False
        if self._gathered:
            messages, self._gathered = self._gathered, []
            self.send(messages)
            if self.backlog <= BACKLOG_BYTES_LOW:
                self._owner.socket_drained()

    def pause(self) -> None:
        """Deliver nothing until `resume`; the server has to wait."""
        self._is_paused = True
        if self._transport is not None and self._lost is None:
            self._transport.pause_reading()

    def resume(self) -> None:
        """Deliver again, first what is held."""
        self._is_paused = False
        self._heard_at = self._loop.time()
        self._soon(self._read_on)

    def close(self) -> None:
        """Begin to close; the owner is told when the server has closed too, or after a while."""
        if self._lost is not None or self._protocol.state is not OPEN:
            return
        self._flush()
        self._protocol.send_close(NORMAL_CLOSURE)
        self._write_protocol_data()
        self.resume()
        self._close_soon()

    def abort(self, reason: str) -> None:
        """End the socket at once, and tell the owner why."""
        if self._transport is not None:
            self._transport.abort()
        self._lose(SocketLost(ABNORMAL_CLOSURE, reason))

    # ---- inside

    def _write_protocol_data(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._write(data)
            elif self._transport is not None and self._transport.can_write_eof():
                self._transport.write_eof()

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._sent_bytes += len(data)
            self._transport.write(data)

    def _close_soon(self) -> None:
        """Wait a while for the server to close, as a client should."""
        if self._timer is not None:
            self._timer.cancel()
        self._later(
            self._limits.close_seconds,
            lambda: self.abort("the server did not close the connection"),
        )

    def _lose(self, lost: SocketLost) -> None:
        if self._lost is not None:
            return
        self._lost = lost
        self._gathered.clear()
        if self._timer is not None:
            self._timer.cancel()
        if self._is_started:
            self._owner.socket_lost(self, lost)

    def _watch(self) -> None:
        """Ping a silent server; give up one that stays silent or takes nothing."""
        limits, now = self._limits, self._loop.time()
        if self._is_paused:
            self._heard_at = now
        silent_seconds = now - self._heard_at
        if silent_seconds >= limits.silence_seconds:
            self.abort(f"the server was silent for {limits.silence_seconds:g} s")
            return
        assert self._transport is not None
        taken = self._sent_bytes - self._transport.get_write_buffer_size()
        if taken > self._taken_bytes or taken == self._sent_bytes:
            self._taken_bytes, self._taken_at = taken, now
        elif now - self._taken_at >= limits.stall_seconds:
            self.abort(f"the server read nothing for {limits.stall_seconds:g} s")
            return
        if self._protocol.state is OPEN:
            self._protocol.send_ping(b"")
            self._write_protocol_data()
        self._watch_later(limits.silence_seconds - silent_seconds)

    def _watch_later(self, seconds_left: float) -> None:
        seconds = min(self._limits.keep_alive_seconds, seconds_left)
        self._later(seconds, self._watch)

    def _soon(self, callback: Callable[[], None]) -> None:
        self._loop.call_soon(callback, context=self._context.copy())

    def _later(self, seconds: float, callback: Callable[[], None]) -> None:
        self._timer = self._loop.call_later(seconds, callback, context=self._context.copy())


async def open_socket(
    address: RemoteAddress,
    headers: Sequence[tuple[str, str]],
    limits: RemoteLimits,
    owner: SocketOwner,
    tls: ssl.SSLContext | None,
) -> tuple[ClientSocket, Response]:
    """Connect and upgrade.

    Raises:
        ConnectFailed: the server could not be reached, or refused.
    """
    loop = asyncio.get_running_loop()
    # Callbacks of the socket run outside of tasks, where anyio finds its backend in the context.
    work = loop.create_task(
        _open_socket(address, headers, limits, owner, tls), context=context_of_asyncio()
    )
    try:
        async with asyncio.timeout(limits.connect_seconds):
            return await work
    except asyncio.CancelledError:
        if work.done() and not work.cancelled() and work.exception() is None:
            work.result()[0].abort("cancelled")
        raise
    except Exception as error:
        # The socket is closed when the event loop comes round.
        await asyncio.sleep(0)
        raise _explained(address, headers, error) from error


def _explained(
    address: RemoteAddress, headers: Sequence[tuple[str, str]], error: Exception
) -> ConnectFailed:
    """Explain why there is no socket."""
    if isinstance(error, InvalidStatus):
        response = error.response
        reason = status_reason(
            response.status_code,
            HiddenValues(headers),
            location=response.headers.get("Location"),
            body=bytes(response.body or b"").decode("utf-8", "replace"),
        )
        return status_refused(address, response.status_code, reason)
    for one in (error, error.__cause__):
        if isinstance(one, OSError | EOFError):
            return connect_failed(address, one)
    return ConnectFailed(
        f"cannot connect to {address}: this is not a WebSocket endpoint"
        f" ({HiddenValues(headers).hide(str(error))}); check the host, the port and the path"
    )


async def _open_socket(
    address: RemoteAddress,
    headers: Sequence[tuple[str, str]],
    limits: RemoteLimits,
    owner: SocketOwner,
    tls: ssl.SSLContext | None,
) -> tuple[ClientSocket, Response]:
    _, socket = await asyncio.get_running_loop().create_connection(
        lambda: ClientSocket(address, headers, limits, owner),
        sock=await connect_socket(address),
        ssl=tls,
        server_hostname=None if tls is None else address.host,
    )
    try:
        return socket, await socket.upgraded
    except BaseException:
        socket.abort("the upgrade failed")
        raise


__all__ = [
    "ABNORMAL_CLOSURE",
    "NORMAL_CLOSURE",
    "ClientSocket",
    "SocketLost",
    "SocketOwner",
    "open_socket",
]
