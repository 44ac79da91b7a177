"""One HTTP/2 connection: any number of exchanges, one reader.

Everything that arrives is read in one place and handed to its exchange in the same callback, so
that an idle stream costs nothing and delays nobody.

What always holds
    * Data of a stream is credited to the server when it has been taken.  While the transport is
      paused it waits here, within the windows that the server was given.
    * After a GOAWAY no exchange is begun, and those that the server still answers go on.
    * A server that says nothing for `silence_seconds`, not even to a PING, is gone.
"""

from collections import deque
from typing import Final

import anyio
import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
from anyio.abc import TaskGroup

from accord.transport.http.connections.exchange import ConnectionOwner, Exchange, Loss, LossKind
from accord.transport.http.connections.h2_frames import (
    FrameFilter,
    FrameTooLong,
    GoAway,
    begins_with_settings,
)
from accord.transport.http.connections.socket_stream import SocketStream, open_stream
from accord.transport.remote_address import RemoteAddress
from accord.transport.remote_limits import RemoteLimits

# What the server may send before we have taken it: of one stream, and of all together.
STREAM_WINDOW_BYTES: Final = 1024 * 1024
CONNECTION_WINDOW_BYTES: Final = 16 * 1024 * 1024
_FIRST_WINDOW_BYTES: Final = 65_535
# The smallest that HTTP/2 knows: of a frame that is cut, nothing can be used.
_FRAME_BYTES_MAX: Final = 16 * 1024
# What may wait because the server does not read.
BACKLOG_BYTES_MAX: Final = 256 * 1024 * 1024
# Places that streams of events leave free, so that a POST never waits for one of them to end.
PLACES_FOR_REQUESTS: Final = 8

# How long a server may take to show that it speaks HTTP/2 where TLS has not told.
PRIOR_KNOWLEDGE_SECONDS_MAX: Final = 5.0


class NotHttp2(Exception):
    """The server does not speak HTTP/2, or says nothing at all."""

    def __init__(self, *, is_silent: bool = False) -> None:
        super().__init__()
        self.is_silent = is_silent


