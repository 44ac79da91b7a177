"""`accord serve`: serves an agent over HTTP and WebSocket."""

from __future__ import annotations

import errno
import gc
import os
from argparse import ArgumentParser, Namespace
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from accord.cli.console import complain

if TYPE_CHECKING:
    from accord import RemoteApplication
    from accord.cli.server_setup.server_options import ServerOptions

DESCRIPTION = """\
Serves an agent over HTTP and WebSocket, both at one address, to any number of clients.

The agent is a variable of a Python module (my_agents.hello:agent) or of a file
(my_agent.py:agent).  By default only programs on this computer can connect.  To serve others,
give a certificate, and tokens: a file with one line per user, the name and the token.  Clients send
the token in the header `Authorization: Bearer TOKEN`.  Instead of a file, the environment variable
ACCORD_SERVE_TOKEN may hold the token of one user.

exit codes: 0 stopped by a signal, 1 the address cannot be used, 2 wrong usage
"""
EPILOG = """\
examples:
  accord serve my_agent.py:agent
  accord serve my_agents.hello:agent --host 0.0.0.0 --port 443 --allow-host agents.example.com \\
      --tls-cert cert.pem --tls-key key.pem --token-file tokens.txt
"""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord serve`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord serve [options] MODULE:AGENT"
    add = parser.add_argument
    add("agent", metavar="MODULE:AGENT", help="the agent, as described above")
    add("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    add(
        "--port",
        type=int,
        default=8000,
        help="the port; 0 picks a free port (default: %(default)s)",
    )
    add("--path", default="/acp", help="the path of the URL (default: %(default)s)")
    add("--tls-cert", metavar="FILE", type=Path, help="the certificate, with its chain, as PEM")
    add("--tls-key", metavar="FILE", type=Path, help="the certificate's private key, as PEM")
    add("--token-file", metavar="FILE", type=Path, help="the users and their tokens")
    add(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a name that clients reach this server by; may be given several times",
    )
    add(
        "--allow-origin",
        metavar="URL",
        action="append",
        default=[],
        help="a web site whose pages may connect, such as https://example.com; may be repeated",
    )
    add(
        "--insecure-http",
        action="store_true",
        help="listen beyond this computer without TLS, for use behind a proxy that has it",
    )


def run(arguments: Namespace) -> int:
    """Serve until a signal comes."""
    import anyio

    from accord.cli.server_setup.agent_import import import_agent
    from accord.cli.server_setup.server_options import options_of
    from accord.cli.usage_error import UsageError
    from accord.errors import ConfigError, LocalProtocolError

    try:
        options = options_of(arguments, os.environ)
        agent = import_agent(arguments.agent, os.getcwd())
        application = agent.asgi(
            auth=options.auth, origins=options.origins, hosts=options.hosts, path=options.path
        )
    except (UsageError, ConfigError, LocalProtocolError) as error:
        complain(f"accord serve: {error}")
        return 2
    return anyio.run(_serve, agent.name, application, options)


def _why_not(options: ServerOptions, error: OSError) -> str:
    """Explain why an address cannot be used."""
    place = f"port {options.port} of {options.host}"
    if error.errno == errno.EADDRINUSE:
        return f"{place} is in use; choose another one with --port, or 0 for any"
    if error.errno == errno.EACCES:
        return f"{place} needs more rights than this user has; choose a port above 1023 with --port"
    return f"cannot listen on {place}: {error.strerror or error}"


async def _serve(name: str, application: RemoteApplication, options: ServerOptions) -> int:
    import anyio

    from accord.agent.agent import GARBAGE_THRESHOLDS
    from accord.errors import ConfigError
    from accord.machine import optional_packages
    from accord.machine.processes import exit_on_signal

    if optional_packages.is_missing("remote"):
        complain("accord serve: installing the packages for HTTP and WebSocket (only once)")
        await optional_packages.install("remote")
    try:
        from accord.transport.server.listener.remote_server import RemoteServer
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        raise ConfigError(f"serving needs the package {package}; install accord[remote]") from None

    server = RemoteServer(application, host=options.host, port=options.port, tls=options.tls)
    with anyio.open_signal_receiver(*exit_on_signal.handled_signals()) as signals:
        try:
            await server.__aenter__()
        except OSError as error:
            complain(f"accord serve: {_why_not(options, error)}")
            return 1
        async with aclosing(server):
            # Many connections are many objects that are not garbage: look for garbage rarely.
            gc.freeze()
            gc.set_threshold(*GARBAGE_THRESHOLDS)
            complain(f"accord serve: {name} is at {options.url(server.port)}")
            async for number in signals:
                exit_on_signal.begin(number)
                break
    return 0
