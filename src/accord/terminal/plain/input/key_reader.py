"""Read keys as they are pressed, with the terminal's echo off.

Reads on the event loop, because a thread that waits for input could not be stopped.

Invariants
    * The terminal's mode is restored at the end.
    * Only we echo keys.
    * Ctrl-C stays a signal.
"""

from __future__ import annotations

import codecs
import os
import termios
from collections.abc import Generator
from contextlib import contextmanager, suppress

import anyio

READ_BYTES_MAX = 4096
"""Bytes that are read at once."""

_LOCAL_FLAGS = 3
_CHARACTERS = 6


class Keyboard:
    """The terminal behind a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._attributes = termios.tcgetattr(descriptor)
        # Opened again in non-blocking mode: Ctrl-C may discard input between the poll and the read.
        # Setting the flag on stdin would set it on stdout as well.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        self._descriptor = os.open(_name_of(descriptor), flags)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @contextmanager
    def watched(self) -> Generator[None]:
        """Switch to raw keys without echo.  Call this once."""
        self.hide()
        try:
            yield
        finally:
            # A closed terminal has no mode to restore.
            with suppress(termios.error):
                self._show()
            os.close(self._descriptor)

    @contextmanager
    def lent(self) -> Generator[None]:
        """Restore the terminal's mode for another program."""
        self._show()
        try:
            yield
        finally:
            with suppress(termios.error):
                self.hide()

    def hide(self) -> None:
        """Switch to raw keys without echo again."""
        quiet = [*self._attributes]
        quiet[_LOCAL_FLAGS] &= ~(termios.ECHO | termios.ICANON)
        quiet[_CHARACTERS] = [*quiet[_CHARACTERS]]
        quiet[_CHARACTERS][termios.VMIN], quiet[_CHARACTERS][termios.VTIME] = 1, 0
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, quiet)

    def _show(self) -> None:
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._attributes)

    def forget_typed(self) -> None:
        """Discard pending keys.  Call this before a question is shown."""
        with suppress(termios.error):
            termios.tcflush(self._descriptor, termios.TCIFLUSH)
        self._decoder.reset()

    async def read(self) -> str | None:
        """The next keys; None when the terminal was closed."""
        while True:
            await anyio.wait_readable(self._descriptor)
            try:
                data = os.read(self._descriptor, READ_BYTES_MAX)
            except BlockingIOError:
                continue
            except OSError:
                # Linux reports a closed terminal this way.
                return None
            if not data:
                return None
            if text := self._decoder.decode(data):
                return text


def _name_of(descriptor: int) -> str:
    try:
        return os.ttyname(descriptor)
    except OSError:
        # In a container the terminal's device file may be missing.
        return "/dev/tty"
