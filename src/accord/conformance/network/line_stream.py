"""A byte stream of lines, which replaces pipes for a network link.

What is sent is cut into lines, each of which the link carries as one message; each message that
the link gets is one line to receive.  So every check that was written for pipes runs over a link.

What always holds: lines keep their order in each direction, and both backlogs have a bound.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import anyio
from anyio.abc import ByteStream

# The number of waiting lines over which a sender waits.
WAITING_LINES_MAX = 4_096


class LineQueue:
    """A queue of at most `size` lines."""

    def __init__(self, size: int) -> None:
        self.lines: deque[bytes] = deque()
        self.is_closed = False
        self._size = size
        self._changed = anyio.Event()

    async def put(self, line: bytes) -> None:
        """Add a line once there is room.

        Raises:
            ClosedResourceError: nobody takes any more.
        """
        await self._wait(lambda: len(self.lines) < self._size)
        if self.is_closed:
            raise anyio.ClosedResourceError
        self.lines.append(line)
        self._wake()

    async def take(self) -> bytes | None:
        """Return the next line; None after the last."""
        await self._wait(lambda: bool(self.lines))
        if not self.lines:
            return None
        line = self.lines.popleft()
        self._wake()
        return line

    def close(self) -> None:
        """Accept no more lines; waiting ones can still be taken."""
        self.is_closed = True
        self._wake()

    async def _wait(self, fits: Callable[[], bool]) -> None:
        while not fits() and not self.is_closed:
            await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class LineStream(ByteStream):
    """The kit's end of a link; `outgoing` and `arrived` are the link's end."""

    def __init__(self) -> None:
        self.to_carry = LineQueue(WAITING_LINES_MAX)
        # Nothing is read ahead, so that a reader that stops makes the other side wait.
        self._arriving = LineQueue(1)
        self._held = bytearray()
        self._rest = b""

    async def send(self, item: bytes) -> None:
        self._held += item
        while (end := self._held.find(b"\n")) >= 0:
            line = bytes(self._held[:end])
            del self._held[: end + 1]
            if line.strip():
                await self.to_carry.put(line)

    async def receive(self, max_bytes: int = 65_536) -> bytes:
        if not self._rest:
            line = await self._arriving.take()
            if line is None:
                raise anyio.EndOfStream
            self._rest = line
        part, self._rest = self._rest[:max_bytes], self._rest[max_bytes:]
        return part

    async def send_eof(self) -> None:
        if self._held.strip():
            await self.to_carry.put(bytes(self._held))
        self._held.clear()
        self.to_carry.close()

    async def aclose(self) -> None:
        self.ended()

    async def outgoing(self) -> bytes | None:
        """Return the next line to send; None after the last."""
        return await self.to_carry.take()

    async def arrived(self, message: bytes) -> None:
        """Pass on a message; it is dropped if the reader has ended."""
        try:
            # A line break in JSON is always between tokens.
            await self._arriving.put(message.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n")
        except anyio.ClosedResourceError:
            pass

    def ended(self) -> None:
        """End the stream: nothing more arrives, and nothing more can be sent."""
        self._arriving.close()
        self.to_carry.close()
