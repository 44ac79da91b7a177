"""`accord demo`: a chat with the built-in agent about a small project with a bug in it.

The project is created in a temporary folder, so no file of the user is touched, and nothing is
stored.
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

from accord.configuration.config_file import load_config
from accord.errors import ConfigError
from accord.machine.own_command_line import own_command
from accord.terminal.model.settings import Settings, settings_of
from accord.terminal.model.theme_detection import theme_for

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
"""The exit code of a chat that Ctrl-C ended."""

WELCOME = (
    "This is a small project with a bug in it, in a temporary folder that is deleted when you quit."
    " Press Enter to send the suggestion, ? for the keys, Ctrl-Q to quit."
)
DESCRIPTION = """\
Opens the terminal client in a small project with a bug in it.  The agent uses no model, and nothing
leaves this machine; the project is in a temporary folder that is deleted at the end.

Enter sends the suggested prompt, ? shows the keys, Esc stops the agent, and Ctrl-Q quits.  --plain
works line by line, without the full screen.

If the input is not a terminal, or with --script, the suggested prompts are sent one after the other
and every question is answered with yes.
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord demo`."""
    parser.description = DESCRIPTION
    parser.add_argument(
        "--yes", action="store_true", help="answer yes to every question of the agent"
    )
    parser.add_argument(
        "--plain", action="store_true", help="line by line, without the full screen"
    )
    parser.add_argument(
        "--script", action="store_true", help="send the suggested prompts automatically"
    )
    parser.add_argument(
        "--prompt",
        action="append",
        metavar="TEXT",
        help="send this prompt and exit; may be repeated",
    )


def run(arguments: Namespace) -> int:
    """Run the demo; return 0 if every turn finished."""
    with tempfile.TemporaryDirectory(prefix="accord-demo-") as scratch:
        folder = _project(scratch)
        try:
            code = _talk(folder, arguments)
        finally:
            # Ignore Ctrl-C now, so that the folder is deleted.
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGINT, before)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code


def demo_agent() -> tuple[str, ...]:
    """Return the command of the demo's agent, which stores nothing and uses no model."""
    return own_command("agent", "--in-memory", "--model", "offline")


def _project(scratch: str) -> str:
    from accord.builtin.demo_project import write_demo_project

    # The real path: output of tools is compared with the paths that the client knows.
    folder = Path(scratch).resolve() / "demo"
    folder.mkdir()
    write_demo_project(folder)
    return str(folder)


def _talk(folder: str, arguments: Namespace) -> int:
    from accord.cli.commands.chat import is_full_screen, on_screen
    from accord.client.permissions.permissions import Permissions
    from accord.terminal.engine.chat_controller import ChatController
    from accord.terminal.engine.launch_options import LaunchOptions

    # No rules, remembered answers or log of the user are read or written.
    controller = ChatController(permissions=Permissions(), settings=_settings())
    order = LaunchOptions(command=demo_agent(), name="demo", folder=folder)
    in_lines = arguments.plain or arguments.script or arguments.prompt or arguments.yes
    if is_full_screen(wanted=not in_lines):
        return on_screen(
            controller,
            order,
            {},
            suggestions=FIRST_MINUTE,
            welcome=WELCOME,
            on_hang_up=lambda: rmtree(Path(folder).parent, ignore_errors=True),
        )
    return _in_lines(controller, order, arguments)


def _settings() -> Settings:
    """Return the user's theme and keys, or the defaults if the configuration is broken."""
    try:
        return settings_of(load_config(), os.environ)
    except ConfigError:
        return Settings(theme=theme_for(os.environ))


def _in_lines(controller: ChatController, order: LaunchOptions, arguments: Namespace) -> int:
    from accord.terminal.plain.line_mode import run_plain
    from accord.terminal.plain.line_terminal import is_terminal, line_terminal

    is_scripted = arguments.script or arguments.prompt or not is_terminal()
    prompts = arguments.prompt or FIRST_MINUTE
    with line_terminal(
        order.folder,
        prompts=prompts if is_scripted else None,
        suggestions=FIRST_MINUTE,
        says_yes=arguments.yes,
    ) as terminal:
        printer = terminal.printer
        printer.note(f"A temporary project with a bug in it is in {order.folder}")
        if not is_scripted:
            printer.suggest("Try, one after the other:", FIRST_MINUTE)
            printer.note("Enter sends the suggestion. /help shows more, /quit quits.")
        return anyio.run(run_plain, controller, order, terminal)
