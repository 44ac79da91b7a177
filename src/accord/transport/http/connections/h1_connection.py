"""One HTTP/1.1 connection: one exchange at a time, for servers without HTTP/2.

What always holds
    * While the transport is paused, the socket of a stream is not read; others are.
    * An idle connection is not used again after IDLE_SECONDS_MAX: servers close it without notice.
"""

from typing import Final

import anyio

from accord.transport.http.connections.exchange import ConnectionOwner, Exchange, Loss
from accord.transport.http.connections.h1_response import (
    BadResponse,
    ResponseEnd,
    ResponseEvent,
    ResponseHead,
    ResponseReader,
)
from accord.transport.http.connections.socket_stream import SocketStream
from accord.transport.remote_address import RemoteAddress
from accord.transport.remote_limits import RemoteLimits

# Common servers close an idle connection after five seconds.
IDLE_SECONDS_MAX: Final = 3.0


class H1Connection:
    """Guards: there is an exchange exactly while an answer is expected."""

    version = "HTTP/1.1"

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
        self._reader = ResponseReader(header_bytes_max=limits.header_bytes)
        self._exchange: Exchange | None = None
        self._paused = False
        self._is_over = False
        self._is_watched = False
        self._heard_at = self._idle_since = anyio.current_time()
        stream.start(self)

    def has_room(self, exchange: Exchange) -> bool:
        return self._exchange is None and not self._is_over and not self.is_stale

    @property
    def is_stale(self) -> bool:
        """Whether the server may have closed the connection already."""
        idle = anyio.current_time() - self._idle_since
        return self._exchange is None and idle >= IDLE_SECONDS_MAX

    def request(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._reader.expect()
        lines = [f"{exchange.method} {self._address.target} HTTP/1.1"]
        lines += [f"host: {self._address.authority}"]
        lines += [f"{name}: {value}" for name, value in exchange.headers]
        if exchange.body or exchange.method == "POST":
            lines.append(f"content-length: {len(exchange.body)}")
        self._stream.write("\r\n".join([*lines, "", ""]).encode("latin-1") + exchange.body)
        self._heard_at = anyio.current_time()
        if not self._is_watched:
            self._watch_silence(self._limits.silence_seconds)
        if exchange.is_stream and self._paused:
            self._stream.pause()

    def cancel(self, exchange: Exchange) -> bool:
        if self._exchange is not exchange:
            return False
        self.close()
        self._owner.connection_lost(self)
        return True

    def data_received(self, data: bytes) -> None:
        self._heard_at = anyio.current_time()
        try:
            events = self._reader.feed(data)
        except BadResponse as error:
            self._lose(str(error))
            return
        self._handle(events)

    def _handle(self, events: list[ResponseEvent]) -> None:
        for event in events:
            exchange = self._exchange
            if exchange is None:
                return
            if isinstance(event, bytes):
                exchange.data_received(event)
            elif isinstance(event, ResponseHead):
                exchange.answered(event.status, event.headers)
            else:
                self._end_exchange(exchange, event)

    def _end_exchange(self, exchange: Exchange, end: ResponseEnd) -> None:
        self._exchange = None
        self._idle_since = anyio.current_time()
        if not end.is_reusable:
            self.close()
            self._owner.connection_lost(self)
        exchange.ended()
        if end.is_reusable and not self._is_over:
            self._owner.room_made()

    def pause(self) -> None:
        self._paused = True
        if self._exchange is not None and self._exchange.is_stream:
            self._stream.pause()

    def resume(self) -> None:
        self._paused = False
        # Silence while nobody listened is not the server's.
        self._heard_at = anyio.current_time()
        if not self._is_over:
            self._stream.resume()

    def _watch_silence(self, seconds: float) -> None:
        self._is_watched = True
        self._stream.driver.later(seconds, self._check_silence)

    def _check_silence(self) -> None:
        exchange = self._exchange
        self._is_watched = False
        if self._is_over or exchange is None:
            return
        limit = self._limits.silence_seconds
        silent = anyio.current_time() - self._heard_at
        is_excused = exchange.is_stream and self._paused
        if is_excused or not (exchange.expects_signs or exchange.is_repeatable):
            self._watch_silence(limit)
        elif silent < limit:
            self._watch_silence(limit - silent)
        else:
            self._lose(f"the server was silent for {limit:g} s")

    def stream_ended(self, reason: str) -> None:
        try:
            self._handle(self._reader.finish())
        except BadResponse:
            pass
        self._lose(reason)

    def _lose(self, reason: str) -> None:
        if self._is_over:
            return
        self._is_over = True
        self._stream.close()
        exchange, self._exchange = self._exchange, None
        self._owner.connection_lost(self)
        if exchange is not None:
            exchange.lost(Loss(reason, "network"))

    def close(self) -> None:
        self._is_over = True
        self._exchange = None
        self._stream.close()


__all__ = ["H1Connection"]
