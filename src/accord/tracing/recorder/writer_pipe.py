"""The pipe from the recorder to the process that writes the recording, and the packets on it."""

from __future__ import annotations

import os
import select
import struct
import threading
from collections import deque
from collections.abc import Callable

PACKET = struct.Struct("!BdQ")
"""The header of a packet: source, time, number of bytes."""

SOURCES = ("client", "agent", "stderr", "gap-client", "gap-agent", "gap-stderr", "end")

BACKLOG_BYTES_MAX = 64 << 20
"""How much may wait for the writer; anything beyond that is forwarded but not recorded."""


def pack(source: str, time: float, data: bytes) -> bytes:
    return PACKET.pack(SOURCES.index(source), time, len(data)) + data


class WriterPipe:
    """Sends packets to the writer.  Guards: their order, the limit, and that `put` never waits.

    A packet is written at once if the pipe has room, so that it is safe before its bytes are
    forwarded; the rest waits for the thread that `start` starts.
    """

    def __init__(
        self, pipe: int, broken: Callable[[], None], bytes_max: int = BACKLOG_BYTES_MAX
    ) -> None:
        os.set_blocking(pipe, False)
        self._pipe = pipe
        self._broken = broken
        self._bytes_max = bytes_max
        self._waiting: deque[memoryview] = deque()
        self._bytes = 0
        self._lost: dict[str, int] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Start to write waiting packets."""
        self._thread.start()

    def put(self, source: str, at: float, data: bytes) -> None:
        """Queue a packet, or count it as lost; return at once."""
        with self._changed:
            if self._closed:
                return
            if self._bytes + len(data) > self._bytes_max:
                self._lost[source] = self._lost.get(source, 0) + len(data)
                return
            if lost := self._lost.pop(source, 0):
                self._queue(pack(f"gap-{source}", at, b"%d" % lost))
            self._queue(pack(source, at, data))
            self._write()
            if self._waiting or self._closed:
                self._changed.notify()

    def close(self, seconds: float) -> None:
        """Close the pipe after the waiting packets, or after this time."""
        with self._changed:
            for source, lost in self._lost.items():
                self._queue(pack(f"gap-{source}", 0.0, b"%d" % lost))
            self._lost.clear()
            self._closed = True
            self._changed.notify()
        self._thread.join(seconds)

    def _queue(self, packet: bytes) -> None:
        self._waiting.append(memoryview(packet))
        self._bytes += len(packet)

    def _write(self) -> None:
        """Write as much as the pipe takes; call with the lock held."""
        try:
            while self._waiting:
                written = os.write(self._pipe, self._waiting[0])
                self._bytes -= written
                rest = self._waiting.popleft()[written:]
                if rest:
                    self._waiting.appendleft(rest)
        except BlockingIOError:
            # The pipe is full: the thread continues when it has room.
            pass
        except OSError:
            self._waiting.clear()
            self._closed = True

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting and not self._closed:
                    self._changed.wait()
                is_broken = self._closed and not self._waiting
            if is_broken:
                break
            wait_for_event(self._pipe, select.POLLOUT)
            with self._changed:
                self._write()
        os.close(self._pipe)
        self._broken()


def wait_for_event(descriptor: int, event: int) -> None:
    """Wait until a descriptor has a poll event."""
    poll = select.poll()
    poll.register(descriptor, event)
    poll.poll()
