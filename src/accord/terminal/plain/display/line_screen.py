"""The screen of the line mode: output, and the line that the user types at its end.

This module does not know what is printed.

Invariants
    * Output starts on a line of its own, never behind what the user has typed.
    * `drain` waits for a slow reader.
"""

from __future__ import annotations

from typing import Protocol

from accord.terminal.plain.display.chat_and_run_printer import Out


class SlowOut(Out, Protocol):
    """Buffered output that `drain` writes: an `Output`."""

    async def drain(self) -> None:
        """Write the buffered text."""
        ...


class Screen:
    """The end of the output.  Guards: whether the last line belongs to the user."""

    def __init__(self, out: SlowOut) -> None:
        self._out = out
        # Whether the cursor is on the line that the user types.
        self.is_written_on = False
        self._at_edge = True

    def write(self, text: str) -> None:
        """Buffer output of the printer."""
        if not text:
            return
        if self.is_written_on:
            self.is_written_on = False
            self._put("\n")
        self._put(text)

    def echo(self, text: str) -> None:
        """Buffer text of the user's line."""
        if not self.is_written_on:
            self.is_written_on = True
            if not self._at_edge:
                self._put("\n")
        if text:
            self._put(text)

    def end_line(self) -> None:
        """Note that the user's line has ended."""
        if self.is_written_on:
            self._put("\n")
            self.is_written_on = False

    def _put(self, text: str) -> None:
        self._out.write(text)
        self._at_edge = text.endswith("\n")

    def flush(self) -> None:
        """Do nothing, because `drain` writes."""

    def isatty(self) -> bool:
        """Whether the output is a terminal."""
        return self._out.isatty()

    @property
    def encoding(self) -> str:
        """The name of the character encoding."""
        return self._out.encoding

    async def drain(self) -> None:
        """Write the buffered text.

        Raises:
            OSError: the output was closed.
        """
        await self._out.drain()
