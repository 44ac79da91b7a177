"""Who answers in line mode: a person at a keyboard, lines of a pipe, or a script.

Must not know chats or agents; `talk.py` says what to ask for.

What always holds
    * A key that was pressed before a question stood there is no answer to it, and neither are
      several that come at once.
    * What a person has begun to write is kept, whatever comes in between.
    * A pipe is read when something is asked for, and no further: its lines are prompts and
      answers in the order in which they are needed.
    * A script says yes to every permission, and to nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import Protocol

import anyio

from accord.client.auth import run_in_terminal
from accord.terminal.model.cleaning import harmless, one_line
from accord.terminal.plain.editing import LineEditor, keys_of, name_of
from accord.terminal.plain.keyboard import Keyboard
from accord.terminal.plain.line_asks import Ask
from accord.terminal.plain.screen import Screen
from accord.terminal.plain.view import ChatPrinter

HOLD_SECONDS = 15.0
"""How long what the agent says waits for a person who has begun to write and writes no more."""

LINE_BYTES_MAX = 1 << 20
"""A longer line of a pipe is cut."""

PIECE_BYTES = 65_536


class Listener(Protocol):
    """Who is listened to."""

    # Whether a person sees what they write, so that it need not be told again.
    is_person: bool
    # Told when a line was ended or left, so that what waits can be told.
    on_change: Callable[[], None]

    @property
    def held_for(self) -> float | None:
        """Seconds for which nothing is to be told, because somebody writes; None: tell."""
        ...

    async def read(self, ask: Ask) -> str | None:
        """The answer; None when there will be no more.  May be cancelled at any time."""
        ...

    def refresh(self) -> None:
        """Something was told: show again what is asked for."""
        ...

    def drop_line(self) -> None:
        """What was begun is not meant any more."""
        ...


class Person:
    """Somebody in front of a terminal, with suggestions for what to say next."""

    is_person = True

    def __init__(
        self,
        keyboard: Keyboard,
        screen: Screen,
        printer: ChatPrinter,
        suggestions: Sequence[str] = (),
        *,
        says_yes: bool = False,
    ) -> None:
        self.on_change: Callable[[], None] = lambda: None
        # Knows the words that a beginning may become.
        self.complete: Callable[[str], Sequence[str]] = lambda _: ()
        self._keyboard = keyboard
        self._screen = screen
        self._printer = printer
        self._suggestions = list(suggestions)
        self._says_yes = says_yes
        self._editor = LineEditor(self._completed)
        self._ask: Ask | None = None
        self._ahead: list[str] = []
        self._pressed_at = -HOLD_SECONDS
        # Set while another program has the terminal, and the wait for a key that it ends.
        self._lent: anyio.Event | None = None
        self._waiting: anyio.CancelScope | None = None

    @property
    def held_for(self) -> float | None:
        """While a line is being written, for as long as it is written on."""
        if self._lent is not None:
            return HOLD_SECONDS
        if not self._editor.text or self._ask is None or self._ask.kind == "key":
            return None
        left = self._pressed_at + HOLD_SECONDS - monotonic()
        return left if left > 0 else None

    async def read(self, ask: Ask) -> str | None:
        """What they write, or the key that they press."""
        self._ask = ask
        try:
            if ask.kind == "key":
                return await self._key(ask)
            return await self._line(ask)
        finally:
            self._ask = None
            if ask.kind in ("line", "secret", "key"):
                self._screen.end_line()
                self._editor.is_secret = False

    def refresh(self) -> None:
        """Show again what is asked for, if it was left because something was told.

        A line that was begun while the agent works comes back with the next key, or when it is
        done: until then it would stand between all that the agent says.
        """
        ask = self._ask
        if ask is None or self._screen.is_written_on or ask.kind == "working":
            return
        if ask.kind == "key":
            self._put(ask)
        else:
            self._invite(ask)

    def drop_line(self) -> None:
        """What was begun is not meant any more."""
        self._editor.take("")
        self._ahead.clear()
        self._screen.end_line()

    def _invite(self, ask: Ask) -> None:
        editor = self._editor
        editor.width = self._printer.width
        editor.is_secret = ask.kind == "secret"
        editor.keeps_history = ask.kind in ("prompt", "working")
        editor.suggestion = None
        editor.mark = ask.words
        if ask.kind == "prompt":
            self._printer.gap()
            if self._suggestions and not editor.text and ask.words == "> ":
                editor.suggestion = self._suggestions[0]
                self._printer.note(f"Enter: {editor.suggestion}")
        elif ask.kind != "working":
            if ask.remark:
                self._printer.said("    ", ask.remark, "yellow")
            editor.mark = self._printer.question_mark(ask.words)
        shown = editor.shown()
        mark = self._printer.paint(editor.mark, "bold" if editor.keeps_history else "yellow")
        self._screen.echo(mark + shown[len(editor.mark) :])

    async def _line(self, ask: Ask) -> str | None:
        if ask.kind in ("line", "secret"):
            # What was begun for the agent is no answer to this.
            begun = self._editor.text
            self._editor.take("")
            self._ahead.clear()
            try:
                return await self._written(ask)
            finally:
                self._editor.take(begun)
        return await self._written(ask)

    async def _written(self, ask: Ask) -> str | None:
        if ask.kind != "working" or self._editor.text:
            self._invite(ask)
        while True:
            await self._screen.drain()
            if not self._ahead:
                text = await self._keys()
                if text is None:
                    return None
                self._ahead = keys_of(text)
            self._pressed_at = monotonic()
            while self._ahead:
                key = self._ahead.pop(0)
                if not self._screen.is_written_on:
                    if ask.kind == "working" and name_of(key) in ("enter", "end_of_input"):
                        continue
                    self._invite(ask)
                pressed = self._editor.press(key)
                self._screen.echo(pressed.echo)
                if pressed.line is not None:
                    self._screen.end_line()
                    self._use_suggestion(pressed.line)
                    return pressed.line
                if pressed.is_end and ask.kind != "working":
                    self._screen.end_line()
                    return None
                if pressed.is_escape and ask.kind in ("line", "secret"):
                    return None
            if not self._editor.text:
                if ask.kind == "working":
                    self._screen.end_line()
                self.on_change()

    def _use_suggestion(self, line: str) -> None:
        text = line.strip()
        if text in self._suggestions:
            del self._suggestions[: self._suggestions.index(text) + 1]

    async def _key(self, ask: Ask) -> str | None:
        self._ahead.clear()
        self._keyboard.forget_typed()
        self._put(ask)
        await self._screen.drain()
        if self._says_yes and "y" in ask.keys:
            self._screen.echo(ask.keys["y"])
            return "y"
        text = await self._keys()
        if text is None:
            return None
        key = text.lower()
        if name_of(key) in ("enter", "escape", "end_of_input"):
            self._screen.echo(ask.keys.get("n", "closed"))
            return ""
        self._screen.echo(ask.keys.get(key) or "?")
        return key

    def _put(self, ask: Ask) -> None:
        if ask.remark:
            self._printer.said("    ", ask.remark, "yellow")
        # The answer stands behind the question.
        mark = self._printer.question_mark(ask.words)
        self._screen.echo(self._printer.paint(mark, "yellow"))

    def _completed(self, begun: str) -> Sequence[str]:
        return self.complete(begun)

    async def _keys(self) -> str | None:
        while True:
            if self._lent is not None:
                await self._lent.wait()
            with anyio.CancelScope() as self._waiting:
                return await self._keyboard.read()

    async def run_login(self, command: Sequence[str], env: Mapping[str, str]) -> int:
        """Run a login in this terminal, which is lent to it."""
        self._screen.end_line()
        await self._screen.drain()
        self._lent = anyio.Event()
        if self._waiting is not None:
            self._waiting.cancel()
        try:
            with self._keyboard.lent():
                return await run_in_terminal(command, env)
        finally:
            self._lent.set()
            self._lent = None
            self.on_change()


class Pipe:
    """Lines that come from a pipe or a file."""

    is_person = False

    def __init__(self, descriptor: int | None, printer: ChatPrinter, screen: Screen) -> None:
        """Without a descriptor there is never a line."""
        self.on_change: Callable[[], None] = lambda: None
        self._descriptor = descriptor
        self._printer = printer
        self._screen = screen
        self._kept = b""

    held_for = None

    async def read(self, ask: Ask) -> str | None:
        """The next line; while the agent works none is read."""
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
        """Nothing is shown."""

    def drop_line(self) -> None:
        """Nothing was begun."""

    async def _next(self) -> str | None:
        while b"\n" not in self._kept:
            more = await self._more()
            if not more:
                last, self._kept = self._kept, b""
                return harmless(last.decode(errors="replace")) if last else None
            self._kept = self._kept[:LINE_BYTES_MAX] + more
        line, _, self._kept = self._kept.partition(b"\n")
        return harmless(line.decode(errors="replace"))

    async def _more(self) -> bytes:
        if self._descriptor is None:
            return b""
        try:
            await anyio.wait_readable(self._descriptor)
        except OSError:
            # Not a thing that can be waited for, such as a file: reading it never blocks.
            pass
        try:
            return os.read(self._descriptor, PIECE_BYTES)
        except OSError:
            return b""


class Script:
    """Prompts that are said one after the other."""

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
        """Nothing is shown."""

    def drop_line(self) -> None:
        """Nothing was begun."""


def stdin_descriptor() -> int | None:
    """Standard input; None where it was closed at the start."""
    stdin = sys.stdin
    if stdin is None or stdin.closed:  # type: ignore[redundant-expr,unused-ignore]
        return None
    return stdin.fileno()


__all__ = ["HOLD_SECONDS", "Listener", "Person", "Pipe", "Script", "stdin_descriptor"]
