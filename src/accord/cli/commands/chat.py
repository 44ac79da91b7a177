"""`accord chat`: chat with any agent, full screen or line by line."""

from __future__ import annotations

import os
import signal
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec

from accord.cli.agent_setup.chat_agents import orders_of
from accord.cli.agent_setup.permissions import PermissionFlags, deciding
from accord.cli.agent_setup.remote_agent_command import add_remote_arguments
from accord.cli.agent_setup.sandbox import add_sandbox_arguments
from accord.cli.agent_setup.session_arguments import add_session_arguments
from accord.cli.console import complain
from accord.cli.usage_error import UsageError
from accord.client.audit.log import AuditLog
from accord.configuration.config_file import Config, load_config
from accord.configuration.dialects_file import dialect_memory
from accord.configuration.user_paths import audit_file
from accord.errors import ConfigError, SpawnFailed
from accord.machine.sandbox.options import SandboxRefused
from accord.terminal.engine.chat_controller import ChatController
from accord.terminal.engine.launch_options import LaunchOptions
from accord.terminal.model.settings import THEMES, Settings, settings_of

USAGE_CODE = 2
INTERRUPTED = 128 + signal.SIGINT

DESCRIPTION = """\
Opens a chat with an agent: one from the configuration (NAME), a remote one (URL), any other (a
command after --), or the built-in agent.  Without a name you can choose among the configured
agents.

--plain works line by line, without the full screen: for screen readers, dumb terminals and pipes.
It is the default without a terminal.
"""
EPILOG = """\
examples:
  accord chat
  accord chat --continue
  accord chat codex --mode plan
  accord chat --add-dir ../library --mcp servers.json -- goose acp
  accord chat --sandbox -- codex-acp
  accord chat wss://agents.example.com/acp --token-env AGENT_TOKEN
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord chat`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord chat [NAME | URL | -- COMMAND] [options]"
    add = parser.add_argument
    names = "an agent from the configuration, built-in, or the URL of a remote agent"
    add("agent", nargs="?", metavar="NAME|URL", help=names)
    add_session_arguments(parser)
    going_on = parser.add_mutually_exclusive_group()
    going_on.add_argument("--session", metavar="ID", help="resume this session")
    going_on.add_argument(
        "--continue",
        dest="go_on",
        action="store_true",
        help="resume the last session in this folder",
    )
    add("--plain", action="store_true", help="line by line, without the full screen")
    add("--theme", choices=tuple(THEMES), help="the colour theme")
    add_sandbox_arguments(parser)
    add_remote_arguments(parser)


def run(arguments: Namespace) -> int:
    """Chat until the user quits; return 2 for a wrong command line."""
    try:
        config = load_config()
        settings = settings_of(config, os.environ)
        if arguments.theme is not None:
            settings = replace(settings, theme=THEMES[arguments.theme])
        for warning in (*config.warnings, *settings.warnings):
            complain(f"accord: {warning}")
        order, choices = orders_of(arguments, config, settings)
        if order is not None:
            with suppress(SpawnFailed):
                # An agent that cannot be put into its sandbox is wrong usage; nothing is drawn.
                order.start_command()
        roots = next(iter(choices.values())).roots
        controller = make_controller(config, settings, roots)
        if is_full_screen(wanted=not arguments.plain):
            return on_screen(controller, order, choices)
        return _in_lines(controller, order, choices)
    except (UsageError, ConfigError, SandboxRefused) as error:
        # The message may quote a file.
        complain(f"accord chat: {error}")
        return USAGE_CODE


def make_controller(config: Config, settings: Settings, roots: tuple[str, ...]) -> ChatController:
    """Return a chat controller with the user's rules, remembered answers and audit log.

    Raises:
        ConfigError: a policy or the remembered answers cannot be read.
    """
    decides = deciding(PermissionFlags(ask=True), config, roots, attended=True)
    log = None
    if config.permissions.audit:
        size = config.permissions.audit_bytes_max
        log = AuditLog(audit_file(), bytes_max=size, facts={"workspace": roots[0]})
    return ChatController(
        permissions=decides.permissions(None),
        settings=settings,
        refresh_grants=None if decides.grants is None else decides.grants.refresh,
        log=log,
        dialects=dialect_memory(),
    )


def is_full_screen(*, wanted: bool) -> bool:
    """Whether the full screen is wanted and possible: a terminal, with Textual installed."""
    if not wanted or os.environ.get("TERM", "dumb") in ("dumb", "unknown", ""):
        return False
    from accord.terminal.plain.line_terminal import is_terminal

    if not is_terminal():
        return False
    if find_spec("textual") is None:
        said = (
            "accord: the full screen needs textual (pip install accord[tui]); using --plain instead"
        )
        complain(said)
        return False
    return True


def on_screen(
    controller: ChatController,
    order: LaunchOptions | None,
    choices: Mapping[str, LaunchOptions],
    *,
    suggestions: Sequence[str] = (),
    welcome: str = "",
    on_hang_up: Callable[[], None] | None = None,
) -> int:
    """Run the full screen until the user quits; `on_hang_up` is called if the terminal closes."""
    from accord.terminal.engine.garbage_collection import look_seldom

    # Before the imports below, which create no garbage.
    look_seldom()
    # A size in the environment would be wrong after the terminal is resized.
    for stale in ("COLUMNS", "LINES"):
        os.environ.pop(stale, None)
    from accord.terminal.screen.app import AccordApp

    app = AccordApp(controller, order, choices, suggestions=suggestions, welcome=welcome)
    app.on_hang_up = on_hang_up
    app.run()
    return app.return_code or 0


def _in_lines(
    controller: ChatController, order: LaunchOptions | None, choices: Mapping[str, LaunchOptions]
) -> int:
    import anyio

    from accord.terminal.model.prompt.history import History
    from accord.terminal.plain.line_mode import run_plain
    from accord.terminal.plain.line_terminal import is_terminal, line_terminal

    if order is None and not is_terminal():
        known = ", ".join(choices)
        raise UsageError(f"choose an agent: accord chat NAME (one of {known})")
    folder = (order or next(iter(choices.values()))).folder
    with line_terminal(folder, history=History()) as terminal:
        code = anyio.run(run_plain, controller, order, terminal, choices)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code
