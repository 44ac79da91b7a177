"""The terminal of the line mode: its output, its printer and its input."""

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
    """The screen, the printer that writes to it, and the source of lines."""

    screen: Screen
    printer: ChatPrinter
    listener: Listener
    # The user's prompt history; None if no files of the user are touched.
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
    """The terminal of this process, or the lines of a pipe if there is no terminal.

    With `prompts` nothing is read: these are sent, and permissions are answered with yes.  With
    `history` the user's prompts are remembered.
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
    """Whether both input and output are terminals."""
    # None, despite its type, if the descriptor was closed at the start.
    stdin = sys.stdin
    if stdin is None or stdin.closed:  # type: ignore[redundant-expr,unused-ignore]
        return False
    return stdin.isatty() and sys.stdout.isatty()
