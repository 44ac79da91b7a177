"""`accord chat`: talk to any agent, on the full screen or line by line."""

from __future__ import annotations

import os
import signal
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec

from accord.cli.agent_setup.chat import make_desk, orders_of
from accord.cli.console import complain
from accord.cli.run.job import UsageError
from accord.discovery.config import load_config
from accord.errors import ConfigError
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.model.settings import THEMES, settings_of

USAGE_CODE = 2
INTERRUPTED = 128 + signal.SIGINT

DESCRIPTION = """\
Opens a conversation with an agent: by the name that the configuration has for it, by any command
after --, or the built-in one.  Without a name, and with agents in the configuration, you choose.

--plain shows it line by line, without the full screen: for screen readers, dumb terminals and
pipes.  It is used by itself where there is no terminal.
"""
EPILOG = """\
examples:
  accord chat
  accord chat --continue
  accord chat codex --mode plan
  accord chat --add-dir ../library --mcp servers.json -- goose acp
"""


def add_arguments(parser: ArgumentParser) -> None:
    """What `accord chat` takes."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord chat [NAME | -- COMMAND] [options]"
    add = parser.add_argument
    add("agent", nargs="?", metavar="NAME", help="an agent of the configuration, or built-in")
    add("--cwd", metavar="DIR", default=".", help="the folder to work in (default: this one)")
    add("--add-dir", metavar="DIR", action="append", default=[], help="one more folder")
    add("--mcp", metavar="FILE|NAME", action="append", default=[], help="MCP servers to hand on")
    add("--mode", metavar="MODE", help="the agent's mode")
    add("--model", metavar="MODEL", help="the agent's model")
    going_on = parser.add_mutually_exclusive_group()
    going_on.add_argument("--session", metavar="ID", help="go on with this session")
    going_on.add_argument(
        "--continue", dest="go_on", action="store_true", help="go on with the last session here"
    )
    add("--plain", action="store_true", help="line by line, without the full screen")
    add("--theme", choices=tuple(THEMES), help="the colours")


def run(arguments: Namespace) -> int:
    """Talk; 0 when the person leaves, 2 where the command line cannot be."""
    try:
        config = load_config()
        settings = settings_of(config, os.environ)
        if arguments.theme is not None:
            settings = replace(settings, theme=THEMES[arguments.theme])
        for warning in (*config.warnings, *settings.warnings):
            complain(f"accord: {warning}")
        order, choices = orders_of(arguments, config, settings)
        roots = next(iter(choices.values())).roots
        desk = make_desk(config, settings, roots)
        if is_full_screen(wanted=not arguments.plain):
            return on_screen(desk, order, choices)
        return _in_lines(desk, order, choices)
    except (UsageError, ConfigError) as error:
        # Some of it may be the words of a file.
        complain(f"accord chat: {error}")
        return USAGE_CODE


def is_full_screen(*, wanted: bool) -> bool:
    """Whether the full screen is to be used: it is wanted, there is one, and what draws it is."""
    if not wanted or os.environ.get("TERM", "dumb") in ("dumb", "unknown", ""):
        return False
    from accord.terminal.plain.line_terminal import is_terminal

    if not is_terminal():
        return False
    if find_spec("textual") is None:
        said = "accord: the full screen needs textual (install accord[tui]); so line by line:"
        complain(said)
        return False
    return True


def on_screen(
    desk: ChatController,
    order: LaunchOptions | None,
    choices: Mapping[str, LaunchOptions],
    *,
    suggestions: Sequence[str] = (),
    welcome: str = "",
    on_hang_up: Callable[[], None] | None = None,
) -> int:
    """The full screen, until the person leaves; `on_hang_up` is for when the terminal goes."""
    from accord.terminal.engine.garbage_collection import look_seldom

    # Before all that is loaded now, in which there is no garbage.
    look_seldom()
    # A size that was written down somewhere is not the terminal's after a change of it.
    for stale in ("COLUMNS", "LINES"):
        os.environ.pop(stale, None)
    from accord.terminal.screen.app import AccordApp

    app = AccordApp(desk, order, choices, suggestions=suggestions, welcome=welcome)
    app.on_hang_up = on_hang_up
    app.run()
    return app.return_code or 0


def _in_lines(
    desk: ChatController, order: LaunchOptions | None, choices: Mapping[str, LaunchOptions]
) -> int:
    import anyio

    from accord.terminal.model.prompt.history import History
    from accord.terminal.plain.line_mode import run_plain
    from accord.terminal.plain.line_terminal import is_terminal, line_terminal

    if order is None and not is_terminal():
        known = ", ".join(choices)
        raise UsageError(f"say which agent: accord chat NAME ({known})")
    folder = (order or next(iter(choices.values()))).folder
    with line_terminal(folder, history=History()) as terminal:
        code = anyio.run(run_plain, desk, order, terminal, choices)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code