class H2Connection:
    """Guards: an exchange is in `_exchanges` from `request` until it is told its end."""

    version = "HTTP/2"

    def __init__(
        self,
        stream: SocketStream,
        address: RemoteAddress,
        limits: RemoteLimits,
        owner: ConnectionOwner,
    ) -> None:
        self._stream = stream
        self._address = address
        self._limits = limits
        self._owner = owner
        config = h2.config.H2Configuration(client_side=True, header_encoding="latin-1")
        self._h2 = h2.connection.H2Connection(config)
        self._filter = FrameFilter(frame_bytes_max=_FRAME_BYTES_MAX)
        self._exchanges: dict[int, Exchange] = {}
        self._stream_ids: dict[Exchange, int] = {}
        # Bodies that wait for the server's credit.
        self._bodies: dict[int, memoryview] = {}
        # Data, and ends (None), of streams that arrived while paused.
        self._held: deque[tuple[int, bytes | None, int]] = deque()
        self._paused = False
        self._is_delivering = False
        self._is_going_away = False
        self._is_over = False
        self._is_closed = False
        self._is_stuck = False
        self._is_used = False
        self._is_receiving = False
        self._heard_at = 0.0
        # The first bytes, until they show that the server speaks HTTP/2.
        self._first = b""
        self._is_settled = False
        self._settled = anyio.Event()
        self._failure = ""

    # ---- the beginning

    async def open(self, *, is_agreed: bool) -> None:
        """Wait for the server's settings; `is_agreed` if TLS has agreed on HTTP/2.

        Raises:
            NotHttp2: the server speaks another protocol, or does not answer.
            ConnectionError: the connection was lost.
        """
        values = {
            h2.settings.SettingCodes.ENABLE_PUSH: 0,
            h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: STREAM_WINDOW_BYTES,
            h2.settings.SettingCodes.MAX_HEADER_LIST_SIZE: self._limits.header_bytes,
        }
        self._h2.local_settings = h2.settings.Settings(client=True, initial_values=values)
        # `h2` reads this one only when it is made.
        self._h2.decoder.max_header_list_size = self._limits.header_bytes
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(CONNECTION_WINDOW_BYTES - _FIRST_WINDOW_BYTES)
        self._stream.start(self)
        self._flush()
        seconds = None if is_agreed else PRIOR_KNOWLEDGE_SECONDS_MAX
        with anyio.move_on_after(seconds):
            await self._settled.wait()
        if not self._is_settled:
            if is_agreed and self._first == b"":
                raise ConnectionResetError(self._failure)
            raise NotHttp2(is_silent=not self._settled.is_set())
        if self._is_over:
            raise ConnectionResetError(self._failure)
        self._watch_silence(self._limits.keep_alive_seconds)

    # ---- exchanges

    def has_room(self, exchange: Exchange) -> bool:
        if self._is_over or self._is_going_away:
            return False
        places = self._h2.remote_settings.max_concurrent_streams
        if exchange.is_stream:
            # The last place of a small server is for a stream too; one without places has none.
            places = min(places, max(1, places - PLACES_FOR_REQUESTS))
        return len(self._exchanges) < places

    @property
    def takes_nothing(self) -> bool:
        """Whether the server has not allowed a single exchange so far; it may still do so."""
        return not self._is_used and self._h2.remote_settings.max_concurrent_streams == 0

    def request(self, exchange: Exchange) -> None:
        try:
            stream_id = self._h2.get_next_available_stream_id()
        except h2.exceptions.NoAvailableStreamIDError:
            self._is_going_away = True
            self._stream.driver.soon(lambda: exchange.lost(Loss("no stream is left", "unsent")))
            return
        headers = [
            (":method", exchange.method),
            (":scheme", self._address.scheme),
            (":authority", self._address.authority),
            (":path", self._address.target),
            *exchange.headers,
        ]
        if exchange.body:
            headers.append(("content-length", str(len(exchange.body))))
        self._is_used = True
        self._h2.send_headers(stream_id, headers, end_stream=not exchange.body)
        self._exchanges[stream_id] = exchange
        self._stream_ids[exchange] = stream_id
        if exchange.body:
            self._bodies[stream_id] = memoryview(exchange.body)
            self._send_body(stream_id)
        self._flush()

    def _send_body(self, stream_id: int) -> None:
        """Send what the server has credit for."""
        body = self._bodies[stream_id]
        while body:
            size = min(
                self._h2.local_flow_control_window(stream_id),
                self._h2.max_outbound_frame_size,
                len(body),
            )
            if size <= 0:
                self._bodies[stream_id] = body
                return
            piece, body = body[:size], body[size:]
            self._h2.send_data(stream_id, bytes(piece), end_stream=not body)
        del self._bodies[stream_id]

    def cancel(self, exchange: Exchange) -> bool:
        stream_id = self._stream_ids.get(exchange)
        if stream_id is None:
            return False
        self._forget(stream_id)
        if not self._is_over:
            self._reset(stream_id, h2.errors.ErrorCodes.CANCEL)
            self._flush()
        self._made_room()
        return True

    def _reset(self, stream_id: int, code: h2.errors.ErrorCodes) -> None:
        try:
            self._h2.reset_stream(stream_id, code)
        except h2.exceptions.StreamClosedError:
            # The server has ended it; what it sent is still held here.
            pass

    def _forget(self, stream_id: int) -> Exchange | None:
        exchange = self._exchanges.pop(stream_id, None)
        if exchange is not None:
            del self._stream_ids[exchange]
            self._bodies.pop(stream_id, None)
        return exchange

    def _made_room(self) -> None:
        if self._is_going_away and not self._exchanges:
            self._lose("the server ended the connection")
        elif not self._is_over:
            self._owner.room_made()

    # ---- receiving

    def data_received(self, data: bytes) -> None:
        self._heard_at = anyio.current_time()
        if not self._is_settled:
            data = self._first + data
            is_http_2 = begins_with_settings(data)
            if not is_http_2:
                self._first = data
                if is_http_2 is False:
                    self._settled.set()
                return
            self._is_settled = True
            self._first = b""
        self._is_receiving = True
        try:
            for part in self._filter.feed(data):
                if isinstance(part, GoAway):
                    self._go_away(part)
                else:
                    for event in self._h2.receive_data(part):
                        self._event(event)
        except (h2.exceptions.ProtocolError, FrameTooLong) as error:
            self._is_receiving = False
            self._flush()
            self._lose(f"the server broke a rule of HTTP/2: {str(error) or type(error).__name__}")
        finally:
            self._is_receiving = False
        self._flush()
        if self._is_settled:
            self._settled.set()

    def _event(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.DataReceived():
                self._data(event.stream_id, event.data, event.flow_controlled_length)
            case h2.events.ResponseReceived():
                self._answered(event.stream_id, event.headers)
            case h2.events.StreamEnded():
                if self._is_held(event.stream_id):
                    self._held.append((event.stream_id, None, 0))
                else:
                    self._ended(event.stream_id)
            case h2.events.StreamReset():
                is_refused = event.error_code == h2.errors.ErrorCodes.REFUSED_STREAM
                self._reset_by_server(event.stream_id, is_refused=is_refused)
            case h2.events.WindowUpdated():
                waiting = [event.stream_id] if event.stream_id else list(self._bodies)
                for stream_id in waiting:
                    if stream_id in self._bodies:
                        self._send_body(stream_id)
            case h2.events.RemoteSettingsChanged():
                for stream_id in list(self._bodies):
                    self._send_body(stream_id)
                self._stream.driver.soon(self._made_room)
            case _:
                pass

    def _answered(self, stream_id: int, received: object) -> None:
        exchange = self._exchanges.get(stream_id)
        if exchange is None:
            return
        status, headers = 0, []
        for name, value in received:  # type: ignore[attr-defined]
            if name == ":status":
                status = int(value) if value.isdecimal() else 0
            else:
                headers.append((name, value))
        exchange.answered(status, headers)

    def _data(self, stream_id: int, data: bytes, credit: int) -> None:
        if self._is_held(stream_id):
            self._held.append((stream_id, data, credit))
            return
        exchange = self._exchanges.get(stream_id)
        if exchange is not None and data:
            exchange.data_received(data)
        self._credit(stream_id, credit)

    def _credit(self, stream_id: int, credit: int) -> None:
        if credit and not self._is_over:
            self._h2.acknowledge_received_data(credit, stream_id)

    def _is_held(self, stream_id: int) -> bool:
        """Whether what arrives for a stream must wait, also behind what already waits."""
        if not self._paused and not self._held:
            return False
        exchange = self._exchanges.get(stream_id)
        return exchange is not None and exchange.is_stream

    def _ended(self, stream_id: int) -> None:
        has_body = stream_id in self._bodies
        exchange = self._forget(stream_id)
        if exchange is None:
            return
        if has_body and not self._is_over:
            # Answered before all of it was sent: nobody wants the rest.
            self._reset(stream_id, h2.errors.ErrorCodes.NO_ERROR)
        exchange.ended()
        self._made_room()

    def _reset_by_server(self, stream_id: int, *, is_refused: bool) -> None:
        exchange = self._forget(stream_id)
        if exchange is not None:
            kind: LossKind = "unsent" if is_refused else "reset"
            exchange.lost(Loss("the server gave up the request", kind))
            self._made_room()

    def _go_away(self, notice: GoAway) -> None:
        self._is_going_away = True
        for stream_id in [one for one in self._exchanges if one > notice.last_stream_id]:
            exchange = self._forget(stream_id)
            if exchange is not None:
                exchange.lost(Loss("the server ends the connection", "unsent"))
        if not self._exchanges:
            self._stream.driver.soon(self._made_room)

    # ---- pausing

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        if self._held and not self._is_delivering:
            self._is_delivering = True
            self._stream.driver.soon(self._deliver_held)

    def _deliver_held(self) -> None:
        self._is_delivering = False
        while self._held and not self._paused:
            stream_id, data, credit = self._held.popleft()
            if data is None:
                self._ended(stream_id)
                continue
            exchange = self._exchanges.get(stream_id)
            if exchange is not None and data:
                exchange.data_received(data)
            self._credit(stream_id, credit)
        if self._is_over and not self._held and not self._is_closed:
            self._finish()
        self._flush()

    # ---- sending, and the end

    def _flush(self) -> None:
        if self._is_receiving or self._is_over:
            return
        self._stream.write(self._h2.data_to_send())
        if self._stream.backlog > BACKLOG_BYTES_MAX and not self._is_stuck:
            # Such as answers to PINGs, from a server that sends and never reads.
            self._is_stuck = True
            self._stream.driver.soon(lambda: self._lose("the server reads nothing"))

    def _watch_silence(self, seconds: float) -> None:
        self._stream.driver.later(seconds, self._check_silence)

    def _check_silence(self) -> None:
        if self._is_over:
            return
        keep_alive, silence = self._limits.keep_alive_seconds, self._limits.silence_seconds
        silent = anyio.current_time() - self._heard_at
        if silent >= silence:
            self._lose(f"the server was silent for {silence:g} s")
        elif silent >= keep_alive:
            self._h2.ping(b"\0" * 8)
            self._flush()
            self._watch_silence(min(keep_alive, silence - silent))
        else:
            self._watch_silence(min(keep_alive, silence) - silent)

    def stream_ended(self, reason: str) -> None:
        self._lose(reason)

    def _lose(self, reason: str) -> None:
        if self._is_over:
            return
        self._is_over = True
        self._failure = reason
        self._stream.close()
        self._settled.set()
        # What arrived before the end is delivered first, unless the server sends it again.
        self._held = deque(one for one in self._held if self._is_kept(one[0]))
        if not self._held:
            self._finish()

    def _finish(self) -> None:
        exchanges = list(self._stream_ids)
        self._exchanges.clear()
        self._stream_ids.clear()
        self._bodies.clear()
        self._owner.connection_lost(self)
        for exchange in exchanges:
            exchange.lost(Loss(self._failure, "network"))

    def _is_kept(self, stream_id: int) -> bool:
        exchange = self._exchanges.get(stream_id)
        return exchange is not None and not exchange.is_resumable

    def close(self) -> None:
        self._is_closed = True
        self._exchanges.clear()
        self._stream_ids.clear()
        self._held.clear()
        self._settled.set()
        if not self._is_over:
            self._h2.close_connection()
            self._flush()
            self._is_over = True
            self._stream.close()


async def open_h2(
    address: RemoteAddress,
    limits: RemoteLimits,
    owner: ConnectionOwner,
    tasks: TaskGroup,
    stream: SocketStream | None = None,
) -> H2Connection:
    """Open a connection by prior knowledge, or on a stream where TLS has agreed on HTTP/2.

    Raises:
        NotHttp2: the server speaks another protocol.
        OSError: there is no connection.
    """
    is_agreed = stream is not None
    if stream is None:
        stream = await open_stream(address, None, tasks)
    connection = H2Connection(stream, address, limits, owner)
    try:
        await connection.open(is_agreed=is_agreed)
    except BaseException:
        connection.close()
        raise
    return connection


__all__ = ["CONNECTION_WINDOW_BYTES", "STREAM_WINDOW_BYTES", "H2Connection", "NotHttp2", "open_h2"]
