"""A thousand cuts at random places of a real connection: nothing is lost, doubled or reordered."""

from __future__ import annotations

import os
from dataclasses import replace

import anyio
import pytest

from accord import Agent, Client, Extensions, RemoteServer, Turn
from accord.transport.remote_limits import RemoteLimits
from tests.hang_limit import HANG_SECONDS
from tests.transport.cutting_proxy import cutting_proxy

CUTS = 100_000 if os.environ.get("ACCORD_SOAK") else 1000
CHUNKS = 40
# Comes back at once, and is patient with a busy machine.
LIMITS = replace(
    RemoteLimits(), reconnect_seconds_min=0, reconnect_seconds_max=0, grace_seconds=HANG_SECONDS
)


def counting_agent(told: list[int]) -> Agent:
    """An agent that counts, and asks the client in between; `told` gets what it is told."""
    agent = Agent("counting", version="1.0.0")

    @agent.notification("_test/number")
    async def number(params: dict[str, int]) -> None:
        told.append(params["number"])

    @agent.on_prompt
    async def count(turn: Turn) -> None:
        first = int(turn.text)
        for number in range(first, first + CHUNKS):
            await turn.say(f"{number} ")
            if number % 8 == 0:
                answer = await turn.call_extension("_test/double", {"number": number})
                await turn.say(f"({answer}) ")

    return agent


def expected_text(first: int) -> str:
    """What the agent says in one turn."""
    return "".join(
        f"{number} ({2 * number}) " if number % 8 == 0 else f"{number} "
        for number in range(first, first + CHUNKS)
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
async def test_random_cuts_change_nothing(seed: int) -> None:
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
        cutting_proxy(server.port, seed=seed, bytes_max=8000) as proxy,
        Client.connect(
            f"ws://127.0.0.1:{proxy.port}/acp", remote_limits=LIMITS, extensions=extensions
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
