"""The played network: what it may do to a connection, and what it may not."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import pytest

from tests.simulation.remote.loop import NetworkLoop
from tests.simulation.remote.network import Fate, Network, Outage

PORT = 80
SENT = bytes(range(256)) * 40


class Collecting(asyncio.Protocol):
    """Keeps what comes, and how it ended."""

    def __init__(self) -> None:
        self.data = b""
        self.error: Exception | None = None
        self.over = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.data += data

    def connection_lost(self, exc: Exception | None) -> None:
        self.error = exc
        self.over.set()


def run(
    main: Callable[[NetworkLoop], Awaitable[None]], fate: Fate | None, outage: Outage | None = None
) -> None:
    """Run something on a network on which every connection meets with this."""
    random = Random(7)
    loop = NetworkLoop(random, "shuffled")
    loop.network = Network(loop, random, lambda: fate)
    loop.network.outages = () if outage is None else (outage,)
    loop.network.start_trouble()
    try:
        loop.run_until_complete(main(loop))
    finally:
        loop.over = True
        loop.drop_transports()
        loop.close()


def fate(kind: str, **more: object) -> Fate:
    """Something that happens to the client's bytes after 1,000 of them."""
    given = {"after_bytes": 1000, "after_seconds": 60.0, "seconds": 1.0, "loses": True, **more}
    return Fate(kind=kind, to_server=True, **given)  # type: ignore[arg-type]


async def send(loop: NetworkLoop) -> tuple[Collecting, asyncio.Transport]:
    """Send everything to a server, and return the server and the client's end."""
    server = Collecting()
    loop.listen(lambda: server, PORT)
    client, _ = await loop.create_connection(asyncio.Protocol, "localhost", PORT)
    client.write(SENT)
    return server, client


def test_without_a_fate_all_bytes_arrive_in_order() -> None:
    """Ours: delays and splits change nothing else."""

    async def main(loop: NetworkLoop) -> None:
        server, client = await send(loop)
        client.close()
        await server.over.wait()
        assert server.data == SENT

    run(main, None)


@pytest.mark.parametrize("kind", ["reset", "end"])
def test_a_cut_loses_the_end_and_nothing_else(kind: str) -> None:
    """Ours: at any byte."""

    async def main(loop: NetworkLoop) -> None:
        server, _ = await send(loop)
        await server.over.wait()
        assert SENT.startswith(server.data)
        assert len(server.data) <= 1000
        assert isinstance(server.error, ConnectionResetError) == (kind == "reset")

    run(main, fate(kind))


def test_nobody_is_told_of_a_half_open_connection() -> None:
    """Ours: not even that the other side has closed it."""

    async def main(loop: NetworkLoop) -> None:
        server, client = await send(loop)
        client.abort()
        await asyncio.sleep(3600)
        assert not server.over.is_set()

    run(main, fate("half_open", after_bytes=0))


def test_a_stall_only_delays() -> None:
    """Ours: nothing is lost."""

    async def main(loop: NetworkLoop) -> None:
        server, client = await send(loop)
        client.close()
        await server.over.wait()
        assert server.data == SENT

    run(main, fate("stall"))


@pytest.mark.parametrize("refuses", [True, False])
def test_an_outage_refuses_or_delays_new_connections(refuses: bool) -> None:
    """Ours: a system asks again until it is answered, or told that nobody listens."""

    async def main(loop: NetworkLoop) -> None:
        began = loop.time()
        if refuses:
            with pytest.raises(ConnectionRefusedError):
                await send(loop)
        else:
            await send(loop)
        assert (loop.time() - began >= 20) == (not refuses)

    run(main, None, Outage(0.0, 20.0, refuses))
