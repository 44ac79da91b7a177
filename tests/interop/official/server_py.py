"""A scripted agent on the official Python SDK, behind its ASGI application, served by granian.

    server_py.py VERSION

Prints its port, and ends when its input does.  Version 2 needs the SDK of that version.
"""

from __future__ import annotations

import asyncio
import importlib
import socket
import sys
from functools import partial
from typing import Any

import acp.http.server as server_module
from acp.http.asgi import create_asgi_app
from granian.constants import Interfaces
from granian.server.embed import Server

# The tour closes sessions, which this SDK counts as unstable, and its server has no switch for it.
server_module.AgentSideConnection = partial(
    server_module.AgentSideConnection, use_unstable_protocol=True
)


def agents(version: str) -> Any:
    """What makes an agent for each connection."""
    agent = importlib.import_module(f"tests.interop.official.agent_py_v{version}")
    if version == "2":
        from acp.experimental.negotiation import AgentProtocolRouter

        return AgentProtocolRouter(v2=lambda _: agent.ScriptedAgent())

    def make(connection: object) -> object:
        made = agent.ScriptedAgent()
        made.on_connect(connection)
        return made

    return make


async def main(version: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Server(
        create_asgi_app(agents(version)),
        address="127.0.0.1",
        port=port,
        interface=Interfaces.ASGINL,
        log_enabled=False,
    )
    server.on_startup(lambda: print(port, flush=True))
    serving = asyncio.ensure_future(server.serve())
    await asyncio.to_thread(sys.stdin.read)
    server.stop()
    await serving


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
