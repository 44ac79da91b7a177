"""What a person sees in line mode: the output, and the line that is being written at its end.

Must not know what is written.

What always holds
    * What is told begins on a line of its own, never behind what a person has typed.
    * `drain` waits for a slow reader; until then nothing more need be told.
"""

from __future__ import annotations

from typing import Protocol

from accord.terminal.plain.display.conversation_printer import Out


class SlowOut(Out, Protocol):
    """Output that is written when somebody waits for it: an `Output`."""

    async def drain(self) -> None:
        """Write what was taken."""
        ...


class Screen:
    """The end of the output.  Guards: whether the line at the end is the person's."""

    def __init__(self, out: SlowOut) -> None:
        self._out = out
        # Whether the cursor stands on the line that a person writes.
        self.is_written_on = False
        self._at_edge = True

    def write(self, text: str) -> None:
        """Take what is told."""
        if not text:
            return
        if self.is_written_on:
            self.is_written_on = False
            self._put("\n")
        self._put(text)

    def echo(self, text: str) -> None:
        """Take what belongs to the line of the person, which begins at the edge."""
        if not self.is_written_on:
            self.is_written_on = True
            if not self._at_edge:
                self._put("\n")
        if text:
            self._put(text)

    def end_line(self) -> None:
        """The person's line is done."""
        if self.is_written_on:
            self._put("\n")
            self.is_written_on = False

    def _put(self, text: str) -> None:
        self._out.write(text)
        self._at_edge = text.endswith("\n")

    def flush(self) -> None:
        """Nothing: `drain` writes."""

    def isatty(self) -> bool:
        """Whether a person sees it."""
        return self._out.isatty()

    @property
    def encoding(self) -> str:
        """Which letters it has."""
        return self._out.encoding

    async def drain(self) -> None:
        """Write what was taken.

        Raises:
            OSError: nobody reads it any more.
        """
        await self._out.drain()


__all__ = ["Screen", "SlowOut"]
