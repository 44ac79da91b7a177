"""Who talks to an agent in a terminal: a person at the keyboard, or a script.

What always holds
    * Only a key that says yes is a yes; Enter, Escape and the end of the input are a no.
    * A script says yes to everything, and the screen shows that it was asked.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from accord import Decision, PermissionRequest
from accord.cli.chat import CANCELLED, decision_of
from accord.cli.chat_view import ChatPrinter
from accord.cli.keyboard import Keyboard

QUESTION = "Allow it? (y)es (a)lways (n)o"
LEAVING = frozenset({"/quit", "/exit", "/q", "quit", "exit", "bye"})

# key -> what it stands for on the screen, and the kinds of options that it chooses.
_KEYS = {
    "y": ("yes", ("allow_once",)),
    "a": ("always", ("allow_always", "allow_once")),
    "n": ("no", ("reject_once", "reject_always")),
    "\n": ("no", ("reject_once", "reject_always")),
    "\r": ("no", ("reject_once", "reject_always")),
    "\x1b": ("no", ("reject_once", "reject_always")),
    "\x04": ("no", ("reject_once", "reject_always")),
}


class Person:
    """Somebody in front of the terminal, with suggestions for what to say next."""

    def __init__(
        self, keyboard: Keyboard, printer: ChatPrinter, suggestions: Sequence[str], *, yes: bool
    ) -> None:
        self._keyboard = keyboard
        self._printer = printer
        self._suggestions = list(suggestions)
        self._yes = yes

    async def prompt(self) -> str | None:
        """What they write; Enter alone takes the suggestion."""
        while True:
            typed_before = self._keyboard.has_typed
            with self._keyboard.writing():
                self._invite()
                line = await self._keyboard.line()
            if typed_before and line:
                # It was not shown here, where it is said.
                self._printer.answered(line)
            if line is None:
                # The cursor is still behind what was not written.
                sys.stdout.write("\n")
                return None
            text = line.strip()
            if not text and self._suggestions:
                text = self._suggestions[0]
                self._printer.took(text)
            if text in LEAVING:
                return None
            if text in self._suggestions:
                del self._suggestions[: self._suggestions.index(text) + 1]
            if text:
                return text

    async def answer(self, request: PermissionRequest) -> Decision:
        """One key."""
        if self._yes:
            return _said_yes(self._printer, request)
        remark = ""
        while True:
            # A key that was pressed before the question stood there is no answer to it.
            self._keyboard.forget_typed()
            self._printer.ask(remark, QUESTION)
            key = await self._keyboard.key()
            if key is None:
                return CANCELLED
            word, kinds = _KEYS.get(key.lower(), ("", ()))
            self._printer.answered(word or "?")
            if kinds:
                return decision_of(request, *kinds)
            remark = "Please press y, a or n."

    def interrupted(self) -> None:
        """There was nothing to cancel."""
        self._printer.answered("")
        self._printer.note("Ctrl-C once more leaves, and so does /quit.")
        self._invite()

    def _invite(self) -> None:
        self._printer.invite(self._suggestions[0] if self._suggestions else None)


class Script:
    """Prompts that are said one after the other."""

    def __init__(self, printer: ChatPrinter, prompts: Sequence[str]) -> None:
        self._printer = printer
        self._prompts: Iterator[str] = iter(prompts)

    async def prompt(self) -> str | None:
        """The next one."""
        text = next(self._prompts, None)
        if text is not None:
            self._printer.prompt(text)
        return text

    async def answer(self, request: PermissionRequest) -> Decision:
        """Yes."""
        return _said_yes(self._printer, request)

    def interrupted(self) -> None:
        """It comes between two prompts."""


def _said_yes(printer: ChatPrinter, request: PermissionRequest) -> Decision:
    printer.ask("", QUESTION)
    printer.answered("yes")
    return decision_of(request, "allow_once", "allow_always")


__all__ = ["Person", "Script"]
