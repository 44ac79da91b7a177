"""A person's keyboard: whole lines while they write, single keys while they are asked.

Read on the event loop: a thread that waits for input could not be stopped.

What always holds
    * The terminal is put back as it was found.
    * While the agent works nothing that is typed is shown.
    * Ctrl-C stays a signal.
"""

from __future__ import annotations

import os
import select
import termios
from collections.abc import Generator
from contextlib import contextmanager, suppress

import anyio

LINE_BYTES_MAX = 65536
"""A longer line is cut; terminals send no more than 4096 bytes at once anyway."""

KEY_BYTES_MAX = 64
"""A key is one character, or a sequence that begins with Escape."""

_LOCAL_FLAGS = 3
_CHARACTERS = 6


class Keyboard:
    """The terminal behind a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._attributes = termios.tcgetattr(descriptor)
        # Opened anew, so that reading never blocks: Ctrl-C drops what was typed, also between our
        # hearing of it and our reading it.  The flag on stdin itself would be on stdout as well.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        self._descriptor = os.open(_name_of(descriptor), flags)
        # What was read beyond the line that was asked for.
        self._ahead = b""

    @contextmanager
    def watched(self) -> Generator[None]:
        """Keys are hidden and come one by one, but for the time of a line.  Once only."""
        self._hide()
        try:
            yield
        finally:
            # A terminal that was closed has nothing to be put back.
            with suppress(termios.error):
                self._show()
            os.close(self._descriptor)

    def _hide(self) -> None:
        quiet = [*self._attributes]
        quiet[_LOCAL_FLAGS] &= ~(termios.ECHO | termios.ICANON)
        quiet[_CHARACTERS] = [*quiet[_CHARACTERS]]
        quiet[_CHARACTERS][termios.VMIN], quiet[_CHARACTERS][termios.VTIME] = 1, 0
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, quiet)

    def _show(self) -> None:
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._attributes)

    @contextmanager
    def writing(self) -> Generator[None]:
        """A line may be written from here on: what is typed is shown, and can be corrected."""
        self._show()
        try:
            yield
        finally:
            self._hide()

    async def line(self) -> str | None:
        """The next line that is written, with the terminal's own editing; None at Ctrl-D."""
        while b"\n" not in self._ahead and len(self._ahead) < LINE_BYTES_MAX:
            more = await self._read(LINE_BYTES_MAX)
            if not more:
                last, self._ahead = self._ahead, b""
                return last.decode(errors="replace") if last else None
            self._ahead += more
        # Lines that were pasted, or typed while the agent worked, come together.
        line, _, self._ahead = self._ahead.partition(b"\n")
        return line.decode(errors="replace")

    @property
    def has_typed(self) -> bool:
        """Whether something was typed that nobody has read yet."""
        return bool(self._ahead) or bool(select.select([self._descriptor], [], [], 0)[0])

    def forget_typed(self) -> None:
        """Drop what was pressed until now; to be called before a question is put."""
        termios.tcflush(self._descriptor, termios.TCIFLUSH)

    async def key(self) -> str | None:
        """The next key that is pressed; None when the terminal is gone."""
        data = await self._read(KEY_BYTES_MAX)
        return data.decode(errors="replace") if data else None

    async def _read(self, count: int) -> bytes:
        while True:
            await anyio.wait_readable(self._descriptor)
            try:
                return os.read(self._descriptor, count)
            except BlockingIOError:
                continue
            except OSError:
                # How Linux says that the terminal was closed.
                return b""


def _name_of(descriptor: int) -> str:
    try:
        return os.ttyname(descriptor)
    except OSError:
        # In a container that does not see the terminal's file.
        return "/dev/tty"


__all__ = ["Keyboard"]
