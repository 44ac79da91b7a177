"""A WebSocket server that does what a test's script says, and a client's transport at it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from websockets.asyncio.server import ServerConnection, serve

from accord.transport.remote_address import parse_address
from accord.transport.remote_limits import RemoteLimits
from accord.transport.request_headers import request_headers
from accord.transport.websocket.client import WebSocketTransport
from tests.transport.collector import Collecting

Script = Callable[[ServerConnection], Awaitable[None]]

# Reconnects at once; tests that want a delay say so.
QUICK = RemoteLimits(reconnect_seconds_min=0, reconnect_seconds_max=0)


@asynccontextmanager
async def serving(script: Script, **options: Any) -> AsyncIterator[str]:
    """Serve on a free port; yields the URL."""
    settings: dict[str, Any] = {"compression": None, "ping_interval": None, **options}
    async with serve(script, "127.0.0.1", 0, **settings) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"ws://127.0.0.1:{port}/acp"


@asynccontextmanager
async def connected(
    url: str, **options: Any
) -> AsyncIterator[tuple[WebSocketTransport, Collecting]]:
    """A started transport, and what it tells."""
    given = request_headers(options.pop("token", None), options.pop("headers", None))
    settings = {"limits": QUICK, "headers": given, **options}
    transport = WebSocketTransport(parse_address(url), **settings)
    receiver = Collecting()
    async with anyio.create_task_group() as tasks:
        await transport.start(receiver, tasks)
        try:
            yield transport, receiver
        finally:
            with anyio.CancelScope(shield=True):
                await transport.aclose()
            tasks.cancel_scope.cancel()


def cut(server: ServerConnection) -> None:
    """Break the TCP connection, without a goodbye."""
    server.transport.abort()


__all__ = ["QUICK", "connected", "cut", "serving"]
