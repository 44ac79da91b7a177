"""`accord demo`: a talk with the built-in agent about a small project with a mistake in it.

The project is made anew in a folder that is thrown away, so nothing of the user's is touched, and
nothing is stored.
"""

import signal
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from io import TextIOWrapper
from pathlib import Path

import anyio

from accord.cli.chat import Chat
from accord.cli.chat_view import ChatPrinter

FIRST_MINUTE = (
    "what is this project?",
    "run the tests",
    "fix it",
    "rename mean to average",
    "/undo",
)
SIGNAL_CODE = 128
"""What shells add to the number of a signal that ended a program."""

AGENT = ("-m", "accord", "agent", "--in-memory", "--model", "offline")

DESCRIPTION = """\
Starts the built-in agent on a small project with a mistake in it and lets you talk to it, line by
line.  There is no model behind it and nothing leaves this machine; the project is a copy that is
thrown away at the end.

Enter alone sends the sentence that is suggested; /help shows what else you can type.  Each question
is answered by one key.  Ctrl-C cancels what the agent does, twice it leaves, as /quit does.

Where the input is not a terminal, or with --script, the suggested sentences are sent one after the
other and every question is answered with yes.
"""


def add_arguments(parser: ArgumentParser) -> None:
    """What `accord demo` takes."""
    parser.description = DESCRIPTION
    parser.add_argument("--yes", action="store_true", help="say yes to everything the agent asks")
    parser.add_argument("--script", action="store_true", help="play the first minute by itself")
    parser.add_argument(
        "--prompt", action="append", metavar="TEXT", help="say this and end; may be repeated"
    )


def run(arguments: Namespace) -> int:
    """Run the demo; 0 when every turn came to its end."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A letter that the terminal does not know is no reason to end.
        sys.stdout.reconfigure(errors="replace")
    with tempfile.TemporaryDirectory(prefix="accord-demo-") as scratch:
        folder = _project(scratch)
        try:
            ended = _talk(folder, arguments)
        finally:
            # We are leaving; Ctrl-C would now only leave the folder behind.
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGINT, before)
    if ended is signal.SIGINT:
        raise KeyboardInterrupt
    return SIGNAL_CODE + ended if isinstance(ended, signal.Signals) else ended


def _project(scratch: str) -> str:
    from accord.builtin.demo_project import write_demo_project

    # With its real path: what tools print is compared with what the client was told.
    folder = Path(scratch).resolve() / "demo"
    folder.mkdir()
    write_demo_project(folder)
    return str(folder)


def _talk(folder: str, arguments: Namespace) -> int | signal.Signals:
    """The exit code, or the signal that ended it."""
    printer = ChatPrinter(sys.stdout, folder)
    printer.note(f"A scratch project with a mistake in it is in {folder}")
    command = (sys.executable, *AGENT)
    prompts = arguments.prompt or ()
    by_itself = arguments.script or prompts or not _is_terminal()
    if by_itself:
        from accord.cli.speakers import Script

        chat = Chat(printer, Script(printer, prompts or FIRST_MINUTE))
        anyio.run(chat.run, command, folder)
        done = all(reason == "end_turn" for reason in chat.stop_reasons)
        return chat.ended_by or (0 if done else 1)
    from accord.cli.keyboard import Keyboard
    from accord.cli.speakers import Person

    keyboard = Keyboard(sys.stdin.fileno())
    printer.suggest("Try, one after the other:", FIRST_MINUTE)
    printer.note("Enter sends what is suggested. /help shows more, /quit leaves.")
    chat = Chat(printer, Person(keyboard, printer, FIRST_MINUTE, yes=arguments.yes))
    with keyboard.watched():
        anyio.run(chat.run, command, folder)
    return chat.ended_by or 0


def _is_terminal() -> bool:
    # None, whatever the types say, where the descriptor was closed at the start.
    stdin = sys.stdin
    if stdin is None or stdin.closed:  # type: ignore[redundant-expr,unused-ignore]
        return False
    return stdin.isatty() and sys.stdout.isatty()
