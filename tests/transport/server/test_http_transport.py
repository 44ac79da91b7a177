"""How long the server's side of an HTTP connection waits for its client, on a clock that leaps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

import anyio
import pytest

from accord import RemoteLimits
from accord.transport.server.event_response import EventResponse
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


Check = Callable[[HttpServerTransport, Collector], Awaitable[None]]


def run(limits: RemoteLimits, check: Check) -> None:
    """Check a connection on a loop whose time passes without waiting."""

    async def main() -> None:
        transport = HttpServerTransport("c", "someone", limits, resumes=True)
        collector = Collector()
        async with anyio.create_task_group() as tasks:
            await transport.start(collector, tasks)
            await check(transport, collector)
        transport.end(Ended("over", clean=True))

    loop = SeededLoop(Random(1), "fifo")
    try:
        loop.run_until_complete(main())
    finally:
        loop.over = True
        loop.close()


# ---- a message that another one has overtaken


@pytest.mark.parametrize("limits", LIMITS)
def test_a_client_may_bring_a_missing_message_as_late_as_it_may_come_back(
    limits: RemoteLimits,
) -> None:
    """Ours: the client notices after `silence_seconds`, and has `grace_seconds` from then on."""

    async def check(transport: HttpServerTransport, collector: Collector) -> None:
        await transport.accept_numbered(2, Message(b"two", None, None), 3)
        await asyncio.sleep(limits.silence_seconds + limits.grace_seconds - 1)
        await transport.accept_numbered(1, Message(b"one", None, None), 3)
        assert collector.received == [b"one\n", b"two\n"]
        assert not transport.is_over

    run(limits, check)


@pytest.mark.parametrize("limits", LIMITS)
def test_a_missing_message_ends_the_connection_in_bounded_time(limits: RemoteLimits) -> None:
    """Ours: a client that never sends a number is told, and does not wait for ever."""

    async def check(transport: HttpServerTransport, collector: Collector) -> None:
        bound = limits.silence_seconds + limits.grace_seconds + limits.early_seconds
        await transport.accept_numbered(2, Message(b"two", None, None), 3)
        await asyncio.sleep(bound + 1)
        assert transport.is_over
        assert [why.reason for why in collector.ends] == [
            f"message 1 did not come within {bound:g} s (early_seconds)"
        ]
        assert not collector.received

    run(limits, check)


# ---- a response that its client does not take


class StuckClient:
    """A client of which nothing is heard, and which takes only the first messages of a response."""

    def __init__(self, messages_max: int) -> None:
        self._messages_max = messages_max
        self.sent: list[Any] = []
        self.gone = asyncio.Event()

    async def receive(self) -> Any:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if len(self.sent) >= self._messages_max:
            await asyncio.Event().wait()
        self.sent.append(message)


def respond(transport: HttpServerTransport, client: StuckClient) -> asyncio.Task[None]:
    """Send the events of the connection's stream to a client."""
    stream = transport.stream(None)
    assert stream is not None
    response = EventResponse(transport, stream)
    assert transport.read(stream, response, 0)
    return asyncio.ensure_future(response.run([], client.receive, client.send))


# The headers, the first comment, and an event.
@pytest.mark.parametrize("messages_max", [0, 1, 2])
def test_a_client_that_takes_nothing_is_lost(messages_max: int) -> None:
    """Ours: whatever part of a response it is that does not go out."""
    limits = RemoteLimits()

    async def check(transport: HttpServerTransport, collector: Collector) -> None:
        transport.write(b"hello\n")
        response = respond(transport, StuckClient(messages_max))
        await asyncio.sleep(limits.stall_seconds + 1)
        assert response.done()
        assert "read nothing" in collector.ends[0].reason

    run(limits, check)


@pytest.mark.parametrize("messages_max", [0, 1, 2])
def test_a_client_that_reads_its_stream_elsewhere_is_not_lost(messages_max: int) -> None:
    """Ours: it has noticed that its connection was dead, and the server has not."""
    limits = RemoteLimits()

    async def check(transport: HttpServerTransport, collector: Collector) -> None:
        transport.write(b"hello\n")
        stuck = respond(transport, StuckClient(messages_max))
        await asyncio.sleep(limits.silence_seconds)
        client = StuckClient(100)
        reading = respond(transport, client)
        await asyncio.sleep(limits.stall_seconds)
        assert stuck.done()
        assert not transport.is_over
        assert b"hello" in b"".join(sent.get("body", b"") for sent in client.sent)
        client.gone.set()
        await reading

    run(limits, check)


@pytest.mark.parametrize("messages_max", [0, 1, 2])
def test_a_client_that_has_gone_may_come_back(messages_max: int) -> None:
    """Ours: a server that knows it but does not end `send` costs no time of grace."""
    limits = RemoteLimits()

    async def check(transport: HttpServerTransport, collector: Collector) -> None:
        transport.write(b"hello\n")
        client = StuckClient(messages_max)
        stuck = respond(transport, client)
        client.gone.set()
        await asyncio.sleep(limits.stall_seconds + 1)
        assert stuck.done()
        assert not transport.is_over

    run(limits, check)
