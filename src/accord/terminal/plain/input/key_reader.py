"""A user's keyboard: every key as it is pressed, nothing shown by the terminal itself.

Read on the event loop: a thread that waits for input could not be stopped.

Invariants
    * The terminal is put back as it was found.
    * What is pressed is shown by us, or not at all.
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
"""What is read at once; a pasted text comes in pieces of no more."""

_LOCAL_FLAGS = 3
_CHARACTERS = 6


class Keyboard:
    """The terminal behind a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._attributes = termios.tcgetattr(descriptor)
        # Opened again, so that reading never blocks: Ctrl-C drops what was typed, also between our
        # hearing of it and our reading it.  The flag on stdin itself would be on stdout as well.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        self._descriptor = os.open(_name_of(descriptor), flags)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @contextmanager
    def watched(self) -> Generator[None]:
        """Keys are hidden and come one by one.  Once only."""
        self.hide()
        try:
            yield
        finally:
            # A terminal that was closed has nothing to be put back.
            with suppress(termios.error):
                self._show()
            os.close(self._descriptor)

    @contextmanager
    def lent(self) -> Generator[None]:
        """The terminal is as it was found, for another program that talks to the user."""
        self._show()
        try:
            yield
        finally:
            with suppress(termios.error):
                self.hide()

    def hide(self) -> None:
        """Keys are hidden and come one by one from here on."""
        quiet = [*self._attributes]
        quiet[_LOCAL_FLAGS] &= ~(termios.ECHO | termios.ICANON)
        quiet[_CHARACTERS] = [*quiet[_CHARACTERS]]
        quiet[_CHARACTERS][termios.VMIN], quiet[_CHARACTERS][termios.VTIME] = 1, 0
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, quiet)

    def _show(self) -> None:
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._attributes)

    def forget_typed(self) -> None:
        """Drop what was pressed until now; to be called before a question is put."""
        with suppress(termios.error):
            termios.tcflush(self._descriptor, termios.TCIFLUSH)
        self._decoder.reset()

    async def read(self) -> str | None:
        """What is pressed next, several keys where they come together; None at its end."""
        while True:
            await anyio.wait_readable(self._descriptor)
            try:
                data = os.read(self._descriptor, READ_BYTES_MAX)
            except BlockingIOError:
                continue
            except OSError:
                # How Linux says that the terminal was closed.
                return None
            if not data:
                return None
            if text := self._decoder.decode(data):
                return text


def _name_of(descriptor: int) -> str:
    try:
        return os.ttyname(descriptor)
    except OSError:
        # In a container that does not see the terminal's file.
        return "/dev/tty"


__all__ = ["Keyboard"]
