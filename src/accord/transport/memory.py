"""A transport inside one process: for tests, and for an agent inside its client.

It has the same backlog and pauses as a pipe, so a deadlock or overflow there also happens here.  It
runs on every backend of anyio.
"""

from collections import deque

import anyio
from anyio.abc import TaskGroup

from accord.transport.transport import BACKLOG_BYTES_LOW, Ended, Receiver

PEER_CLOSED = "the peer closed the connection"


class MemoryTransport:
    """One end; make two with `memory_pair`."""

    def __init__(self) -> None:
        self._peer: MemoryTransport | None = None
        self._incoming: deque[bytes] = deque()
        # Bytes that the other end has not taken yet.
        self.backlog = 0
        self._wake = anyio.Event()
        self._drained = anyio.Event()
        self._receiver: Receiver | None = None
        self._paused = False
        self._closed = False
        # The other end has stopped sending, and may still read.
        self._is_last = False
        self._ended = False

    def join(self, peer: "MemoryTransport") -> None:
        """Connect this end to its peer."""
        self._peer = peer

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Deliver from a task in `tasks` until either end closes."""
        self._receiver = receiver
        tasks.start_soon(self._deliver, name="memory transport")

    async def _deliver(self) -> None:
        assert self._receiver is not None
        while True:
            while self._incoming and not self._paused and not self._closed:
                data = b"".join(self._incoming)
                self._incoming.clear()
                if self._peer is not None:
                    self._peer.backlog = 0
                    self._peer._drained.set()
                self._receiver.data_received(data)
            if self._closed or (self._peer is None and not self._incoming):
                break
            self._wake = anyio.Event()
            if self._is_last and not self._incoming:
                self._end(Ended(PEER_CLOSED, clean=True, writable=True))
            await self._wake.wait()
        self._end(Ended("closed here" if self._closed else PEER_CLOSED, clean=True))

    def _end(self, why: Ended) -> None:
        assert self._receiver is not None
        if not self._ended:
            self._ended = True
            self._receiver.ended(why)

    def write(self, data: bytes) -> None:
        """Queue bytes for the other end, whose task delivers them."""
        peer = self._peer
        if peer is None or self._closed or peer._closed or peer._is_last:
            return
        peer._incoming.append(data)
        self.backlog += len(data)
        peer._wake.set()

    async def drain(self) -> None:
        """Wait until the other end has taken most of what was written."""
        while self.backlog > BACKLOG_BYTES_LOW and not self._closed:
            # Several tasks may wait: they share one event, or only the last would be woken.
            if self._drained.is_set():
                self._drained = anyio.Event()
            await self._drained.wait()

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        self._wake.set()

    def close_write(self) -> None:
        """Stop writing; bytes from the other end still arrive."""
        if self._peer is not None:
            self._peer._is_last = True
            self._peer._wake.set()

    async def aclose(self) -> None:
        """Close both directions, and notify the other end."""
        if self._closed:
            return
        self._closed = True
        self.backlog = 0
        peer, self._peer = self._peer, None
        self._wake.set()
        self._drained.set()
        if peer is not None:
            peer._peer = None
            peer.backlog = 0
            peer._wake.set()
            peer._drained.set()


def memory_pair() -> tuple[MemoryTransport, MemoryTransport]:
    """Return two connected ends."""
    one, other = MemoryTransport(), MemoryTransport()
    one.join(other)
    other.join(one)
    return one, other


__all__ = ["MemoryTransport", "memory_pair"]
