"""What a client may ask for again is kept until it has it, whatever its size."""

from __future__ import annotations

import asyncio

import pytest

from accord import Agent, Client, RemoteLimits, Turn
from accord.transport.server.http_transport import HttpServerTransport
from tests.hang_limit import HANG_SECONDS
from tests.transport.cutting_proxy import cutting_proxy
from tests.transport.server.raw_http import NEW_SESSION, EventStream, Json, RawClient, prompt
from tests.transport.server.served_agent import Served, serving

pytestmark = pytest.mark.anyio

KIB = 1024
LIMITS = RemoteLimits(
    kept_bytes=256 * KIB, acknowledge_bytes=64 * KIB, reconnect_seconds_min=0, stall_seconds=600
)
LARGE = 1024 * KIB
AFTER = 40
FLOOD = 1000


def large_agent() -> Agent:
    """Says something far over `kept_bytes`, and small things after it."""
    agent = Agent("large", version="1.0.0")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await turn.say("x" * LARGE)
        for number in range(AFTER):
            await turn.say(f"{number} " * 1000)

    return agent


@pytest.mark.parametrize("scheme", ["http", "ws"])
@pytest.mark.parametrize("seed", range(4))
async def test_a_large_message_that_is_cut_comes_again(scheme: str, seed: int) -> None:
    """Issue 16: nothing lost; the events behind it do not push it out."""
    async with (
        serving(large_agent(), limits=LIMITS) as served,
        cutting_proxy(served.port, seed=seed, bytes_max=LARGE // 2) as proxy,
        asyncio.timeout(HANG_SECONDS),
        Client.connect(f"{scheme}://127.0.0.1:{proxy.port}/acp", remote_limits=LIMITS) as client,
    ):
        session = await client.new_session()
        proxy.is_cutting = True
        async with asyncio.TaskGroup() as tasks:
            asked = tasks.create_task(session.ask("go"))
            await proxy.wait_for_cuts(3)
            proxy.is_cutting = False
        words = [str(number) for number in range(AFTER) for _ in range(1000)]
        assert asked.result().text.split() == ["x" * LARGE, *words]


def transport_of(served: Served) -> HttpServerTransport:
    (transport,) = served.application.connections._open.values()
    assert isinstance(transport, HttpServerTransport)
    return transport


async def acknowledge(client: RawClient, stream: EventStream, header: Json) -> None:
    count = {"count": int(stream.last_id)}
    told = {"jsonrpc": "2.0", "method": "_accord/received", "params": count}
    assert (await client.post(told, header)).status == 202


async def test_a_server_waits_for_acknowledgements_within_its_bound() -> None:
    """The extension: nothing is dropped while its client is there."""
    async with serving(limits=LIMITS) as served, asyncio.timeout(HANG_SECONDS):
        client = RawClient(served.port)
        await client.initialize({"accord-resume": "1"})
        async with client.stream() as connection:
            await client.post(NEW_SESSION, {"accord-message": "1"})
            session_id = (await connection.until(1))[-1]["result"]["sessionId"]
        header: Json = {"acp-session-id": session_id}
        transport = transport_of(served)
        async with client.stream(header) as session:
            asked = {**header, "accord-message": "2"}
            await client.post(prompt(session_id, f"flood {FLOOD}"), asked)
            taken = 0
            while taken < 200:
                await session.message()
                taken += 1
        # All that was sent is still there, and no more than the bound was sent.
        assert transport._kept_bytes <= LIMITS.kept_bytes
        async with client.stream({**header, "last-event-id": "0"}) as session:
            assert session.head.status == 200
            said = 0
            while True:
                message = await session.message()
                if message.get("id") == 2:
                    break
                said += "x" * 1000 in str(message)
                if said % 50 == 0:
                    assert transport._kept_bytes <= LIMITS.kept_bytes
                    await acknowledge(client, session, header)
            assert said == FLOOD


async def test_what_waits_for_an_acknowledgement_is_sent_before_the_end() -> None:
    """Ours: a connection that is over is not continued, so that nothing need be kept."""
    async with serving(limits=LIMITS) as served, asyncio.timeout(HANG_SECONDS):
        client = RawClient(served.port)
        await client.initialize({"accord-resume": "1"})
        async with client.stream() as connection:
            await client.post(NEW_SESSION, {"accord-message": "1"})
            session_id = (await connection.until(1))[-1]["result"]["sessionId"]
        header: Json = {"acp-session-id": session_id}
        async with client.stream(header) as session:
            asked = {**header, "accord-message": "2"}
            await client.post(prompt(session_id, "flood 600"), asked)
            for _ in range(200):
                await session.message()
            await transport_of(served).aclose()
            await session.ended()
            assert int(session.last_id) > 260


@pytest.mark.parametrize("count", [-1, 10**12, "x", None])
async def test_an_acknowledgement_of_nothing_changes_nothing(count: object) -> None:
    """Ours: bad input is data."""
    async with serving(limits=LIMITS) as served, asyncio.timeout(HANG_SECONDS):
        client = RawClient(served.port)
        await client.initialize({"accord-resume": "1"})
        async with client.stream() as connection:
            told = {"jsonrpc": "2.0", "method": "_accord/received", "params": {"count": count}}
            for header in (None, {"acp-session-id": "nobody"}):
                assert (await client.post(told, header)).status == 202
            await client.post(NEW_SESSION, {"accord-message": "1"})
            assert "result" in (await connection.until(1))[-1]
