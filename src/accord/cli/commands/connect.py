"""`accord connect`: a remote agent as a program, on stdin and stdout."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from accord.cli.agent_setup.remote_agent_command import add_remote_arguments
from accord.cli.console import complain
from accord.cli.usage_error import UsageError

if TYPE_CHECKING:
    from accord.cli.agent_setup.remote_agent_options import RemoteAgent

DESCRIPTION = """\
Connects to a remote agent and passes messages between it and stdin and stdout: for editors that
start agents as programs.  Every other command that takes an agent takes its URL itself.

The URL begins with wss:// or https://.  For an agent on this machine, ws:// and http:// work too;
for other machines they need --insecure, because everything is then sent unencrypted.

A connection that is lost is restored, and continues where it was, if the server supports it.

exit codes: 0 either side closed the connection, 1 it failed or was lost, 2 wrong usage
"""
EPILOG = """\
examples:
  accord connect wss://agents.example.com/acp --token-env AGENT_TOKEN
  accord connect http://localhost:8000/acp
"""
USAGE, LOST = 2, 1


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `accord connect`."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord connect URL [options]"
    add_remote_arguments(parser, positional=True)


def run(arguments: Namespace) -> int:
    """Pass messages on until either side is gone."""
    import anyio

    from accord.cli.agent_setup.remote_agent_options import read_remote_agent
    from accord.errors import AccordError

    try:
        if arguments.url is None:
            raise UsageError("the URL is missing")
        agent = read_remote_agent(arguments)
    except UsageError as error:
        complain(f"accord connect: {error}")
        return USAGE
    try:
        return anyio.run(_connect, agent)
    except* AccordError as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        complain(f"accord connect: {first}")
    return LOST


async def _connect(agent: RemoteAgent) -> int:
    from accord.machine import optional_packages
    from accord.proxy.relay.translated_transport import carry
    from accord.transport.remote_transport import remote_transport
    from accord.transport.stdio import StdioTransport

    if optional_packages.is_missing("remote"):
        complain("accord connect: installing the packages for HTTP and WebSocket (only once)")
        await optional_packages.install("remote")
    make = remote_transport(
        agent.url, token=agent.token, headers=agent.headers, insecure=agent.insecure
    )
    ended = await carry(StdioTransport(), make())
    if ended is None or ended.clean:
        return 0
    complain(f"accord connect: {ended.reason}")
    return LOST
