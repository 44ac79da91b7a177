"""A text stream that never blocks the event loop.

A pipe with a slow reader would block everything, Ctrl-C included.  So text is buffered here, and
`drain` writes it in pieces that the pipe has room for.

Invariants
    * Text is written in order, and all of it when `drain` returns; the next `drain` writes what a
      cancelled one did not.
    * A character that the terminal cannot show is replaced.
    * Output does not continue an unfinished line of another writer: see
      `machine/console/unfinished_lines.py`.
"""

from __future__ import annotations

import os
from typing import TextIO

import anyio

from accord.machine.console.unfinished_lines import LINE_ENDS

PIECE_BYTES = 4096
"""Bytes that a ready pipe has room for; more could block."""

WAITING_CHARS_MAX = 64 * 1024
"""Buffered characters after which the caller should drain."""


class Output:
    """A text stream that `drain` writes.  Guards: the order of the text."""

    def __init__(self, stream: TextIO, encoding: str | None = None) -> None:
        """Wrap a stream that has a file descriptor.

        Without `encoding` its own encoding is used.
        """
        stream.flush()
        # Keep a reference, or its descriptor would be closed and reused.
        self._stream = stream
        self._descriptor = stream.fileno()
        self._terminal = stream.isatty()
        self._encoding = encoding or stream.encoding or "utf-8"
        self._waiting: list[str] = []
        self._waiting_chars = 0
        # What a cancelled write left over; it goes first, so that no line is torn.
        self._rest = memoryview(b"")
        self._writing = anyio.Lock()

    def write(self, text: str) -> None:
        """Queue text for writing."""
        self._waiting.append(text)
        self._waiting_chars += len(text)

    @property
    def has_waiting(self) -> bool:
        """Whether there is buffered text."""
        return self._waiting_chars > 0 or len(self._rest) > 0

    @property
    def is_full(self) -> bool:
        """Whether the caller should call `drain` now."""
        return self._waiting_chars > WAITING_CHARS_MAX

    def flush(self) -> None:
        """Do nothing, because `drain` writes."""

    def isatty(self) -> bool:
        """Whether the output is a terminal."""
        return self._terminal

    @property
    def encoding(self) -> str:
        """The name of the character encoding."""
        return self._encoding

    async def drain(self) -> None:
        """Write the buffered text.

        Raises:
            OSError: the output was closed.
        """
        async with self._writing:
            self._rest = data = self._take()
            while data:
                try:
                    await anyio.wait_writable(self._descriptor)
                except (OSError, ValueError):
                    # A file cannot be polled and never blocks.
                    pass
                try:
                    written = os.write(self._descriptor, data[:PIECE_BYTES])
                except BlockingIOError:
                    # Another process made the pipe non-blocking; it will be ready later.
                    continue
                LINE_ENDS.wrote(self._descriptor, self, bytes(data[:written][-64:]))
                self._rest = data = data[written:]

    def answered(self) -> None:
        """Note that the user ended a question's line by pressing Enter."""
        LINE_ENDS.ended(self._descriptor)

    def _take(self) -> memoryview:
        text = "".join(self._waiting)
        self._waiting.clear()
        self._waiting_chars = 0
        if text and not self._rest:
            text = LINE_ENDS.before(self._descriptor, self, text) + text
        more = text.encode(self._encoding, "replace")
        return memoryview(b"".join((self._rest, more)) if self._rest else more)
