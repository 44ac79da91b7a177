"""`accord web`: chat with an agent on a page in the browser, served by a gateway of one user."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from accord.cli.agent_setup.agent_argument import BUILT_IN
from accord.cli.agent_setup.sandbox import add_sandbox_arguments
from accord.cli.console import complain, say

if TYPE_CHECKING:
    from accord.cli.server_setup.gateway_server import GatewayServer
    from accord.cli.server_setup.server_options import ServerOptions
    from accord.cli.server_setup.target import Target
    from accord.configuration.config_file import Config

HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8087
"""The same each time, since a browser keeps what was typed and not sent by address and port."""
DRAIN_SECONDS: Final = 2

DESCRIPTION = """\
Opens a page in your browser to chat with an agent: one from the configuration (AGENT), any other
(a command after --), or by default the one that `accord chat` starts.  Sessions begin in this
folder, and are stored together with those of `accord serve`.

The first line on stdout is the page's address.  It contains a token: whoever has it can do with the
agent what you can.  Only programs on this computer can connect.  Ctrl-C ends the page's server and
its agents.

exit codes: 0 stopped by a signal, 1 the address or the folder cannot be used, 2 wrong usage
"""
EPILOG = """\
examples:
  accord web
  accord web codex --port 9000
  accord web --no-browser -- goose acp
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord web`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord web [options] [AGENT | -- COMMAND]"
    add = parser.add_argument
    add("agent", nargs="?", metavar="AGENT", help="an agent from the configuration, or built-in")
    port_help = f"the port; 0 picks a free port (default: {DEFAULT_PORT}, or a free one if taken)"
    add("--port", type=int, help=port_help)
    add("--no-browser", action="store_true", help="print the address only")
    add("--data", metavar="DIR", type=Path, help="the folder of the sessions")
    add_sandbox_arguments(parser)


def run(arguments: Namespace) -> int:
    """Serve the page until a signal comes."""
    import anyio

    from accord.cli.server_setup.remote_packages import require_remote_packages

    require_remote_packages("web")

    from accord.cli.server_setup.log_lines import write_log
    from accord.cli.usage_error import UsageError
    from accord.configuration.config_file import load_config
    from accord.errors import ConfigError, LocalProtocolError, SpawnFailed
    from accord.machine.sandbox.options import SandboxRefused

    write_log("text", "warning", command="web")
    try:
        config = load_config()
        for warning in config.warnings:
            complain(f"accord: {warning}")
        server = _server(arguments, config)
    except (UsageError, ConfigError, LocalProtocolError, SandboxRefused, SpawnFailed) as error:
        complain(f"accord web: {error}")
        return 2
    try:
        return anyio.run(server.run)
    finally:
        server.close()


def _server(arguments: Namespace, config: Config) -> GatewayServer:
    """Make the server.

    Raises:
        UsageError: the command line is wrong.
        AccordError: the agent cannot be started.
    """
    from accord.cli.server_setup.gateway_server import GatewayServer
    from accord.cli.server_setup.target import target_of
    from accord.gateway.configuration.config_file import GatewayConfig
    from accord.transport.remote_address import is_url

    if arguments.agent is None and arguments.after is None:
        arguments.agent = config.agent or BUILT_IN
    elif arguments.agent is not None and arguments.after is None and is_url(arguments.agent):
        arguments.agent, arguments.after = None, [arguments.agent]
    target = target_of(arguments, GatewayConfig(), config)
    # The one user of this gateway reaches their own files.
    agents = {name: replace(one, workspace=True) for name, one in target.agents.items()}
    target = replace(target, agents=agents)
    options = _options(arguments, target)
    token = options.token
    # The real path, so that a folder has one list of sessions.
    folder = os.path.realpath(os.getcwd())

    def announce(origin: str) -> None:
        say(f"{origin}/#token={token}")
        sys.stdout.flush()
        complain(f"accord web: {target.name} works in {folder}; Ctrl-C ends it")
        if not arguments.no_browser:
            _open(f"{origin}/#token={server.ticket()}")

    server = GatewayServer(target, options, command="web", folder=folder, announce=announce)
    return server


def _options(arguments: Namespace, target: Target) -> ServerOptions:
    from accord.cli.server_setup.server_options import STATE_FOLDER, ServerOptions
    from accord.cli.usage_error import UsageError
    from accord.configuration.user_paths import state_folder
    from accord.gateway.access.api_keys import new_token
    from accord.gateway.configuration.config_file import GatewayConfig
    from accord.gateway.configuration.listener import PORT_MAX, ListenerSettings
    from accord.transport.server.request_guard import LOOPBACK_HOSTS

    port: int | None = arguments.port
    if port is None:
        port = DEFAULT_PORT if _is_free(DEFAULT_PORT) else 0
    if not 0 <= port <= PORT_MAX:
        raise UsageError(f"--port must be a number from 0 to {PORT_MAX}")
    listener = ListenerSettings(host=HOST, port=port)
    data: Path | None = arguments.data
    return ServerOptions(
        config=GatewayConfig(agents=target.agents, listener=listener, drain_seconds=DRAIN_SECONDS),
        token=new_token(),
        is_new=True,
        hosts=LOOPBACK_HOSTS,
        tls=None,
        data=state_folder() / STATE_FOLDER / target.name if data is None else data.absolute(),
    )


def _is_free(port: int) -> bool:
    """Whether nobody listens on a port."""
    import socket

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _open(url: str) -> None:
    """Open the page where there is a screen; the server does not wait for the browser."""
    from threading import Thread

    from accord.terminal.screen.web_browser import open_page, opener

    if opener() is None:
        return

    def hand_over() -> None:
        if not open_page(url):
            complain("accord web: the browser cannot be opened; open the address above yourself")

    Thread(target=hand_over, name="browser", daemon=True).start()
