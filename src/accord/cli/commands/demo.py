"""`accord demo`: a talk with the built-in agent about a small project with a mistake in it.

The project is made anew in a folder that is thrown away, so nothing of the user's is touched, and
nothing is stored.
"""

from __future__ import annotations

import os
import signal
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import anyio

from accord.discovery.config import load_config
from accord.errors import ConfigError
from accord.machine.own_command_line import own_command
from accord.terminal.model.settings import Settings, settings_of, theme_for

if TYPE_CHECKING:
    from accord.terminal.engine.chat_controller import ChatController
    from accord.terminal.engine.launch_options import LaunchOptions

FIRST_MINUTE = (
    "what is this project?",
    "run the tests",
    "fix it",
    "rename mean to average",
    "/undo",
)
INTERRUPTED = 128 + signal.SIGINT
"""The exit code of a talk that Ctrl-C ended."""

WELCOME = (
    "This is a small project with a mistake in it, a copy that is thrown away when you leave."
    " Press Enter to say what is suggested, ? for the keys, Ctrl-Q to leave."
)
DESCRIPTION = """\
Opens the terminal client on a small project with a mistake in it.  There is no model behind the
agent and nothing leaves this machine; the project is a copy that is thrown away at the end.

Enter alone says the sentence that is suggested, ? shows the keys, Esc stops what the agent does,
and Ctrl-Q leaves.  --plain shows it line by line, without the full screen.

Where the input is not a terminal, or with --script, the suggested sentences are sent one after the
other and every question is answered with yes.
"""


def add_arguments(parser: ArgumentParser) -> None:
    """What `accord demo` takes."""
    parser.description = DESCRIPTION
    parser.add_argument("--yes", action="store_true", help="say yes to everything the agent asks")
    parser.add_argument("--plain", action="store_true", help="line by line, without full screen")
    parser.add_argument("--script", action="store_true", help="play the first minute by itself")
    parser.add_argument(
        "--prompt", action="append", metavar="TEXT", help="say this and end; may be repeated"
    )


def run(arguments: Namespace) -> int:
    """Run the demo; 0 when every turn came to its end."""
    with tempfile.TemporaryDirectory(prefix="accord-demo-") as scratch:
        folder = _project(scratch)
        try:
            code = _talk(folder, arguments)
        finally:
            # We are leaving; Ctrl-C would now only leave the folder behind.
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGINT, before)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code


def demo_agent() -> tuple[str, ...]:
    """The command of the agent in the demo: it stores nothing and asks no model."""
    return own_command("agent", "--in-memory", "--model", "offline")


def _project(scratch: str) -> str:
    from accord.builtin.demo_project import write_demo_project

    # With its real path: what tools print is compared with what the client was told.
    folder = Path(scratch).resolve() / "demo"
    folder.mkdir()
    write_demo_project(folder)
    return str(folder)


def _talk(folder: str, arguments: Namespace) -> int:
    """The exit code."""
    from accord.cli.commands.chat import is_full_screen, on_screen
    from accord.client.permissions.permissions import Permissions
    from accord.terminal.engine.chat_controller import ChatController
    from accord.terminal.engine.launch_options import LaunchOptions

    # Nothing of the user's is read or kept: no rules, no remembered answers, no log.
    desk = ChatController(permissions=Permissions(), settings=_settings())
    order = LaunchOptions(command=demo_agent(), name="demo", folder=folder)
    in_lines = arguments.plain or arguments.script or arguments.prompt or arguments.yes
    if is_full_screen(wanted=not in_lines):
        return on_screen(
            desk,
            order,
            {},
            suggestions=FIRST_MINUTE,
            welcome=WELCOME,
            on_hang_up=lambda: rmtree(Path(folder).parent, ignore_errors=True),
        )
    return _in_lines(desk, order, arguments)


def _settings() -> Settings:
    """The person's own look and keys; the demo works with any configuration, a broken one too."""
    try:
        return settings_of(load_config(), os.environ)
    except ConfigError:
        return Settings(theme=theme_for(os.environ))


def _in_lines(desk: ChatController, order: LaunchOptions, arguments: Namespace) -> int:
    from accord.terminal.plain.line_mode import run_plain
    from accord.terminal.plain.line_terminal import is_terminal, line_terminal

    by_itself = arguments.script or arguments.prompt or not is_terminal()
    prompts = arguments.prompt or FIRST_MINUTE
    with line_terminal(
        order.folder,
        prompts=prompts if by_itself else None,
        suggestions=FIRST_MINUTE,
        says_yes=arguments.yes,
    ) as terminal:
        printer = terminal.printer
        printer.note(f"A scratch project with a mistake in it is in {order.folder}")
        if not by_itself:
            printer.suggest("Try, one after the other:", FIRST_MINUTE)
            printer.note("Enter sends what is suggested. /help shows more, /quit leaves.")
        return anyio.run(run_plain, desk, order, terminal)
