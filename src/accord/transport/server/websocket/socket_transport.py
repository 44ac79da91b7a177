"""One client's WebSocket connection, whatever carries its frames.

What always holds
    * Nothing is handed over before `initialize`, and no second `initialize`.
    * A bad frame is answered, and the next one is read.
    * A client that asked for it finds its connection again: frames are counted in both directions,
      and each arrives once and in order.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

from accord.jsonrpc.envelope import one_line
from accord.jsonrpc.error_codes import INVALID_REQUEST
from accord.transport.http.message_routes import read_keys
from accord.transport.remote_limits import RemoteLimits
from accord.transport.resume.extension_messages import (
    TAKEN_OVER,
    ReceivedSaid,
    connection_frame,
    read_extension_frame,
    received_frame,
)
from accord.transport.resume.numbered_frames import ReceivedFrames, SentFrames
from accord.transport.server.answers import error_message, fault_of
from accord.transport.server.server_transport import (
    CLOSED_BY_CLIENT,
    LIMIT_EXCEEDED,
    PROTOCOL_ERROR,
    ServerTransport,
)
from accord.transport.transport import BACKLOG_BYTES_MAX, Ended

INITIALIZE = "initialize"
# How much a socket takes at once.
TAKE_BYTES_MAX = 256 * 1024


class ServerSocket(Protocol):
    """What carries the frames."""

    def wake(self) -> None:
        """Look for new frames, or for the end."""
        ...

    def read_again(self) -> None:
        """Read on, if reading was stopped."""
        ...

    def detach(self, code: int, reason: str) -> None:
        """Close: another socket carries the connection from now on."""
        ...


class _Resume:
    """The counters of a connection that its client may come back to."""

    __slots__ = ("control", "received", "sent", "timer", "waits")

    def __init__(self, limits: RemoteLimits) -> None:
        self.sent = SentFrames(limits.kept_bytes)
        # Whether sending waits for acknowledgements rather than drop what may be asked for again.
        # With less room than is acknowledged at once, it would wait after every few messages.
        self.waits = limits.kept_bytes >= 2 * limits.acknowledge_bytes
        self.received = ReceivedFrames(limits)
        # Frames of the extension, which are not counted.
        self.control: list[bytes] = []
        self.timer: asyncio.TimerHandle | None = None

    @property
    def is_blocked(self) -> bool:
        """Whether nothing can be sent before the client acknowledges something."""
        return self.waits and self.sent.would_drop


class WebSocketServerTransport(ServerTransport):
    """Guards: a connection has at most one socket."""

    __slots__ = (
        "_initialize_timer",
        "_is_initialized",
        "_resume",
        "_socket",
        "_unsent",
        "_unsent_bytes",
    )

    def __init__(
        self, connection_id: str, principal: str, limits: RemoteLimits, *, resumes: bool
    ) -> None:
        super().__init__(connection_id, principal, limits)
        self._resume = _Resume(limits) if resumes else None
        self._socket: ServerSocket | None = None
        self._unsent: deque[bytes] | None = None
        self._unsent_bytes = 0
        self._is_initialized = False
        self._initialize_timer: asyncio.TimerHandle | None = self.call_later(
            limits.initialize_seconds, self._initialize_is_late
        )

    @property
    def resumes(self) -> bool:
        """Whether the client may come back to it."""
        return self._resume is not None

    # ---- frames of the agent

    @property
    def unsent_bytes(self) -> int:
        if self._resume is not None:
            return self._resume.sent.unsent_bytes
        return self._unsent_bytes

    def send_frame(self, frame: bytes) -> None:
        if self._resume is not None:
            self._resume.sent.append(frame)
        else:
            if self._unsent is None:
                self._unsent = deque()
            self._unsent.append(frame)
            self._unsent_bytes += len(frame)
        if self._socket is not None:
            self._socket.wake()

    def take(self) -> list[bytes]:
        """Return the next frames for the socket."""
        resume, frames, size = self._resume, list[bytes](), 0
        if resume is not None:
            frames, resume.control = resume.control, []
            while size < TAKE_BYTES_MAX and not resume.is_blocked:
                frame = resume.sent.take()
                if frame is None:
                    return frames
                frames.append(frame)
                size += len(frame)
            if resume.is_blocked and self._socket is not None:
                self._socket.read_again()
            return frames
        unsent = self._unsent
        while unsent and size < TAKE_BYTES_MAX:
            frame = unsent.popleft()
            frames.append(frame)
            size += len(frame)
        self._unsent_bytes -= size
        if not unsent:
            self._unsent = None
        return frames

    # ---- frames of the client

    @property
    def reads(self) -> bool:
        """Whether the socket should read on: always while it waits for acknowledgements."""
        if self._resume is not None and self._resume.is_blocked:
            return True
        return self.is_reading and self.unsent_bytes <= BACKLOG_BYTES_MAX

    def reading_again(self) -> None:
        if self._socket is not None:
            self._socket.read_again()

    def taken(self, size: int) -> None:
        super().taken(size)
        if self._socket is not None and self.reads:
            self._socket.read_again()

    def frame_received(self, frame: bytes) -> None:
        """Take one text frame."""
        if self.is_over:
            return
        if self._resume is not None and not self._counts(self._resume, frame):
            return
        keys = read_keys(frame)
        if keys is None and (fault := fault_of(frame)) is not None:
            self.send_frame(error_message(None, fault.code, fault.message))
            return
        is_initialize = keys is not None and keys.method == INITIALIZE and keys.kind == "request"
        if not self._is_initialized:
            if not is_initialize or keys is None or keys.id is None:
                self.end(Ended("the first message must be initialize"), PROTOCOL_ERROR)
                return
            self._is_initialized = True
            self._stop_initialize_timer()
        elif is_initialize and keys is not None:
            reason = "initialize is not allowed on an existing connection"
            self.send_frame(error_message(keys.id, INVALID_REQUEST, reason))
            return
        self.deliver(one_line(frame))

    def frame_too_long(self) -> None:
        """End the connection: a frame exceeds the limit."""
        self.lose(f"a message is longer than message_bytes, {self.limits.message_bytes} bytes")

    def _counts(self, resume: _Resume, frame: bytes) -> bool:
        """Count a frame, unless it belongs to the extension."""
        said = read_extension_frame(frame)
        if said is not None:
            if isinstance(said, ReceivedSaid):
                if not resume.sent.acknowledge(said.count):
                    self.lose("the client acknowledged frames that were never sent")
                elif resume.sent.has_unsent and self._socket is not None:
                    self._socket.wake()
            return False
        waiting = self.unsent_bytes + self.inbox_bytes
        if resume.is_blocked and waiting > self.limits.backlog_bytes + self.limits.message_bytes:
            self.lose("the client sends much, and acknowledges nothing (backlog_bytes)")
            return False
        if resume.received.add(len(frame)):
            self._acknowledge()
        elif resume.timer is None:
            resume.timer = self.call_later(self.limits.acknowledge_seconds, self._acknowledge)
        return True

    def _acknowledge(self) -> None:
        resume = self._resume
        assert resume is not None
        if resume.timer is not None:
            resume.timer.cancel()
            resume.timer = None
        if resume.received.is_owing and self._socket is not None:
            resume.control.append(received_frame(resume.received.acknowledged()))
            self._socket.wake()

    # ---- sockets

    def attach(self, socket: ServerSocket, received: int = 0) -> bool:
        """Let a socket carry the connection, from the frame after `received`.

        Returns False, and changes nothing, if one of those frames is gone.
        """
        resume = self._resume
        if resume is not None:
            if not resume.sent.rewind(received):
                return False
            count = resume.received.acknowledged()
            resume.control = [connection_frame(self.connection_id, count)]
        before, self._socket = self._socket, socket
        if before is not None:
            before.detach(LIMIT_EXCEEDED, TAKEN_OVER)
        self.client_is_here()
        return True

    def socket_left(self, socket: ServerSocket, *, is_closed: bool = False) -> None:
        """Take notice that a socket is gone; a client that closed it does not come back."""
        if self._socket is not socket:
            return
        self._socket = None
        if self._resume is not None and not is_closed:
            self.client_left()
        else:
            self.end(Ended(CLOSED_BY_CLIENT, clean=True))

    def _initialize_is_late(self) -> None:
        self._initialize_timer = None
        self.lose("initialize did not come in time (initialize_seconds)")

    def _stop_initialize_timer(self) -> None:
        if self._initialize_timer is not None:
            self._initialize_timer.cancel()
            self._initialize_timer = None

    def over(self) -> None:
        self._stop_initialize_timer()
        if self._resume is not None and self._resume.timer is not None:
            self._resume.timer.cancel()
        if self._socket is not None:
            self._socket.wake()


__all__ = ["ServerSocket", "WebSocketServerTransport"]
