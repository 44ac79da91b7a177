"""Reads answers from a terminal or a pipe on the event loop.

No thread waits for input, because it could not be stopped: Ctrl-C would hang until Enter.

What always holds
    * Only a clear yes is a yes.  The end of the input, silence on a pipe and unknown words mean no.
    * Lines that arrive together answer one question after the other.
"""

import contextlib
import os
import sys
import termios
from collections.abc import Callable
from typing import TextIO

import anyio

LINE_BYTES_MAX = 4096
"""The beginning of a longer line is kept, so that its end cannot look like an answer."""

ATTEMPTS_MAX = 3
"""How often a question is asked if the answer is not understood."""

SILENCE_SECONDS_MAX = 30.0
"""How long to wait for an open pipe.  A user at a terminal may take any time."""

_WORDS = {"y": True, "yes": True, "n": False, "no": False, "": False}


class Answers:
    """The lines of one file descriptor.  Guards: unused input is kept."""

    def __init__(self, descriptor: int | None, *, is_terminal: bool) -> None:
        """Create a reader; without a descriptor there is never an answer."""
        self._descriptor = descriptor
        self.is_terminal = is_terminal
        self._kept = b""

    async def yes(self, put: Callable[[str], object], show: Callable[[str], object]) -> bool:
        """Ask until the answer is understood; `show` gets the answer as it was understood.

        `put` gets a remark about the previous answer, empty the first time.
        """
        remark = ""
        for _ in range(ATTEMPTS_MAX):
            put(remark)
            line = await self.line()
            if line is None:
                show("no (no answer)")
                return False
            said = line.strip().lower()
            if said in _WORDS:
                if not self.is_terminal:
                    show("yes" if _WORDS[said] else "no")
                return _WORDS[said]
            if not self.is_terminal:
                show(said)
            remark = "Please answer y or n."
        return False

    async def line(self) -> str | None:
        """Return the next line without its line break, or None."""
        while b"\n" not in self._kept:
            more = await self._more()
            if not more:
                last, self._kept = self._kept, b""
                return last.decode(errors="replace") if last else None
            # Keep the beginning: the end of an endless line must not look like an answer.
            self._kept = self._kept[:LINE_BYTES_MAX] + more
        line, _, self._kept = self._kept.partition(b"\n")
        return line.decode(errors="replace")

    async def _more(self) -> bytes:
        if self._descriptor is None:
            return b""
        with anyio.move_on_after(None if self.is_terminal else SILENCE_SECONDS_MAX) as waiting:
            try:
                await anyio.wait_readable(self._descriptor)
            except OSError:
                # Not pollable, such as a file: reading it never blocks.
                pass
        if waiting.cancelled_caught:
            return b""
        try:
            return os.read(self._descriptor, LINE_BYTES_MAX)
        except OSError:
            return b""


def discard_typed_input(descriptor: int) -> None:
    """Drop input that was typed before the question was shown."""
    with contextlib.suppress(termios.error):
        termios.tcflush(descriptor, termios.TCIFLUSH)


def has_keyboard() -> bool:
    """Whether standard input is an open terminal."""
    stdin: TextIO | None = sys.stdin
    return stdin is not None and not stdin.closed and stdin.isatty()
