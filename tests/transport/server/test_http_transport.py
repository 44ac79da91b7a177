"""How long a server waits for a message that others have overtaken, on a clock that leaps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import anyio
import pytest

from accord import RemoteLimits
from accord.transport.server.http_transport import HttpServerTransport, Message
from accord.transport.transport import Ended
from tests.simulation.runtime.loop import SeededLoop

LIMITS = (
    RemoteLimits(),
    RemoteLimits(grace_seconds=600.0),
    RemoteLimits(silence_seconds=300.0, keep_alive_seconds=100.0),
    RemoteLimits(early_seconds=0.0),
)


class Collector:
    """What the connection is told."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.ends: list[Ended] = []

    def data_received(self, data: bytes) -> None:
        self.received.append(data)

    def ended(self, why: Ended) -> None:
        self.ends.append(why)


def run_with_overtaken(
    limits: RemoteLimits, check: Callable[[HttpServerTransport, Collector], Awaitable[None]]
) -> None:
    """Check a connection whose second message has come, and whose first has not."""

    async def main() -> None:
        transport = HttpServerTransport("c", "someone", limits, resumes=True)
        collector = Collector()
        async with anyio.create_task_group() as tasks:
            await transport.start(collector, tasks)
            await transport.accept_numbered(2, Message(b"two", None, None), 3)
            await check(transport, collector)
        transport.end(Ended("over", clean=True))

    loop = SeededLoop(Random(1), "fifo")
    try:
        loop.run_until_complete(main())
    finally:
        loop.over = True
        loop.close()


@pytest.mark.parametrize("limits", LIMITS)
def test_a_client_may_bring_a_missing_message_as_late_as_it_may_come_back(
    limits: RemoteLimits,
) -> None:
    """Ours: the client notices after `silence_seconds`, and has `grace_seconds` from then on."""

    async def check(transport: HttpServerTransport, collector: Collector) -> None:
        await asyncio.sleep(limits.silence_seconds + limits.grace_seconds - 1)
        await transport.accept_numbered(1, Message(b"one", None, None), 3)
        assert collector.received == [b"one\n", b"two\n"]
        assert not transport.is_over

    run_with_overtaken(limits, check)


@pytest.mark.parametrize("limits", LIMITS)
def test_a_missing_message_ends_the_connection_in_bounded_time(limits: RemoteLimits) -> None:
    """Ours: a client that never sends a number is told, and does not wait for ever."""

    async def check(transport: HttpServerTransport, collector: Collector) -> None:
        bound = limits.silence_seconds + limits.grace_seconds + limits.early_seconds
        await asyncio.sleep(bound + 1)
        assert transport.is_over
        assert [why.reason for why in collector.ends] == [
            f"message 1 did not come within {bound:g} s (early_seconds)"
        ]
        assert not collector.received

    run_with_overtaken(limits, check)
