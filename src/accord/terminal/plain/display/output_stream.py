"""Text on its way to a file descriptor, written without ever holding up the event loop.

A pipe whose reader is slow would stop everything, Ctrl-C included; so text is gathered here and
written by `drain`, in pieces that the pipe has room for.

Invariants
    * Text is written in the order in which it came, and all of it when `drain` returns; what a
      `drain` that was cancelled did not write, the next one does.
    * A character that the terminal cannot show is replaced.
    * What others have written to the same place is not gone on with: see
      `machine/console/open_lines.py`.
"""

from __future__ import annotations

import os
from typing import TextIO

import anyio

from accord.machine.console.open_lines import LINE_ENDS

PIECE_BYTES = 4096
"""A pipe that is ready has room for so many bytes; more could block."""

WAITING_CHARS_MAX = 64 * 1024
"""More than this should not be taken before it is written."""


class Output:
    """A text stream that is written by `drain`.  Guards: the order of what came."""

    def __init__(self, stream: TextIO, encoding: str | None = None) -> None:
        """For a stream of this process, or anything else that has a descriptor.

        Without `encoding` it is written in the stream's own.
        """
        stream.flush()
        # Held, or its descriptor would be closed, and soon be that of another file.
        self._stream = stream
        self._descriptor = stream.fileno()
        self._terminal = stream.isatty()
        self._encoding = encoding or stream.encoding or "utf-8"
        self._waiting: list[str] = []
        self._waiting_chars = 0
        # What was being written when somebody gave up; it goes first, or a line would be torn.
        self._rest = memoryview(b"")
        self._writing = anyio.Lock()

    def write(self, text: str) -> None:
        """Queue text for writing."""
        self._waiting.append(text)
        self._waiting_chars += len(text)

    @property
    def has_waiting(self) -> bool:
        """Whether something was taken that is not written yet."""
        return self._waiting_chars > 0 or len(self._rest) > 0

    @property
    def is_full(self) -> bool:
        """Whether it is time to `drain`."""
        return self._waiting_chars > WAITING_CHARS_MAX

    def flush(self) -> None:
        """Do nothing, because `drain` writes."""

    def isatty(self) -> bool:
        """Whether a user sees it."""
        return self._terminal

    @property
    def encoding(self) -> str:
        """Which letters it has."""
        return self._encoding

    async def drain(self) -> None:
        """Write what was taken.

        Raises:
            OSError: nobody reads it anymore.
        """
        async with self._writing:
            self._rest = data = self._take()
            while data:
                try:
                    await anyio.wait_writable(self._descriptor)
                except (OSError, ValueError):
                    # A file: it cannot be waited for, and never has to be.
                    pass
                try:
                    written = os.write(self._descriptor, data[:PIECE_BYTES])
                except BlockingIOError:
                    # Somebody made the pipe non-blocking; it is ready later.
                    continue
                LINE_ENDS.wrote(self._descriptor, self, bytes(data[:written][-64:]))
                self._rest = data = data[written:]

    def answered(self) -> None:
        """Somebody ended the line of a question by pressing Enter."""
        LINE_ENDS.ended(self._descriptor)

    def _take(self) -> memoryview:
        text = "".join(self._waiting)
        self._waiting.clear()
        self._waiting_chars = 0
        if text and not self._rest:
            text = LINE_ENDS.before(self._descriptor, self, text) + text
        more = text.encode(self._encoding, "replace")
        return memoryview(b"".join((self._rest, more)) if self._rest else more)


__all__ = ["PIECE_BYTES", "WAITING_CHARS_MAX", "Output"]
