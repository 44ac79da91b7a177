"""A thousand cuts at random places of a real connection: nothing is lost, doubled or reordered."""

from __future__ import annotations

import anyio
import pytest

from accord import Client, Extensions
from accord.transport.server.listener.remote_server import RemoteServer
from tests.hang_limit import HANG_SECONDS
from tests.transport.cutting_proxy import cutting_proxy
from tests.transport.websocket.test_cuts import (
    CHUNKS,
    CUTS,
    LIMITS,
    counting_agent,
    expected_text,
)

# More than the handshake and one frame of HTTP/2: of a frame that is cut, nothing can be used.
BYTES_MAX = 40_000


@pytest.fixture
def anyio_backend() -> str:
    """Servers run on asyncio."""
    return "asyncio"


@pytest.mark.slow
async def test_random_cuts_change_nothing() -> None:
    """Issue 16: whatever place the network breaks at, both sides see everything once."""
    told: list[int] = []
    asked: list[int] = []
    extensions = Extensions()

    @extensions.method("_test/double")
    async def double(params: dict[str, int]) -> int:
        asked.append(params["number"])
        return 2 * params["number"]

    application = counting_agent(told).asgi(limits=LIMITS)
    async with (
        RemoteServer(application) as server,
        cutting_proxy(server.port, seed=1, bytes_max=BYTES_MAX) as proxy,
        Client.connect(
            f"http://127.0.0.1:{proxy.port}/acp", remote_limits=LIMITS, extensions=extensions
        ) as client,
    ):
        session = await client.new_session()
        proxy.is_cutting = True
        sent = first = 0
        while proxy.cuts < CUTS:
            with anyio.fail_after(HANG_SECONDS):
                for _ in range(10):
                    await client.notify_extension("_test/number", {"number": sent})
                    sent += 1
                reply = await session.ask(str(first))
            assert reply.text.split() == expected_text(first).split()
            first += CHUNKS
        proxy.is_cutting = False
        await session.ask(str(first))
    assert told == list(range(sent))
    assert asked == [number for number in range(first + CHUNKS) if number % 8 == 0]
