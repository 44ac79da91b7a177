"""Answers that a person types, or that a pipe brings, read on the event loop.

No thread waits for input: one that did could not be stopped, and Ctrl-C would hang until Enter.

What always holds
    * Only a clear yes is a yes.  The end of the input, silence on a pipe and words that nobody
      understands are all a no.
    * Lines that come together are answers to one question after the other.
"""

import os
import sys
from collections.abc import Callable

import anyio

LINE_BYTES_MAX = 4096
"""A longer line is no answer."""

ATTEMPTS_MAX = 3
"""How often a question is put again because the answer was not understood."""

SILENCE_SECONDS_MAX = 30.0
"""How long an open pipe may say nothing.  A person may think as long as they like."""

_WORDS = {"y": True, "yes": True, "n": False, "no": False, "": False}


class Answers:
    """The lines of one file descriptor.  Guards: what was read and not used is kept."""

    def __init__(self, descriptor: int | None, *, is_terminal: bool) -> None:
        """Without a descriptor there is never an answer."""
        self._descriptor = descriptor
        self.is_terminal = is_terminal
        self._kept = b""

    @classmethod
    def of_stdin(cls) -> "Answers":
        """Whatever this process was started with."""
        # None, whatever the types say, where the descriptor was closed at the start.
        if sys.stdin is None or sys.stdin.closed:  # type: ignore[redundant-expr,unused-ignore]
            return cls(None, is_terminal=False)
        return cls(sys.stdin.fileno(), is_terminal=sys.stdin.isatty())

    async def yes(self, put: Callable[[str], object], show: Callable[[str], object]) -> bool:
        """Put a question until the answer is understood; `show` is told what it was taken for.

        `put` gets a word about the answer before, which is empty the first time.
        """
        remark = ""
        for _ in range(ATTEMPTS_MAX):
            put(remark)
            line = await self.line()
            if line is None:
                show("no (no answer came)")
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
        """The next line without its end; None where there is none."""
        while b"\n" not in self._kept:
            more = await self._more()
            if not more:
                last, self._kept = self._kept, b""
                return last.decode(errors="replace") if last else None
            # The front is kept: the end of an endless line must not look like an answer.
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
                # Not a thing that can be waited for, such as a file: reading it never blocks.
                pass
        if waiting.cancelled_caught:
            return b""
        try:
            return os.read(self._descriptor, LINE_BYTES_MAX)
        except OSError:
            return b""
