"""Asks for a login method at the terminal, and shows the agent's stderr during the login.

Must not know how a login is done.

What always holds
    * The question is asked only at a terminal; input typed before it is not an answer.
    * The agent's stderr is shown during a login, because it often has the address to visit.
"""

from __future__ import annotations

import codecs
import shlex
import sys
from collections.abc import Sequence

from accord.cli.console import complain, ends_line
from accord.cli.typed_answers import ATTEMPTS_MAX, Answers, discard_typed_input, has_keyboard
from accord.client.wire.wire_interface import AuthMethod
from accord.machine.console.control_characters import visible_line

KNOWN_KINDS = frozenset({"agent", "terminal"})
"""The kinds of login that Accord supports."""

LINE_CHARACTERS_MAX = 4096
"""A longer line of the agent's stderr is shown in pieces."""


def login_command(name: str | None, command: Sequence[str] | None) -> str:
    """Return the command that logs in to this agent."""
    if command is not None:
        return f"accord login -- {shlex.join(command)}"
    return "accord login" if name is None else f"accord login {shlex.quote(name)}"


def is_attended() -> bool:
    """Whether a user can see and answer questions."""
    return has_keyboard() and sys.stderr.isatty()


def usable(methods: Sequence[AuthMethod]) -> list[AuthMethod]:
    """Return the supported login methods."""
    return [method for method in methods if method.kind in KNOWN_KINDS]


class LoginQuestion:
    """Asks for a login method.  Guards: the choice, and whether the login is running."""

    def __init__(self) -> None:
        self.chosen: AuthMethod | None = None
        self.was_asked = False
        self.is_under_way = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""

    @property
    def is_in_terminal(self) -> bool:
        """Whether the chosen login runs in the terminal."""
        return self.chosen is not None and self.chosen.kind == "terminal"

    async def choose(self, methods: Sequence[AuthMethod]) -> str | None:
        """Return the id of the chosen login method; None if the user declines."""
        self.was_asked = True
        self.chosen = await self._asked(usable(methods))
        self.is_under_way = self.chosen is not None
        return None if self.chosen is None else self.chosen.method_id

    async def _asked(self, methods: Sequence[AuthMethod]) -> AuthMethod | None:
        if not methods:
            return None
        complain("The agent needs a login. Login methods:")
        for number, method in enumerate(methods, 1):
            complain(f"  {number}  {described(method)}")
        descriptor = sys.stdin.fileno()
        discard_typed_input(descriptor)
        answers = Answers(descriptor, is_terminal=True)
        for _ in range(ATTEMPTS_MAX):
            complain("Number (press Enter for none): ", end="")
            line = None
            try:
                line = await answers.line()
            finally:
                # Ctrl-C and Ctrl-D do not end the line.
                if line is None:
                    complain("")
                else:
                    ends_line()
            said = (line or "").strip()
            if not said:
                return None
            if said.isdecimal() and 1 <= int(said) <= len(methods):
                return methods[int(said) - 1]
            complain(f"Please enter a number from 1 to {len(methods)}.")
        return None

    def heard(self, data: bytes) -> None:
        """Show the agent's stderr line by line during a login."""
        if not self.is_under_way:
            return
        *lines, self._begun = (self._begun + self._decoder.decode(data)).split("\n")
        for line in lines:
            complain(line)
        if len(self._begun) > LINE_CHARACTERS_MAX:
            self.finish()

    def finish(self) -> None:
        """Show the unfinished last line."""
        if self._begun:
            complain(self._begun)
        self._begun = ""

    def done(self) -> None:
        """End the login; the agent's stderr is not shown any more."""
        self.finish()
        self.is_under_way = False


def described(method: AuthMethod) -> str:
    """Describe a login method on one line."""
    where = " (in this terminal)" if method.kind == "terminal" else ""
    more = f": {visible_line(method.description)}" if method.description else ""
    return f"{visible_line(method.name) or visible_line(method.method_id)}{where}{more}"
