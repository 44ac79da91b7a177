"""Input from a user at a keyboard: lines, and single keys for questions.

This module does not know chats or agents; the conversation loop says what to ask for.

Invariants
    * A key that was pressed before a question was shown does not answer it, nor do several keys
      at once.
    * An unfinished line is kept, whatever comes in between; a line that the user discards is only
      in the history.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic

import anyio

from accord.client.login import run_in_terminal
from accord.terminal.model.text.display_text import one_line
from accord.terminal.plain.display.chat_printer import ChatPrinter
from accord.terminal.plain.display.line_screen import Screen
from accord.terminal.plain.input.input_requests import Ask
from accord.terminal.plain.input.key_reader import Keyboard
from accord.terminal.plain.input.line_editor import LineEditor, keys_of, name_of

GUARD_SECONDS = 1.0
"""How long a question ignores keys of a user who was typing something else."""

HOLD_SECONDS = 15.0
"""How long output waits for a user who paused in the middle of a line."""


class Person:
    """A user at a terminal, with suggestions for the next prompt."""

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
        # Returns the completions of a prefix.
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
        # Set while another program has the terminal, and the read that this cancels.
        self._lent: anyio.Event | None = None
        self._waiting: anyio.CancelScope | None = None

    def remember(self, texts: Sequence[str]) -> None:
        """Set the history, oldest first; each entry is shown on one line."""
        for text in texts:
            self._editor.remember(one_line(text))

    @property
    def begun(self) -> str:
        """The line that the user has not finished."""
        return self._editor.text

    @property
    def held_for(self) -> float | None:
        """How long output should wait because a line is being typed."""
        if self._lent is not None:
            return HOLD_SECONDS
        if not self._editor.text or self._ask is None or self._ask.kind == "key":
            return None
        left = self._pressed_at + HOLD_SECONDS - monotonic()
        return left if left > 0 else None

    async def read(self, ask: Ask) -> str | None:
        """Read a line or a key."""
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
        """Show the question again, if other output interrupted it.

        An unfinished line that was typed while the agent works comes back with the next key or
        when the agent is done; until then it would stand between the agent's output.
        """
        ask = self._ask
        if ask is None or self._screen.is_written_on or ask.kind == "working":
            return
        if ask.kind == "key":
            self._put(ask)
        else:
            self._invite(ask)

    def drop_line(self) -> None:
        """Discard the unfinished line; arrow up brings it back."""
        self._editor.drop()
        self._ahead.clear()
        self._screen.end_line()

    def forget_typed(self) -> None:
        """Discard what was typed so far: it does not answer the next question."""
        self._ahead.clear()
        self._keyboard.forget_typed()

    def resumed(self) -> None:
        """Restore the terminal's mode, which the shell may have changed."""
        if self._lent is None:
            self._keyboard.hide()
            self._screen.is_written_on = False
            self.refresh()

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
            # A half-typed prompt is not an answer to this question.
            begun = self._editor.text
            self._editor.take("")
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
        self.forget_typed()
        self._put(ask)
        await self._screen.drain()
        if self._says_yes and "y" in ask.keys:
            self._screen.echo(ask.keys["y"])
            return "y"
        shown_at = monotonic()
        text = await self._keys()
        while text and self._editor.text and monotonic() - shown_at < GUARD_SECONDS:
            # The user was in the middle of a line and continues it.
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
        # The answer is echoed behind the question.
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

    async def lend(self, command: Sequence[str], env: Mapping[str, str]) -> int:
        """Run a login or an editor in this terminal and return its exit code.

        Raises:
            SpawnFailed: the program cannot be started.
        """
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
