"""Pipes of a system that is played: partial writes, short reads, delays, ends that vanish.

`PipeTransport` runs on it unchanged: its module is given this object in place of `os`.

What always holds: bytes come out in the order in which they went in, none twice, and none is lost
while both ends live.
"""

from random import Random
from typing import Any

from tests.simulation.runtime.loop import Readiness, SeededLoop

FIRST_FD = 1_000_000


class Pipe:
    """One direction."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.held = bytearray()
        # When the reader may see what is there.
        self.seen_at = 0.0
        self.reader_open = True
        self.writer_open = True


class Kernel(Readiness):
    """The descriptors of one world."""

    def __init__(self, loop: SeededLoop, random: Random) -> None:
        self._loop = loop
        self._random = random
        self._ends: dict[int, tuple[str, Pipe]] = {}
        self._next_fd = FIRST_FD
        self._delay_seconds = random.choice((0.0, 0.0, 0.0005, 0.02))
        self._splits = random.random() < 0.6
        self._capacity = random.choice((64, 500, 4096, 65536))
        loop.readiness = self

    def pair(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Two ends that talk to each other, each as what it reads and what it writes."""
        there, back = Pipe(self._capacity), Pipe(self._capacity)
        one = (self._open("r", back), self._open("w", there))
        other = (self._open("r", there), self._open("w", back))
        return one, other

    def _open(self, mode: str, pipe: Pipe) -> int:
        self._next_fd += 1
        self._ends[self._next_fd] = (mode, pipe)
        return self._next_fd

    def sever(self, fds: tuple[int, int], *, loses: bool) -> None:
        """The process behind these is gone; what it wrote last may be gone with it."""
        for fd in fds:
            found = self._ends.get(fd)
            if found is None:
                continue
            mode, pipe = found
            if mode == "r":
                pipe.reader_open = False
            else:
                pipe.writer_open = False
                if loses:
                    del pipe.held[self._random.randint(0, len(pipe.held)) :]

    def open_ends(self) -> list[int]:
        """What nobody has closed."""
        return list(self._ends)

    # ---- as `os`

    def set_blocking(self, fd: int, blocking: bool) -> None:
        """They never block."""

    def write(self, fd: int, data: Any) -> int:
        """Take what there is room for."""
        _, pipe = self._ends[fd]
        if not pipe.reader_open:
            raise BrokenPipeError(32, "Broken pipe")
        room = pipe.capacity - len(pipe.held)
        if room <= 0:
            raise BlockingIOError(11, "full")
        taken = min(room, len(data))
        if self._splits and taken > 1 and self._random.random() < 0.2:
            taken = self._random.randint(1, taken)
        if not pipe.writer_open:
            return len(data)  # The writer is a ghost: it does not know, and nobody hears.
        if not pipe.held:
            pipe.seen_at = self._loop.time() + self._random.random() * self._delay_seconds
        pipe.held += bytes(data[:taken])
        return taken

    def read(self, fd: int, count: int) -> bytes:
        """What is there, or b"" at the end."""
        _, pipe = self._ends[fd]
        if not pipe.held or pipe.seen_at > self._loop.time():
            if pipe.writer_open or pipe.held:
                raise BlockingIOError(11, "empty")
            return b""
        taken = min(count, len(pipe.held))
        if self._splits and taken > 1 and self._random.random() < 0.5:
            taken = self._random.randint(1, taken)
        data = bytes(pipe.held[:taken])
        del pipe.held[:taken]
        pipe.seen_at = self._loop.time() + self._random.random() * self._delay_seconds
        return data

    def close(self, fd: int) -> None:
        """The end is gone; the other side notices."""
        mode, pipe = self._ends.pop(fd)
        if mode == "r":
            pipe.reader_open = False
        else:
            pipe.writer_open = False

    # ---- as a selector

    def ready(self, readers: dict[int, Any], writers: dict[int, Any], now: float) -> list[Any]:
        """Level triggered, and late now and then."""
        found = [h for fd, h in readers.items() if self._readable(fd, now)]
        found += [h for fd, h in writers.items() if self._writable(fd)]
        return found

    def _readable(self, fd: int, now: float) -> bool:
        mode, pipe = self._ends[fd]
        if mode == "w":
            return not pipe.reader_open  # There is nothing to read here but the end.
        if pipe.held:
            return pipe.seen_at <= now
        return not pipe.writer_open

    def _writable(self, fd: int) -> bool:
        _, pipe = self._ends[fd]
        return not pipe.reader_open or len(pipe.held) < pipe.capacity

    def next_at(self, readers: dict[int, Any], writers: dict[int, Any]) -> float | None:
        """When something can be read or written that cannot be now."""
        reading = [pipe for mode, pipe in map(self._ends.__getitem__, readers) if mode == "r"]
        moments = [pipe.seen_at for pipe in reading if pipe.held]
        if any(self._readable(fd, self._loop.time()) for fd in readers):
            moments.append(self._loop.time())
        if any(self._writable(fd) for fd in writers):
            moments.append(self._loop.time())
        return min(moments, default=None)
