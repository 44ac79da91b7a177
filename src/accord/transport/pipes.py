"""A pair of file descriptors as a transport, used by stdio and subprocess.

A chunk is delivered in the callback that read it, and a write goes to the descriptor at once.  Only
in a burst of many writes within one iteration of the event loop are writes joined: one write to a
pipe costs as much as everything else that happens to a small message.

What always holds
    * One `os.write` per write while nothing waits and there is no burst; the rest of a burst is
      written in the next iteration of the loop, or when it is long.
    * A full pipe makes the rest wait in order.
    * A peer that takes nothing for STALL_SECONDS_MAX ends the transport with that reason; so does,
      a moment later, one that closed its reading side.
    * A peer that closed only its writing side can still be answered until `aclose`.
    * A regular file works in place of a pipe, so that a recorded session can be fed in.
"""

import contextlib
import fcntl
import os
from collections import deque
from collections.abc import Callable

import anyio
from anyio.abc import TaskGroup

from accord.transport.readiness import Driver, driver_for, is_pipe
from accord.transport.transport import BACKLOG_BYTES_LOW, STALL_SECONDS_MAX, Ended, Receiver

READ_BYTES_MIN = 64 * 1024
# Buffers of this size are reused; larger ones would be allocated from the system each time.
READ_BYTES_MAX = 256 * 1024
# Read in one iteration of the loop, as long as each read fills its buffer.
READ_BYTES_AT_ONCE = 1024 * 1024
PIPE_BYTES = 1024 * 1024
_F_SETPIPE_SZ = 1031
# Writes that go out directly in one iteration of the loop; further ones are joined.
BURST_WRITES = 8
GATHERED_BYTES_MAX = 4 * 1024
# How long a peer that no longer reads may still send something, such as an error.
UNREAD_SECONDS_MAX = 1.0
# How long closing waits for the peer to take the rest.
FLUSH_SECONDS_MAX = 1.0


def widen_pipe(fd: int) -> None:
    """Try to enlarge a pipe to 1 MiB, so that large frames need fewer wake-ups."""
    with contextlib.suppress(OSError):
        fcntl.fcntl(fd, _F_SETPIPE_SZ, PIPE_BYTES)


