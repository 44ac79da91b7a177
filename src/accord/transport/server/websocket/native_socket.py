"""A WebSocket on the event loop itself, for connections that are many and mostly idle.

An idle one has no task, no timer and no buffer.  The package `websockets` does the handshake, and
everything but whole text messages and pongs.

What always holds
    * No more is written than the client takes, but for one buffer of the event loop.
    * A client that is silent for `silence_seconds`, although it was asked, is gone.
"""

from __future__ import annotations

import asyncio
from typing import Final

from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from accord.machine.redacted_logs import SILENT, logger
from accord.transport.readiness import context_of_asyncio
from accord.transport.server.peer_liveness import is_gone, tcp_info
from accord.transport.server.server_transport import LIMIT_EXCEEDED, NORMAL_CLOSURE
from accord.transport.server.websocket.asgi_socket import BINARY_IGNORED, close_reason
from accord.transport.server.websocket.frames import (
    PING_FRAME,
    OtherFrame,
    ServerFrameReader,
    TooLongFrame,
    encode_texts,
)
from accord.transport.server.websocket.socket_transport import WebSocketServerTransport

_log = logger("accord.transport")

NOT_UTF_8: Final = 1007
MESSAGE_TOO_BIG: Final = 1009
# What a client may leave untaken in the event loop before it is not read any more.
UNTAKEN_BYTES_MAX: Final = 1024 * 1024


class _OddFrames(ServerProtocol):
    """Reads what is rare: fragments, pings, closes and broken frames."""

    def fail(self, code: int, reason: str = "") -> None:
        super().fail(LIMIT_EXCEEDED if code == MESSAGE_TOO_BIG else code, reason)


