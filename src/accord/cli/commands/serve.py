"""`accord serve`: hosts agents over HTTP and WebSocket."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from accord.cli.agent_setup.sandbox import add_sandbox_arguments
from accord.cli.console import complain

DESCRIPTION = """\
Hosts an agent over HTTP and WebSocket, both at one address, for any number of clients.  Sessions
are stored, and outlive connections, processes of the agent, and restarts.

TARGET is an agent from your configuration, built-in, a variable of a Python module
(my_agents.hello:agent) or of a file (my_agent.py:agent), or any other agent: its command after --.
A file given with --config may describe several agents, their users and their limits.

Every client needs a token.  One is made and printed at the start, unless you choose one (--token),
name users with theirs (--token-file, one line per user: a name and a token), or have users in the
file.  The environment variable ACCORD_SERVE_TOKEN may hold the token, since others can read command
lines.  Clients send it in the header `Authorization: Bearer TOKEN`.

By default only programs on this computer can connect.  To serve others, give a certificate.

exit codes: 0 stopped by a signal, 1 the address or the folder cannot be used, 2 wrong usage
"""
EPILOG = """\
examples:
  accord serve my_agent.py:agent
  accord serve --sandbox -- codex-acp
  accord serve --config gateway.toml
  accord serve codex --host 0.0.0.0 --port 443 --allow-host agents.example.com \\
      --tls-cert cert.pem --tls-key key.pem --token-file tokens.txt
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord serve`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord serve [options] [TARGET | -- COMMAND]"
    add = parser.add_argument
    add("agent", nargs="?", metavar="TARGET", help="the agent, as described above")
    add("--config", metavar="FILE", type=Path, help="agents, users, limits: gateway-config.md")
    add("--data", metavar="DIR", type=Path, help="the folder of the sessions")
    add("--log", choices=("text", "json"), default="text", help="the form of the log on stderr")
    add("--log-level", choices=("error", "warning", "info"), default="warning", help="what to log")
    _add_address(parser)
    _add_access(parser)
    add_sandbox_arguments(parser)


def _add_address(parser: ArgumentParser) -> None:
    add = parser.add_argument_group("address").add_argument
    add("--host", help="the address to listen on (default: 127.0.0.1)")
    add("--port", type=int, help="the port; 0 picks a free port (default: 8000)")
    add("--path", help="the path of the URL (default: /acp)")
    add("--tls-cert", metavar="FILE", type=Path, help="the certificate, with its chain, as PEM")
    add("--tls-key", metavar="FILE", type=Path, help="the certificate's private key, as PEM")
    add(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a name that clients reach this server by; may be given several times",
    )
    add(
        "--insecure-http",
        action="store_true",
        help="listen beyond this computer without TLS, for use behind a proxy that has it",
    )


def _add_access(parser: ArgumentParser) -> None:
    add = parser.add_argument_group("access").add_argument
    add("--token", help="the token of one user, who may do everything (see also below)")
    add("--token-file", metavar="FILE", type=Path, help="users and their tokens")
    add(
        "--allow-origin",
        metavar="URL",
        action="append",
        default=[],
        help="a web site whose pages may connect, such as https://example.com; may be repeated",
    )


def run(arguments: Namespace) -> int:
    """Serve until a signal comes."""
    import anyio

    from accord.cli.server_setup.remote_packages import require_remote_packages

    require_remote_packages()

    from accord.cli.server_setup.gateway_server import GatewayServer
    from accord.cli.server_setup.log_lines import write_log
    from accord.cli.server_setup.server_options import options_of
    from accord.cli.server_setup.target import target_of
    from accord.cli.usage_error import UsageError
    from accord.configuration.config_file import load_config
    from accord.errors import ConfigError, LocalProtocolError, SpawnFailed
    from accord.gateway.configuration.config_file import GatewayConfig, load_gateway_config
    from accord.machine.sandbox.options import SandboxRefused

    write_log(arguments.log, arguments.log_level)
    try:
        user = load_config()
        file: Path | None = arguments.config
        config = GatewayConfig() if file is None else load_gateway_config(file)
        for warning in (*user.warnings, *config.warnings):
            complain(f"accord: {warning}")
        target = target_of(arguments, config, user)
        options = options_of(arguments, os.environ, config, target)
        server = GatewayServer(target, options, arguments.token_file)
    except (UsageError, ConfigError, LocalProtocolError, SandboxRefused, SpawnFailed) as error:
        complain(f"accord serve: {error}")
        return 2
    try:
        return anyio.run(server.run)
    finally:
        server.close()
