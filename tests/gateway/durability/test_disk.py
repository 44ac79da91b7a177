"""A disk that stalls, and one that is full: nothing is shown that is not stored."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from accord import Agent, RequestFailed, Turn
from accord.gateway.engine.interface import Engine, Lease, NewEvent
from accord.gateway.engine.memory import MemoryDisk
from accord.gateway.engine.sqlite import SqliteEngine
from accord.gateway.gateway import Gateway
from tests.gateway.durability.gateway_program import NO_LIMITS
from tests.gateway.hosting import Hosting
from tests.gateway.sessions.test_hosted_session import texts
from tests.hang_limit import HANG_SECONDS

PIECES = 400
PIECE_BYTES = 2000
# The file may grow by so many pages of 4 KiB, a part of what the agent says.
PAGES_LEFT = 60


@pytest.fixture
def anyio_backend() -> str:
    """One event loop is enough: the engines are tested on both."""
    return "asyncio"


@asynccontextmanager
async def hosting_on(engine: Engine, agent: Agent) -> AsyncGenerator[Hosting]:
    """Host an agent on this engine."""
    with anyio.fail_after(HANG_SECONDS):
        async with anyio.create_task_group() as tasks:
            one = Hosting(agent, tasks, MemoryDisk(), {}, 600.0)
            one.gateway = Gateway({"test": one.hosted}, engine, limits=NO_LIMITS)
            async with one.gateway, one.stack:
                yield one
            tasks.cancel_scope.cancel()


class StallingEngine(SqliteEngine):
    """An engine whose appends to one session wait for `goes_on`."""

    stalled: str | None = None

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.goes_on = anyio.Event()

    async def append(self, lease: Lease, events: Sequence[NewEvent]) -> int:
        if lease.session == self.stalled:
            await self.goes_on.wait()
        return await super().append(lease, events)


async def test_nothing_is_shown_while_the_disk_stalls(tmp_path: Path) -> None:
    """Issue 17: append before send; and a turn is not begun before its prompt is stored."""
    ran: list[str] = []
    agent = Agent("test", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        ran.append(turn.text)
        await turn.say(f"you said {turn.text}")

    engine = StallingEngine(tmp_path / "g.sqlite3")
    async with hosting_on(engine, agent) as one:
        ann, bob = await one.client("ann"), await one.client("bob")
        hers, his = await ann.new_session(cwd="/"), await bob.new_session(cwd="/")
        engine.stalled = hers.id
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hers.ask, "first")
            # Another session goes on, so the first one had time for whatever it might do.
            for number in range(5):
                assert (await his.ask(str(number))).text == f"you said {number}"
            assert "first" not in ran
            assert "you said first" not in texts(hers)
            engine.goes_on.set()
        assert texts(hers)[-1] == "you said first"
        assert ran.count("first") == 1


async def pages(engine: SqliteEngine, left: int | None) -> None:
    """Let the file grow by so many pages, or without a bound."""

    def limit(db: Any) -> None:
        (count,) = db.execute("PRAGMA page_count").fetchone()
        most = 2**30 if left is None else count + left
        db.execute(f"PRAGMA max_page_count = {most}").fetchone()

    await engine._writer.submit(limit)


@pytest.mark.parametrize("version", [1, 2])
async def test_a_full_disk_ends_a_turn_with_one_error_and_loses_nothing(
    version: int, tmp_path: Path
) -> None:
    """Issue 17: what was shown is stored, the open request is answered, the session goes on."""
    agent = Agent("test", version="1")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        for number in range(PIECES if turn.text == "much" else 1):
            await turn.say(f"{turn.text}.{number} " + "-" * PIECE_BYTES)

    engine = SqliteEngine(tmp_path / "g.sqlite3")
    async with hosting_on(engine, agent) as one:
        ann = await one.client("ann", version=version)
        session = await ann.new_session(cwd="/")
        await session.ask("before")
        await pages(engine, PAGES_LEFT)
        with pytest.raises(RequestFailed, match="cannot be stored") as caught:
            await session.ask("much")
        assert str(tmp_path) not in str(caught.value)
        shown = numbers(session)
        assert 0 < len(shown) < PIECES + 1
        await pages(engine, None)
        again = await one.client("ann", version=version)
        loaded = await again.load_session(session.id, cwd="/")
        assert numbers(loaded)[: len(shown)] == shown
        assert "interrupted" in "".join(texts(loaded))
        await loaded.ask("after")
        assert numbers(loaded)[-1] == "after.0"


def numbers(session: Any) -> list[str]:
    """What the agent said, in order."""
    return re.findall(r"\w+\.\d+(?= -)", " ".join(texts(session)))
