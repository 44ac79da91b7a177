"""Which login to use, asked at the terminal, and what the agent says meanwhile.

Must not know how a login is done.

What always holds
    * Nobody is asked unless a person sits at the terminal; what was typed before is no answer.
    * The agent's stderr is shown while a login is under way: the page to visit is often told there.
"""

from __future__ import annotations

import codecs
import shlex
import sys
from collections.abc import Sequence

from accord.cli.agent_setup.permissions import forget_what_was_typed, has_keyboard
from accord.cli.console import complain, ends_line
from accord.cli.typed_answers import ATTEMPTS_MAX, Answers
from accord.client.wire.wire import AuthMethod
from accord.machine.console.control_characters import visible_line

KNOWN_KINDS = frozenset({"agent", "terminal"})
"""Kinds of logins that we can do."""

LINE_CHARACTERS_MAX = 4096
"""Of a line of the agent's stderr; what is longer is shown in pieces."""


def login_command(name: str | None, command: Sequence[str] | None) -> str:
    """What a person types to log in to this agent."""
    if command is not None:
        return f"accord login -- {shlex.join(command)}"
    return "accord login" if name is None else f"accord login {shlex.quote(name)}"


def is_attended() -> bool:
    """Whether a person sees our questions and can answer them."""
    return has_keyboard() and sys.stderr.isatty()


def usable(methods: Sequence[AuthMethod]) -> list[AuthMethod]:
    """Those logins that can be done from here."""
    return [method for method in methods if method.kind in KNOWN_KINDS]


class LoginQuestion:
    """Asks for one of an agent's logins.  Guards: what was chosen, and whether that is done."""

    def __init__(self) -> None:
        self.chosen: AuthMethod | None = None
        self.was_asked = False
        self.is_under_way = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""

    @property
    def is_in_terminal(self) -> bool:
        """Whether the login that was chosen runs in the terminal."""
        return self.chosen is not None and self.chosen.kind == "terminal"

    async def choose(self, methods: Sequence[AuthMethod]) -> str | None:
        """The id of the login that the person wants; None where they want none."""
        self.was_asked = True
        self.chosen = await self._asked(usable(methods))
        self.is_under_way = self.chosen is not None
        return None if self.chosen is None else self.chosen.method_id

    async def _asked(self, methods: Sequence[AuthMethod]) -> AuthMethod | None:
        if not methods:
            return None
        complain("The agent wants you to log in. Ways to do that:")
        for number, method in enumerate(methods, 1):
            complain(f"  {number}  {described(method)}")
        descriptor = sys.stdin.fileno()
        forget_what_was_typed(descriptor)
        answers = Answers(descriptor, is_terminal=True)
        for _ in range(ATTEMPTS_MAX):
            complain("Which number? (Enter for none) ", end="")
            line = None
            try:
                line = await answers.line()
            finally:
                # Ctrl-C and Ctrl-D end no line.
                if line is None:
                    complain("")
                else:
                    ends_line()
            said = (line or "").strip()
            if not said:
                return None
            if said.isdecimal() and 1 <= int(said) <= len(methods):
                return methods[int(said) - 1]
            complain(f"Please write a number from 1 to {len(methods)}.")
        return None

    def heard(self, data: bytes) -> None:
        """What the agent writes to its stderr, line by line."""
        if not self.is_under_way:
            return
        *lines, self._begun = (self._begun + self._decoder.decode(data)).split("\n")
        for line in lines:
            complain(line)
        if len(self._begun) > LINE_CHARACTERS_MAX:
            self.finish()

    def finish(self) -> None:
        """The agent's stderr has ended, or is not shown any more."""
        if self._begun:
            complain(self._begun)
        self._begun = ""

    def done(self) -> None:
        """The login is over; what the agent writes from now on is its own matter."""
        self.finish()
        self.is_under_way = False


def described(method: AuthMethod) -> str:
    """A login on one line."""
    where = " (in this terminal)" if method.kind == "terminal" else ""
    more = f": {visible_line(method.description)}" if method.description else ""
    return f"{visible_line(method.name) or visible_line(method.method_id)}{where}{more}"


__all__ = ["LoginQuestion", "described", "is_attended", "login_command", "usable"]
