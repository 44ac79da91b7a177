"""Input without a user: lines of a pipe, or a script.

This module does not know chats or agents; the conversation loop says what to ask for.

Invariants
    * A pipe is read one line at a time, when a prompt or an answer is needed.
    * A script approves every permission request, and nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence

import anyio

from accord.machine.console.control_characters import visible
from accord.terminal.model.text.display_text import one_line
from accord.terminal.plain.display.chat_printer import ChatPrinter
from accord.terminal.plain.display.line_screen import Screen
from accord.terminal.plain.input.input_requests import Ask

LINE_BYTES_MAX = 1 << 20
"""A longer line of a pipe is cut."""

PIECE_BYTES = 65_536


class Pipe:
    """Lines of a pipe or a file."""

    is_person = False

    def __init__(self, descriptor: int | None, printer: ChatPrinter, screen: Screen) -> None:
        """Without a descriptor there are no lines."""
        self.on_change: Callable[[], None] = lambda: None
        self._descriptor = descriptor
        self._printer = printer
        self._screen = screen
        self._kept = b""

    held_for = None

    async def read(self, ask: Ask) -> str | None:
        """The next line; none is read while the agent works."""
        if ask.kind == "working":
            await anyio.sleep_forever()
        if ask.kind == "prompt":
            return await self._next()
        if ask.remark:
            self._printer.said("    ", ask.remark, "yellow")
        self._screen.write(self._printer.question_mark(ask.words))
        await self._screen.drain()
        try:
            line = await self._next()
        except BaseException:
            self._screen.write("\n")
            raise
        if line is None:
            self._screen.write("(no answer)\n")
            return None
        said = line.strip()
        if ask.kind == "secret":
            self._screen.write("(given)\n")
            return said
        self._screen.write(f"{one_line(said)}\n")
        if ask.kind == "key":
            meant = {word: key for key, word in ask.keys.items()}
            return meant.get(said.lower(), said.lower())
        return said

    def refresh(self) -> None:
        """Do nothing, because there is no screen."""

    def drop_line(self) -> None:
        """Return nothing, because nobody types."""

    def forget_typed(self) -> None:
        """Do nothing, because nobody types."""

    def resumed(self) -> None:
        """Do nothing, because there is no screen."""

    async def _next(self) -> str | None:
        while b"\n" not in self._kept:
            more = await self._more()
            if not more:
                last, self._kept = self._kept, b""
                return visible(last.decode(errors="replace")) if last else None
            self._kept = self._kept[:LINE_BYTES_MAX] + more
        line, _, self._kept = self._kept.partition(b"\n")
        return visible(line.decode(errors="replace"))

    async def _more(self) -> bytes:
        if self._descriptor is None:
            return b""
        try:
            await anyio.wait_readable(self._descriptor)
        except OSError:
            # A file cannot be polled, and reading it never blocks.
            pass
        try:
            return os.read(self._descriptor, PIECE_BYTES)
        except OSError:
            return b""


class Script:
    """Prompts that are sent one after the other."""

    is_person = False
    held_for = None

    def __init__(self, prompts: Sequence[str], printer: ChatPrinter, screen: Screen) -> None:
        self.on_change: Callable[[], None] = lambda: None
        self._prompts: Iterator[str] = iter(prompts)
        self._printer = printer
        self._screen = screen

    async def read(self, ask: Ask) -> str | None:
        """The next prompt, or yes."""
        if ask.kind == "working":
            await anyio.sleep_forever()
        if ask.kind == "prompt":
            return next(self._prompts, None)
        yes = "y" if "y" in ask.keys else None
        shown = ask.keys["y"] if yes else "(no answer)"
        mark = self._printer.question_mark(ask.words)
        self._screen.write(f"{self._printer.paint(mark, 'yellow')}{shown}\n")
        return yes

    def refresh(self) -> None:
        """Do nothing, because there is no screen."""

    def drop_line(self) -> None:
        """Return nothing, because nobody types."""

    def forget_typed(self) -> None:
        """Do nothing, because nobody types."""

    def resumed(self) -> None:
        """Do nothing, because there is no screen."""


def stdin_descriptor() -> int | None:
    """Standard input; None if it was closed at the start."""
    stdin = sys.stdin
    if stdin is None or stdin.closed:  # type: ignore[redundant-expr,unused-ignore]
        return None
    return stdin.fileno()
