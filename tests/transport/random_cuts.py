"""Connections that are cut at random places, again and again, in both directions.

A client and an agent count at each other through a proxy that cuts.  Whatever place the network
breaks at, both must see everything once and in order.  `python -m tests.transport.random_cuts`
does so for as many cuts as it is told, and reports how long it takes to be back.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import anyio

from accord import Agent, Client, Extensions, RemoteLimits, RemoteServer, Turn
from tests.hang_limit import HANG_SECONDS
from tests.transport.cutting_proxy import cutting_proxy

CHUNKS = 40
NOTIFICATIONS = 10
# Of one session: its transcript grows, and so would the memory of a long run.
TURNS = 100
# Over HTTP/2, more than the handshake and one frame: of a frame that is cut, nothing can be used.
BYTES_MAX = {"ws": 8_000, "http": 40_000}
# Comes back at once also when the next attempt is cut, and is patient with a busy machine.
LIMITS = replace(
    RemoteLimits(), reconnect_seconds_min=0, reconnect_seconds_max=0, grace_seconds=HANG_SECONDS
)


@dataclass
class Counted:
    """What each side has seen, and how long the client was without its agent."""

    cuts: int = 0
    # What the agent was told, and what the client was asked, each in order.
    told: list[int] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    resume_seconds: list[float] = field(default_factory=list)
    cut_at: float | None = None
    is_back: bool = False

    def was_cut(self) -> None:
        self.cuts += 1
        self.cut_at, self.is_back = time.perf_counter(), False

    def was_opened(self) -> None:
        self.is_back = True

    def traffic(self, way: str, data: bytes) -> None:
        """Take notice of bytes: the first message by a new connection is the end of a cut."""
        if way == "received" and self.is_back and self.cut_at is not None:
            self.resume_seconds.append(time.perf_counter() - self.cut_at)
            self.cut_at = None

    def resume_percentile(self, share: float) -> float:
        """The time within which so many of the cuts were over."""
        ordered = sorted(self.resume_seconds)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def counting_agent(counted: Counted) -> Agent:
    """An agent that counts, and asks the client in between."""
    agent = Agent("counting", version="1.0.0")

    @agent.notification("_test/number")
    async def number(params: dict[str, Any]) -> None:
        counted.told.append(params["number"])

    @agent.on_prompt
    async def count(turn: Turn) -> None:
        first = int(turn.text)
        for number in range(first, first + CHUNKS):
            await turn.say(f"{number} ")
            if number % 8 == 0:
                params = {"number": number, "sessionId": turn.session.id}
                answer = await turn.call_extension("_test/double", params)
                await turn.say(f"({answer}) ")

    return agent


def expected_text(first: int) -> str:
    """What the agent says in one turn."""
    return "".join(
        f"{number} ({2 * number}) " if number % 8 == 0 else f"{number} "
        for number in range(first, first + CHUNKS)
    )


Serve = Callable[[Agent], AbstractAsyncContextManager[int]]
"""Serves an agent below `/acp`, and returns the port."""


@asynccontextmanager
async def served_alone(agent: Agent) -> AsyncGenerator[int]:
    """Serve it as `accord serve` does one agent of the library."""
    async with RemoteServer(agent.asgi(limits=LIMITS)) as server:
        yield server.port


async def count_through_cuts(
    scheme: str,
    cuts: int,
    *,
    seed: int,
    serve: Serve = served_alone,
    token: str | None = None,
) -> Counted:
    """Count until there were so many cuts; a difference is an AssertionError."""
    counted, extensions = Counted(), Extensions()

    @extensions.method("_test/double")
    async def double(params: dict[str, Any]) -> int:
        counted.asked.append(params["number"])
        return 2 * int(params["number"])

    async with (
        serve(counting_agent(counted)) as port,
        cutting_proxy(port, seed=seed, bytes_max=BYTES_MAX[scheme], watcher=counted) as proxy,
        Client.connect(
            f"{scheme}://127.0.0.1:{proxy.port}/acp",
            token=token,
            remote_limits=LIMITS,
            extensions=extensions,
            traffic=counted.traffic,
        ) as client,
    ):
        sent = first = 0
        while counted.cuts < cuts:
            # A transcript grows with its session, so that a long run has many of them.
            session = await client.new_session()
            for _ in range(TURNS):
                proxy.is_cutting = counted.cuts < cuts
                with anyio.fail_after(HANG_SECONDS):
                    for _ in range(NOTIFICATIONS):
                        params = {"number": sent, "sessionId": session.id}
                        await client.notify_extension("_test/number", params)
                        sent += 1
                    reply = await session.ask(str(first))
                assert reply.text.split() == expected_text(first).split()
                first += CHUNKS
            await session.close()
            assert counted.told == list(range(sent))
            assert counted.asked == [number for number in range(first) if number % 8 == 0]
    return counted


def report_cuts(description: str | None, serve: Serve, token: str | None = None) -> None:
    """Count over every transport as the command line says, and print what was found."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cuts", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for scheme in BYTES_MAX:
        count = partial(count_through_cuts, scheme, given.cuts, seed=given.seed)
        counted = anyio.run(partial(count, serve=serve, token=token))
        middle, late = (1000 * counted.resume_percentile(share) for share in (0.5, 0.99))
        print(
            f"{scheme:4} {counted.cuts:,} cuts: {len(counted.told):,} messages there and"
            f" {len(counted.asked) * 9:,} back, 0 lost, 0 doubled, 0 reordered; back after"
            f" {middle:.1f} ms in the middle, p99 {late:.1f} ms (the goal is 50 ms)",
            flush=True,
        )


if __name__ == "__main__":
    report_cuts(__doc__, served_alone)
