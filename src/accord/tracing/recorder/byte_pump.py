"""Forwards bytes between two file descriptors, and shows them to an observer."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable
from functools import partial

from accord.machine.console.unfinished_lines import LINE_ENDS
from accord.tracing.recorder.writer_pipe import wait_for_event

READ_BYTES = 1 << 16


class BytePump:
    """Forwards bytes from one descriptor to another until either ends."""

    def __init__(
        self,
        source: int,
        sink: int,
        observe: Callable[[float, bytes], None],
        pass_on: Callable[[bytes], None] | None = None,
        finish: Callable[[], None] = lambda: None,
    ) -> None:
        """Create a pump; `pass_on` writes to `sink` if the bytes must be changed first."""
        self._source, self._sink, self._observe = source, sink, observe
        self._pass_on = pass_on or partial(_write, sink)
        self._finish = finish
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            while chunk := _read(self._source):
                # Before forwarding: the answer may arrive before this thread continues.
                self._observe(time.monotonic(), chunk)
                self._pass_on(chunk)
            self._finish()
        except OSError:
            # The reader is gone; closing the source below tells the other side.
            pass
        finally:
            _close(self._source)
            _close(self._sink)


def _close(descriptor: int) -> None:
    """Close a descriptor; replace a standard one by /dev/null, so that its number stays used."""
    try:
        if descriptor > 1:
            os.close(descriptor)
        else:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)
    except OSError:
        # It was closed before we started.
        pass


def _read(descriptor: int) -> bytes:
    while True:
        try:
            return os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            # Our parent made it non-blocking and shares the flag with us.
            wait_for_event(descriptor, select.POLLIN)


def _write(descriptor: int, chunk: bytes) -> None:
    data = memoryview(chunk)
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            wait_for_event(descriptor, select.POLLOUT)


def stderr_pump(source: int, sink: int, observe: Callable[[float, bytes], None]) -> BytePump:
    """Return a pump for the agent's stderr, which escapes control characters on a terminal."""
    if not os.isatty(sink):

        def pass_on(chunk: bytes) -> None:
            _write(sink, chunk)
            LINE_ENDS.wrote(sink, source, chunk)

        return BytePump(source, sink, observe, pass_on)
    from accord.machine.console.stderr_passthrough import PassedOutput

    passed = PassedOutput(sink)
    return BytePump(source, sink, observe, passed, passed.finish)


def escaped_writer(descriptor: int) -> Callable[[bytes], None] | None:
    """Return a writer that escapes control characters; None if this is not a terminal."""
    if not os.isatty(descriptor):
        return None
    from accord.machine.console.control_characters import VisibleMessages

    visible = VisibleMessages()
    return lambda chunk: _write(descriptor, visible.feed(chunk))


def has_reader(descriptor: int) -> bool:
    """Whether the other end of a pipe is still open."""
    poll = select.poll()
    # Errors are reported even without being requested.
    poll.register(descriptor, 0)
    return not any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