class NativeSocket(asyncio.Protocol):
    """Guards: `socket_left` is called once, when the last byte is gone."""

    __slots__ = (
        "_close_timer",
        "_connection",
        "_heard_at",
        "_is_closing",
        "_is_flushing",
        "_is_full",
        "_is_paused",
        "_loop",
        "_odd",
        "_partial_since",
        "_parts",
        "_reader",
        "_stall_timer",
        "_stalled_bytes",
        "_transport",
        "_waiter",
        "is_gone",
    )

    def __init__(self, connection: WebSocketServerTransport, transport: asyncio.Transport) -> None:
        self._connection = connection
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._reader = ServerFrameReader(connection.limits.message_bytes)
        # Reads the frames that are rare, while there are any.
        self._odd: ServerProtocol | None = None
        # The parts of a fragmented text message.
        self._parts: list[bytes] | None = None
        self._heard_at = self._loop.time()
        # Since when a message is incomplete.
        self._partial_since: float | None = None
        self._is_paused = False
        self._is_flushing = False
        self._is_full = False
        self._is_closing = False
        self.is_gone = False
        self._waiter: asyncio.Future[None] | None = None
        self._close_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None
        # What the event loop held when the timer was set.
        self._stalled_bytes = 0

    # ---- frames of the client

    def data_received(self, data: bytes) -> None:
        self._heard_at = self._loop.time()
        for found in self._reader.feed(data):
            if isinstance(found, bytes):
                self._text_received(found)
            elif isinstance(found, OtherFrame):
                self._odd_received(found.data)
            else:
                assert isinstance(found, TooLongFrame)
                self._connection.frame_too_long()
        is_partial = self._parts is not None or self._reader.held_bytes > 0
        if not is_partial:
            self._partial_since = None
        elif self._partial_since is None:
            self._partial_since = self._heard_at
        if not self._may_read and not self._is_closing:
            self._is_paused = True
            self._transport.pause_reading()

    @property
    def _may_read(self) -> bool:
        # Pings are answered at once: who takes none of the answers may send no more of them.
        is_taken = self._transport.get_write_buffer_size() <= UNTAKEN_BYTES_MAX
        return self._connection.reads and is_taken

    def _text_received(self, frame: bytes) -> None:
        if self._is_closing:
            return
        try:
            frame.decode()
        except UnicodeDecodeError:
            self._close(NOT_UTF_8, "a text frame is not UTF-8")
            return
        self._connection.frame_received(frame)

    def _odd_received(self, data: bytes) -> None:
        odd = self._odd_frames()
        odd.receive_data(data)
        for event in odd.events_received():
            assert isinstance(event, Frame)
            self._odd_frame(event)
        self._write_odd(odd)

    def _odd_frame(self, frame: Frame) -> None:
        if frame.opcode is Opcode.TEXT:
            self._parts = [bytes(frame.data)]
        elif frame.opcode is Opcode.CONT and self._parts is not None:
            self._parts.append(bytes(frame.data))
        else:
            if frame.opcode is Opcode.BINARY:
                _log.info(BINARY_IGNORED)
            return
        if frame.fin:
            text, self._parts = b"".join(self._parts), None
            self._text_received(text)

    def _odd_frames(self) -> ServerProtocol:
        if self._odd is None:
            # At DEBUG the package would log the text of messages.
            self._odd = _OddFrames(
                state=OPEN, max_size=self._connection.limits.message_bytes, logger=SILENT
            )
        return self._odd

    def _write_odd(self, odd: ServerProtocol) -> None:
        for data in odd.data_to_send():
            if data:
                self._transport.write(data)
            else:
                self._transport.close()
        if odd.state is not OPEN:
            self._begin_close()
        elif odd.current_size is None:
            # Nothing is left of it: no fragments, no close.
            self._odd = None

    def read_again(self) -> None:
        if not self._transport.is_closing():
            self._is_paused = False
            # Often called in a task, in whose context anyio finds no event loop outside of it.
            context_of_asyncio().run(self._transport.resume_reading)

    # ---- frames of the agent

    def wake(self) -> None:
        if not self._is_flushing and not self._is_closing:
            # Not at once: what follows in the same round goes out together.
            self._is_flushing = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._is_flushing = False
        connection = self._connection
        while not self._is_full and not self._is_closing:
            frames = connection.take()
            if not frames:
                if connection.is_over:
                    self._close(connection.close_code, connection.close_reason)
                return
            data = encode_texts(frames)
            self._transport.write(data)
            connection.taken(len(data))

    def pause_writing(self) -> None:
        self._is_full = True
        self._watch_stall()

    def _watch_stall(self) -> None:
        self._stalled_bytes = self._transport.get_write_buffer_size()
        seconds = self._connection.limits.stall_seconds
        self._stall_timer = self._connection.call_later(seconds, self._stalled)

    def resume_writing(self) -> None:
        self._is_full = False
        self._stop_stall_timer()
        if self._is_paused and self._may_read:
            self.read_again()
        self.wake()

    def _stalled(self) -> None:
        if self._transport.get_write_buffer_size() < self._stalled_bytes:
            # Slow, but it takes something.
            self._watch_stall()
            return
        if not self._is_closing:
            # Otherwise the connection is over, or another socket has it.
            seconds = f"{self._connection.limits.stall_seconds:g} s"
            self._connection.lose(f"the client read nothing for {seconds} (stall_seconds)")
        self._transport.abort()

    def _stop_stall_timer(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    # ---- life and end

    def check_alive(self, now: float, again_seconds: float) -> None:
        """Ask a silent client for a sign of life, and leave one that gives none.

        It is called again after `again_seconds`; no bound is passed before that.
        """
        limits = self._connection.limits
        if self._is_paused:
            # Nothing can be heard, and only the kernel knows whether the client is there.
            self._heard_at = now
            self._partial_since = None if self._partial_since is None else now
            info = tcp_info(self._transport.get_extra_info("socket"))
            if is_gone(info, limits.silence_seconds - again_seconds):
                self._transport.abort()
            return
        silent = now - self._heard_at + again_seconds
        if silent > limits.silence_seconds:
            _log.info("a WebSocket client was silent for %g s", limits.silence_seconds)
            self._transport.abort()
        elif self._is_too_slow(now):
            self._connection.lose(
                f"a message came too slowly (body_seconds, {limits.body_seconds:g} s)"
            )
        elif silent > limits.keep_alive_seconds and not self._is_closing and not self._is_full:
            self._transport.write(PING_FRAME)

    def _is_too_slow(self, now: float) -> bool:
        """Whether a message has been incomplete for too long."""
        if self._partial_since is None:
            return False
        size = self._reader.held_bytes + sum(map(len, self._parts or ()))
        return now - self._partial_since > self._connection.limits.body_seconds_for(size)

    def detach(self, code: int, reason: str) -> None:
        self._close(code, reason)

    async def wait_gone(self) -> None:
        """Wait until the socket is closed."""
        if not self.is_gone:
            self._waiter = self._loop.create_future()
            await self._waiter

    def abort(self) -> None:
        """Close without waiting for the client."""
        if not self.is_gone:
            self._transport.abort()

    def refuse(self, reason: str) -> None:
        """Close a socket whose connection cannot be found or continued."""
        self._close(LIMIT_EXCEEDED, reason)

    def _close(self, code: int, reason: str) -> None:
        if not self._is_closing:
            odd = self._odd_frames()
            odd.send_close(code, close_reason(reason))
            self._write_odd(odd)

    def _begin_close(self) -> None:
        """Wait for the other side's close frame, and for its last bytes, for a bounded time."""
        if not self._is_closing:
            self._is_closing = True
            seconds = self._connection.limits.close_seconds
            self._close_timer = self._loop.call_later(seconds, self._transport.abort)
            self.read_again()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_closing = self.is_gone = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        self._stop_stall_timer()
        if self._close_timer is not None:
            self._close_timer.cancel()
        said = None if self._odd is None else self._odd.close_rcvd
        is_closed = said is not None and said.code == NORMAL_CLOSURE
        # Called in any context, also in one of a task that is over.
        context_of_asyncio().run(self._connection.socket_left, self, is_closed=is_closed)


__all__ = ["NativeSocket"]
