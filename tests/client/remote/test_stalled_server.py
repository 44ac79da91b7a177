"""A server that stops reading and answering: its client holds little, and gives up."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from accord import Agent, Client, ConnectionLost, RemoteLimits, RemoteServer
from tests.hang_limit import HANG_SECONDS

MIB = 1024 * 1024
GROWTH_BYTES_MAX = 64 * MIB
# Comes back to nothing: a stall is the end.
LIMITS = RemoteLimits(stall_seconds=0.3, grace_seconds=0.3, silence_seconds=0.3)


class Stall:
    """Whether bytes are passed on."""

    def __init__(self) -> None:
        self.is_on = False
        self.over = asyncio.Event()

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(64 * 1024):
                if self.is_on:
                    await self.over.wait()
                    break
                writer.write(data)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def stalling_proxy(target: int, stall: Stall) -> AsyncIterator[int]:
    """A proxy in front of a port; the port of the proxy."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind = await asyncio.open_connection("127.0.0.1", target)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(stall.forward(reader, behind[1]))
            tasks.create_task(stall.forward(behind[0], writer))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        stall.over.set()
        server.close()


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


@pytest.mark.parametrize("scheme", ["ws", "http"])
async def test_a_server_that_stalls_costs_its_client_little_and_is_given_up(scheme: str) -> None:
    """Issue 16: senders wait, nothing grows without bound, and the end is told."""
    agent, stall = Agent("stalled", version="1.0.0"), Stall()
    async with (
        RemoteServer(agent.asgi()) as server,
        stalling_proxy(server.port, stall) as port,
    ):
        sent = 0

        async def send_without_end() -> None:
            nonlocal sent
            url = f"{scheme}://127.0.0.1:{port}/acp"
            async with Client.connect(url, remote_limits=LIMITS) as client:
                stall.is_on = True
                while True:
                    await client.notify_extension("_test/data", {"data": "x" * MIB})
                    sent += MIB

        with anyio.fail_after(HANG_SECONDS), pytest.raises(ConnectionLost):
            await send_without_end()
        assert sent < GROWTH_BYTES_MAX
