"""A remote client as the transport of an agent's connection: what HTTP and WebSocket share.

The agent's connection reads and writes lines; a remote client sends and gets messages.

What always holds
    * A message is handed over whole and in order, or waits while the connection does not read.
    * `ended` of the connection is called exactly once.
    * A client that is attached and takes nothing for `stall_seconds` while a writer waits is lost.
    * A client that is away for longer than `grace_seconds` is lost.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from anyio.abc import TaskGroup

from accord.transport.readiness import context_of_asyncio
from accord.transport.remote_limits import RemoteLimits
from accord.transport.transport import BACKLOG_BYTES_LOW, BACKLOG_BYTES_MAX, Ended, Receiver

CLOSED_BY_CLIENT: Final = "the client closed the connection"

# The close codes of WebSocket that are used here.
NORMAL_CLOSURE: Final = 1000
GOING_AWAY: Final = 1001
PROTOCOL_ERROR: Final = 1002
LIMIT_EXCEEDED: Final = 1008
INTERNAL_FAILURE: Final = 1011


class ServerTransport:
    """Guards: once `is_over`, nothing is delivered, and nothing that is written is kept."""

    def __init__(self, connection_id: str, principal: str, limits: RemoteLimits) -> None:
        self.connection_id = connection_id
        self.principal = principal
        self.limits = limits
        # Called once, when the connection is over for its client.
        self.on_over: Callable[[], None] | None = None
        self.is_over = False
        self.close_code, self.close_reason = NORMAL_CLOSURE, ""
        self._receiver: Receiver | None = None
        self._paused = False
        self._inbox: deque[bytes] | None = None
        self.inbox_bytes = 0
        self._partial: list[bytes] = []
        self._drained: asyncio.Event | None = None
        self._taken_bytes = 0
        self._grace: asyncio.TimerHandle | None = None

    # ---- what the agent's connection calls

    @property
    def backlog(self) -> int:
        """Bytes that the client has not taken; fewer while it is away, and may still come back."""
        unsent = self.unsent_bytes
        if unsent and self._grace is not None:
            return max(0, unsent - self.limits.backlog_bytes + BACKLOG_BYTES_MAX)
        return unsent

    @property
    def unsent_bytes(self) -> int:
        """Bytes that wait for the client."""
        raise NotImplementedError

    def send_frame(self, frame: bytes) -> None:
        """Send one message to the client, or keep it until the client takes it."""
        raise NotImplementedError

    def over(self) -> None:
        """Let go of the client: the connection is over, and what was sent is still delivered."""
        raise NotImplementedError

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Deliver what has come already, and everything from now on."""
        self._receiver = receiver
        if self._inbox:
            self._deliver_soon()

    def write(self, data: bytes) -> None:
        """Send the lines of `data`, each of which is a message."""
        if self.is_over:
            return
        *frames, rest = data.split(b"\n")
        if not frames:
            self._partial.append(rest)
            return
        if self._partial:
            self._partial.append(frames[0])
            frames[0] = b"".join(self._partial)
            self._partial.clear()
        if rest:
            self._partial.append(rest)
        for frame in frames:
            self.send_frame(frame)

    async def drain(self) -> None:
        """Wait until the client has taken most of what was written, or is gone."""
        while not self.is_over and self.backlog > BACKLOG_BYTES_LOW:
            taken = self._taken_bytes
            if self._drained is None:
                self._drained = asyncio.Event()
            try:
                async with asyncio.timeout(self.limits.stall_seconds):
                    await self._drained.wait()
            except TimeoutError:
                if taken == self._taken_bytes and self._grace is None:
                    seconds = f"{self.limits.stall_seconds:g} s"
                    self.lose(f"the client read nothing for {seconds} (stall_seconds)")

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        if self._inbox:
            self._deliver_soon()
        elif self._receiver is not None:
            self.reading_again()

    async def aclose(self) -> None:
        """End the connection for the client, once it has what was written."""
        self.end(Ended("closed here", clean=True))

    # ---- what the endpoint calls

    @property
    def is_reading(self) -> bool:
        """Whether a message would be handed over at once."""
        return self._receiver is not None and not self._paused and not self._inbox

    def deliver(self, frame: bytes) -> None:
        """Hand a message to the connection, or keep it until the connection reads again."""
        if self.is_over:
            return
        if self.is_reading:
            assert self._receiver is not None
            self._receiver.data_received(frame + b"\n")
            return
        if self._inbox is None:
            self._inbox = deque()
        self._inbox.append(frame)
        self.inbox_bytes += len(frame)

    def _deliver_soon(self) -> None:
        # Not at once: `resume` may be called while the connection handles a message.
        asyncio.get_running_loop().call_soon(self._deliver_waiting, context=context_of_asyncio())

    def _deliver_waiting(self) -> None:
        while self._inbox and not self._paused and not self.is_over:
            frame = self._inbox.popleft()
            self.inbox_bytes -= len(frame)
            assert self._receiver is not None
            self._receiver.data_received(frame + b"\n")
        if not self._inbox:
            self._inbox = None
            self.reading_again()

    def reading_again(self) -> None:
        """Take notice that messages are handed over at once again."""

    def taken(self, size: int) -> None:
        """Take notice that the client has taken this many bytes."""
        self._taken_bytes += size
        if self._drained is not None and self.backlog <= BACKLOG_BYTES_LOW:
            self._wake_writers()

    def _wake_writers(self) -> None:
        if self._drained is not None:
            self._drained.set()
            self._drained = None

    def call_later(self, seconds: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        """Call a function of this connection later, outside of any task."""
        loop = asyncio.get_running_loop()
        return loop.call_later(seconds, callback, context=context_of_asyncio())

    # ---- coming and going

    def client_left(self) -> None:
        """Start to wait for a client that is away."""
        if not self.is_over and self._grace is None:
            self._grace = self.call_later(self.limits.grace_seconds, self._grace_over)
            # More may wait for a client that is away.
            self.taken(0)

    def client_is_here(self) -> None:
        """Stop waiting: the client is back, or has shown that it lives."""
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None

    def _grace_over(self) -> None:
        seconds = f"{self.limits.grace_seconds:g} s"
        self.lose(f"the client did not come back within {seconds} (grace_seconds)")

    def lose(self, reason: str) -> None:
        """End the connection because of what the client did, or did not."""
        self.end(Ended(reason), LIMIT_EXCEEDED)

    def end(self, why: Ended, close_code: int = NORMAL_CLOSURE) -> None:
        """End the connection, once.  A WebSocket is closed with this code."""
        if self.is_over:
            return
        self.is_over = True
        self.close_code, self.close_reason = close_code, why.reason
        self.client_is_here()
        self._inbox = None
        self._wake_writers()
        self.over()
        if self._receiver is not None:
            self._receiver.ended(why)
        if self.on_over is not None:
            self.on_over()


__all__ = [
    "CLOSED_BY_CLIENT",
    "GOING_AWAY",
    "INTERNAL_FAILURE",
    "LIMIT_EXCEEDED",
    "NORMAL_CLOSURE",
    "PROTOCOL_ERROR",
    "ServerTransport",
]
