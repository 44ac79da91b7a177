"""A transport at its worst within its promise: any split, any delay, an end at any moment.

Bytes in flight are bounded as in a pipe, so that a slow reader slows the writer.
"""

from random import Random

import anyio
from anyio.abc import TaskGroup

from accord.transport.transport import Ended, Receiver
from tests.simulation.runtime.loop import SeededLoop

LOW_BYTES = 512


class LossyTransport:
    """One end; make two with `lossy_pair`."""

    def __init__(self, loop: SeededLoop, random: Random) -> None:
        self._loop = loop
        self._random = random
        self._delay_seconds = random.choice((0.0, 0.001, 0.05))
        self._piece_bytes = random.choice((1 << 20, 1 << 20, 300, 40))
        self._incoming = bytearray()
        self._receiver: Receiver | None = None
        self._drained = anyio.Event()
        self._paused = False
        self._closed = False
        self._told = False
        self._peer_gone = False
        self._due = False
        self._cut = False
        self.peer: LossyTransport | None = None

    @property
    def backlog(self) -> int:
        """Bytes that the other end has not taken."""
        peer = self.peer
        return 0 if peer is None or peer._closed or self._cut else len(peer._incoming)

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Deliver from now on."""
        self._receiver = receiver
        self._schedule()

    def write(self, data: bytes) -> None:
        """On its way."""
        peer = self.peer
        if not self._closed and not self._cut and peer is not None and not peer._closed:
            peer._incoming += data
            peer._schedule()

    async def drain(self) -> None:
        """Wait until the other end has taken most of it."""
        while self.backlog > LOW_BYTES and not self._closed:
            if self._drained.is_set():
                self._drained = anyio.Event()
            await self._drained.wait()

    def pause(self) -> None:
        """Deliver nothing."""
        self._paused = True

    def resume(self) -> None:
        """Deliver again."""
        self._paused = False
        self._schedule()

    async def aclose(self) -> None:
        """End it from here; what is on its way still arrives."""
        self.break_off(loses=False)
        await anyio.lowlevel.checkpoint()
        self._tell_end("closed here")

    def break_off(self, *, loses: bool) -> None:
        """This end is gone; the other learns of it, perhaps without the last bytes."""
        if self._closed:
            return
        self._closed = True
        self._drained.set()
        peer = self.peer
        if peer is not None:
            if loses:
                del peer._incoming[self._random.randint(0, len(peer._incoming)) :]
            peer._peer_gone = True
            peer._drained.set()
            peer._schedule()

    def cut(self, *, loses: bool) -> None:
        """The line is broken for both ends; what is on its way may arrive."""
        for end in (self, self.peer):
            assert end is not None
            end._cut = end._peer_gone = True
            if loses:
                del end._incoming[self._random.randint(0, len(end._incoming)) :]
            end._drained.set()
            end._schedule()

    def _schedule(self) -> None:
        if not self._due and not self._paused and self._receiver is not None:
            self._due = True
            self._loop.call_later(self._random.random() * self._delay_seconds, self._deliver)

    def _deliver(self) -> None:
        self._due = False
        if self._paused or self._closed:
            return
        if self._incoming:
            limit = min(len(self._incoming), self._piece_bytes)
            taken = self._random.randint(1, limit) if self._random.random() < 0.5 else limit
            data = bytes(self._incoming[:taken])
            del self._incoming[:taken]
            if self.peer is not None and len(self._incoming) <= LOW_BYTES:
                self.peer._drained.set()
            assert self._receiver is not None
            self._receiver.data_received(data)
        if self._incoming:
            self._schedule()
        elif self._peer_gone:
            self._tell_end("the peer closed the connection")

    def _tell_end(self, reason: str) -> None:
        if not self._told and self._receiver is not None:
            self._told = True
            self._receiver.ended(Ended(reason, clean=True))


def lossy_pair(loop: SeededLoop, random: Random) -> tuple[LossyTransport, LossyTransport]:
    """Two ends that talk to each other."""
    one, other = LossyTransport(loop, random), LossyTransport(loop, random)
    one.peer, other.peer = other, one
    return one, other
