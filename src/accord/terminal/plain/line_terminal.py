"""The terminal of the line mode: what is written to, how it is written, who answers."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper

from accord.terminal.model.prompt.history import History
from accord.terminal.plain.display.chat_printer import ChatPrinter
from accord.terminal.plain.display.line_screen import Screen
from accord.terminal.plain.display.output_stream import Output
from accord.terminal.plain.input.input_requests import Listener
from accord.terminal.plain.input.interactive_input import Person
from accord.terminal.plain.input.key_reader import Keyboard
from accord.terminal.plain.input.scripted_input import Pipe, Script, stdin_descriptor


@dataclass(frozen=True, slots=True)
class LineTerminal:
    """What `talk` needs: the screen, the printer that writes to it, and who is listened to."""

    screen: Screen
    printer: ChatPrinter
    listener: Listener
    # What the user said before, in every session; None if nothing of theirs is touched.
    history: History | None = None


@contextmanager
def line_terminal(
    folder: str,
    *,
    prompts: Sequence[str] | None = None,
    suggestions: Sequence[str] = (),
    says_yes: bool = False,
    history: History | None = None,
) -> Generator[LineTerminal]:
    """This process's own: a user where there is a terminal, lines of a pipe where there is none.

    With `prompts` nobody is listened to: these are said, and permissions are answered with yes.
    With `history` what the user says is remembered.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        # Replace characters that the terminal cannot show.
        sys.stdout.reconfigure(errors="replace")
    screen = Screen(Output(sys.stdout))
    printer = ChatPrinter(screen, folder)
    if prompts is not None:
        yield LineTerminal(screen, printer, Script(prompts, printer, screen))
        return
    if not is_terminal():
        yield LineTerminal(screen, printer, Pipe(stdin_descriptor(), printer, screen))
        return
    keyboard = Keyboard(sys.stdin.fileno())
    person = Person(keyboard, screen, printer, suggestions, says_yes=says_yes)
    with keyboard.watched():
        yield LineTerminal(screen, printer, person, history)


def is_terminal() -> bool:
    """Whether a user sits there: what they type and what they see both are a terminal."""
    # None, whatever the types say, where the descriptor was closed at the start.
    stdin = sys.stdin
    if stdin is None or stdin.closed:  # type: ignore[redundant-expr,unused-ignore]
        return False
    return stdin.isatty() and sys.stdout.isatty()


__all__ = ["LineTerminal", "is_terminal", "line_terminal"]
