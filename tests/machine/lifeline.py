"""Lets tests see that processes start and end, without polling or sleeping.

A process that runs `exec 9>LIFELINE` holds the writing end, and so does all it starts.  Words
written to it are events; the end of the pipe is the death of the last holder.
"""

import os
from pathlib import Path

import anyio


class Lifeline:
    """The reading end of a named pipe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        # Our own writing end keeps the pipe from ending before the first holder came.
        self._own = os.open(path, os.O_WRONLY)
        self._words: list[str] = []
        self._held = b""

    def shell(self, script: str) -> list[str]:
        """A command that holds the line while it and its children live."""
        return ["/bin/sh", "-c", f'exec 9>"{self.path}"\n{script}']

    def line(self, script: str) -> str:
        """The same as one line for a shell."""
        return f'exec 9>"{self.path}"; {script}'

    async def word(self) -> str:
        """The next line that a holder wrote."""
        while not self._words:
            data = await self._next()
            *lines, self._held = (self._held + data).split(b"\n")
            self._words += [line.decode() for line in lines]
        return self._words.pop(0)

    async def all_dead(self) -> None:
        """Return when nobody holds the line any more."""
        self._let_go()
        while await self._next():
            pass

    async def _next(self) -> bytes:
        while True:
            try:
                return os.read(self._fd, 4096)
            except BlockingIOError:
                await anyio.wait_readable(self._fd)

    def _let_go(self) -> None:
        if self._own >= 0:
            os.close(self._own)
            self._own = -1

    def close(self) -> None:
        """Give the pipe back."""
        self._let_go()
        os.close(self._fd)
