"""ASGI servers that people run, with an application inside, in this process."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from accord import RemoteApplication
from accord.transport.server.listener.remote_server import RemoteServer
from tests.hang_limit import HANG_SECONDS
from tests.transport.server.raw_http import closed


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def answers(port: int) -> bool:
    """Whether somebody listens."""
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    await closed(writer)
    return True


@asynccontextmanager
async def listener(application: RemoteApplication) -> AsyncIterator[int]:
    """What `accord serve` runs."""
    async with RemoteServer(application) as server:
        yield server.port


@asynccontextmanager
async def granian(application: RemoteApplication) -> AsyncIterator[int]:
    """granian alone, also for WebSocket."""
    from granian.constants import Interfaces
    from granian.server.embed import Server

    port = free_port()
    server = Server(
        application,
        port=port,
        interface=Interfaces.ASGI,
        backlog=1024,
        backpressure=1024,
        log_enabled=False,
    )
    task = asyncio.create_task(server.serve())
    try:
        async with asyncio.timeout(HANG_SECONDS):
            while not await answers(port):
                await asyncio.sleep(0)
        yield port
    finally:
        server.stop()  # type: ignore[no-untyped-call]
        await task


@asynccontextmanager
async def uvicorn(application: RemoteApplication) -> AsyncIterator[int]:
    """uvicorn with the package `websockets`."""
    from uvicorn import Config, Server

    config = Config(
        application, port=0, log_config=None, ws="websockets-sansio", timeout_graceful_shutdown=1
    )
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    server = Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    task = asyncio.create_task(server._serve())
    try:
        async with asyncio.timeout(HANG_SECONDS):
            while not server.started:
                await asyncio.sleep(0)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await task


AsgiServer = Callable[[RemoteApplication], AbstractAsyncContextManager[int]]
SERVERS: dict[str, AsgiServer] = {"listener": listener, "granian": granian, "uvicorn": uvicorn}

__all__ = ["SERVERS", "AsgiServer"]
