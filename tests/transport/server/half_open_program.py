"""Serves a client whose network goes, and ends when the server has found that.

    half_open_program.py CLIENT

It needs a network of its own, whose loopback it may take down: nothing is acknowledged then, as
with a cable that was pulled.  A proxy that stops would still acknowledge.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import AsyncExitStack

from websockets.asyncio.client import connect

from accord import RemoteLimits
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import INITIALIZE
from tests.transport.server.raw_http2 import RawHttp2Client
from tests.transport.server.served_agent import serving

LIMITS = RemoteLimits(keep_alive_seconds=0.5, silence_seconds=2, grace_seconds=0.5)


def link(state: str) -> None:
    subprocess.run(["ip", "link", "set", "lo", state], check=True)


async def connected(client: str, port: int, stack: AsyncExitStack) -> None:
    """Connect, and leave the connection idle."""
    if client == "websocket":
        url = f"ws://127.0.0.1:{port}/acp"
        socket = await stack.enter_async_context(
            connect(url, compression=None, ping_interval=None, close_timeout=0)
        )
        await socket.send(json.dumps(INITIALIZE))
        await socket.recv()
        return
    raw = RawHttp2Client(port)
    await raw.initialize()
    stream = raw.stream() if client == "http/1.1" else raw.unread_stream()
    await stack.enter_async_context(stream)


async def main(client: str) -> None:
    link("up")
    async with serving(limits=LIMITS) as served, AsyncExitStack() as stack:
        async with asyncio.timeout(HANG_SECONDS):
            await connected(client, served.port, stack)
            assert served.open_connections == 1
            link("down")
            while served.open_connections:
                await asyncio.sleep(0.01)
        link("up")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
