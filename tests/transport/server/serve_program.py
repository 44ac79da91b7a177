"""A program that serves an agent at a URL, without a gateway: for the tests of the transport."""

from __future__ import annotations

import os
import sys

import anyio

from accord import RemoteServer, bearer_tokens
from accord.cli.server_setup.agent_import import import_agent
from accord.machine.processes import exit_on_signal


async def serve(named: str) -> None:
    """Serve `module:agent` or `file.py:agent` until a signal comes."""
    agent = import_agent(named, os.getcwd())
    token = os.environ.get("ACCORD_SERVE_TOKEN")
    auth = None if token is None else bearer_tokens({token: "user"})
    with anyio.open_signal_receiver(*exit_on_signal.handled_signals()) as signals:
        async with RemoteServer(agent.asgi(auth=auth)) as server:
            print(f"{agent.name} is at http://127.0.0.1:{server.port}/acp", file=sys.stderr)
            async for _ in signals:
                break


if __name__ == "__main__":
    anyio.run(serve, sys.argv[1])