class PipeTransport:
    """Reads one descriptor, writes another; owns both and closes them."""

    def __init__(
        self,
        read_fd: int,
        write_fd: int,
        *,
        stall_seconds: float = STALL_SECONDS_MAX,
        on_end: Callable[[Ended], None] | None = None,
    ) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._stall_seconds = stall_seconds
        self._on_end = on_end
        self._receiver: Receiver | None = None
        self._waiting: deque[memoryview] = deque()
        # Bytes that wait because the pipe is full.
        self.backlog = 0
        self._taken_bytes = 0
        # Writes in this iteration of the loop, up to BURST_WRITES, and the joined rest.
        self._burst = 0
        self._gathered: list[bytes] = []
        self._gathered_bytes = 0
        self.read_bytes = 0
        self._drained: anyio.Event | None = None
        self._flushed: anyio.Event | None = None
        self._paused = False
        self._reading = False
        self._stall_watched = False
        self._ask_bytes = READ_BYTES_MIN
        self._write_open = True
        self._ended = False
        self._driver: Driver | None = None

    @property
    def is_paused(self) -> bool:
        """Whether reading is paused."""
        return self._paused

    @property
    def has_ended(self) -> bool:
        """Whether the transport has ended."""
        return self._ended

    async def start(self, receiver: Receiver, tasks: TaskGroup) -> None:
        """Start to read; the descriptors become non-blocking."""
        self._receiver = receiver
        for fd in (self._read_fd, self._write_fd):
            os.set_blocking(fd, False)
            widen_pipe(fd)
        self._driver = driver_for(tasks)
        self.resume()
        if self._write_fd != self._read_fd and is_pipe(self._write_fd):
            self._driver.watch_hang_up(self._write_fd, self._peer_stopped_reading)
        self._burst = 0
        self._write_gathered()
        if self._waiting:
            self._watch_write()

    def resume(self) -> None:
        self._paused = False
        if self._driver is not None and not self._reading and not self._ended:
            self._reading = True
            self._driver.watch_read(self._read_fd, self._readable)

    def pause(self) -> None:
        """Stop reading; the peer's pipe fills."""
        self._paused = True
        if self._reading:
            self._reading = False
            assert self._driver is not None
            self._driver.unwatch_read(self._read_fd)

    def _readable(self) -> None:
        read_until = self.read_bytes + READ_BYTES_AT_ONCE
        # The receiver may pause or close us in between.
        while self._reading:
            asked = self._ask_bytes
            try:
                data = os.read(self._read_fd, asked)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self.end(Ended(f"reading failed: {error.strerror or error}"))
                return
            if not data:
                self.end(Ended("the peer closed the connection", clean=True, writable=True))
                return
            got = len(data)
            self.read_bytes += got
            self._adapt_buffer(got)
            assert self._receiver is not None
            self._receiver.data_received(data)
            if got < asked or self.read_bytes >= read_until:
                return
            # Freed before the next read, which can then use the same memory.
            del data

    def _adapt_buffer(self, got: int) -> None:
        """Adapt the buffer: large ones are slow for small messages, and the other way round."""
        if got == self._ask_bytes:
            self._ask_bytes = min(2 * got, READ_BYTES_MAX)
        elif got < READ_BYTES_MIN:
            self._ask_bytes = READ_BYTES_MIN

    def write(self, data: bytes) -> None:
        """Write directly if nothing waits; keep what the pipe does not take."""
        if self._burst < BURST_WRITES:
            self._burst += 1
            if self._burst == BURST_WRITES and self._driver is not None:
                self._driver.soon(self._next_iteration)
            self._write(data)
            return
        if len(data) >= GATHERED_BYTES_MAX:
            # Copying it would cost more than another write.
            self._write_gathered()
            self._write(data)
            return
        self._gathered.append(data)
        self._gathered_bytes += len(data)
        if self._gathered_bytes >= GATHERED_BYTES_MAX:
            self._write_gathered()

    def _next_iteration(self) -> None:
        """Write the joined rest; the burst ends when there is none."""
        if self._gathered:
            self._write_gathered()
            if self._driver is not None and self._write_open:
                self._driver.soon(self._next_iteration)
                return
        self._burst = 0

    def _write_gathered(self) -> None:
        if self._gathered:
            data = b"".join(self._gathered)
            self._gathered.clear()
            self._gathered_bytes = 0
            self._write(data)

    def _write(self, data: bytes) -> None:
        if not self._write_open:
            return
        if self._waiting or self._driver is None:
            self._waiting.append(memoryview(data))
            self.backlog += len(data)
            if self._driver is not None and len(data) >= GATHERED_BYTES_MAX:
                # The parts of a large frame are written one by one while the peer reads.
                self._flush()
            return
        try:
            taken = os.write(self._write_fd, data)
        except (BlockingIOError, InterruptedError):
            taken = 0
        except OSError:
            self._peer_stopped_reading()
            return
        if taken < len(data):
            self._waiting.append(memoryview(data)[taken:])
            self.backlog = len(data) - taken
            self._watch_write()

    def _watch_write(self) -> None:
        assert self._driver is not None
        self._driver.watch_write(self._write_fd, self._flush)
        if not self._stall_watched:
            self._stall_watched = True
            self._watch_stall()

    def _watch_stall(self) -> None:
        assert self._driver is not None
        taken_now = self._taken_bytes
        self._driver.later(self._stall_seconds, lambda: self._check_stall(taken_now))

    def _flush(self) -> None:
        waiting = self._waiting
        try:
            while waiting:
                piece = waiting[0]
                taken = os.write(self._write_fd, piece)
                self._taken_bytes += taken
                self.backlog -= taken
                if taken < len(piece):
                    waiting[0] = piece[taken:]
                    break
                waiting.popleft()
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self._peer_stopped_reading()
            return
        if self.backlog <= BACKLOG_BYTES_LOW and self._drained is not None:
            self._drained.set()
        if not waiting:
            assert self._driver is not None
            self._driver.unwatch_write(self._write_fd)
            if self._flushed is not None:
                self._flushed.set()

    def _check_stall(self, taken_then: int) -> None:
        if not self._waiting:
            self._stall_watched = False
        elif self._taken_bytes == taken_then:
            self.end(Ended(f"the peer read nothing for {self._stall_seconds:g} s"))
            self._stop_writing()
        else:
            self._watch_stall()

    def _peer_stopped_reading(self) -> None:
        """Stop writing, and read a little longer: the peer may still send an error."""
        if not self._write_open:
            return
        self._stop_writing()
        if self._driver is not None and not self._ended:
            end = Ended("the peer closed its reading side")
            self._driver.later(UNREAD_SECONDS_MAX, lambda: self.end(end))

    def _stop_writing(self) -> None:
        if self._write_open and self._driver is not None:
            self._driver.unwatch_hang_up(self._write_fd)
            if self._waiting:
                self._driver.unwatch_write(self._write_fd)
        self._write_open = False
        self._waiting.clear()
        self.backlog = 0
        self._gathered.clear()
        self._gathered_bytes = 0
        for event in (self._drained, self._flushed):
            if event is not None:
                event.set()

    async def drain(self) -> None:
        """Wait until most of the backlog is taken, or writing has ended."""
        while self.backlog > BACKLOG_BYTES_LOW and self._write_open:
            # Several tasks may wait: they share one event, or only the last would be woken.
            if self._drained is None or self._drained.is_set():
                self._drained = anyio.Event()
            await self._drained.wait()

    async def flush(self) -> None:
        """Wait until all of the backlog is taken, or writing has ended."""
        self._write_gathered()
        while self._waiting and self._write_open:
            if self._flushed is None or self._flushed.is_set():
                self._flushed = anyio.Event()
            await self._flushed.wait()

    def close_write(self) -> None:
        """Close the writing side; reading continues."""
        if self._write_fd < 0:
            return
        self._write_gathered()
        self._stop_writing()
        if self._write_fd != self._read_fd:
            os.close(self._write_fd)
        self._write_fd = -1

    def end(self, why: Ended) -> None:
        """Stop both directions, or only reading if `why.writable`, and notify the receiver once."""
        if self._ended:
            return
        self.pause()
        self._ended = True
        if not why.writable:
            self._write_gathered()
            self._stop_writing()
        if self._on_end is not None:
            self._on_end(why)
        elif self._receiver is not None:
            self._receiver.ended(why)

    async def aclose(self) -> None:
        """Close both descriptors; bytes that still wait after a moment are dropped."""
        self._write_gathered()
        if self._waiting and self._driver is not None:
            with anyio.move_on_after(FLUSH_SECONDS_MAX, shield=True):
                await self.flush()
        self.end(Ended("closed here", clean=True))
        self.close_write()
        if self._read_fd >= 0:
            os.close(self._read_fd)
            self._read_fd = -1
        if self._driver is not None:
            self._driver.close()
