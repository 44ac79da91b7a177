"""kill -9 of the gateway, and its clients afterwards: on the same port, with the same log."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from accord import ConnectionLost, Session
from tests.gateway.durability.gateway_process import GatewayProcess
from tests.gateway.durability.talkers import INTERRUPTED, Asked, Talker
from tests.hang_limit import HANG_SECONDS

WAYS = [("ws", 1, "v1"), ("http", 1, "v1"), ("ws", 2, "v2"), ("http", 2, "v2"), ("ws", 1, "v2")]
"""The scheme, the version of the client, and the agent with its version."""

GAP = re.compile("load the session|continue the session with session/load")


@pytest.fixture
def anyio_backend() -> str:
    """Clients over the network run on asyncio."""
    return "asyncio"


@asynccontextmanager
async def running(folder: Path) -> AsyncGenerator[GatewayProcess]:
    """A gateway, which somebody kills and starts again."""
    gateway = GatewayProcess(folder)
    try:
        with anyio.fail_after(HANG_SECONDS):
            await gateway.start()
            yield gateway
    finally:
        with anyio.CancelScope(shield=True):
            await gateway.kill()


async def noted(gateway: GatewayProcess, key: str) -> None:
    """Wait until a prompt has reached the agent."""
    while key not in gateway.prompts():
        await anyio.sleep(0.01)


async def lost(session: Session, prompt: str, errors: list[Exception]) -> None:
    """Ask, and keep the errors."""
    try:
        await session.ask(prompt)
    except ConnectionLost as error:
        errors.append(error)


@pytest.mark.parametrize(("scheme", "version", "agent"), WAYS)
async def test_a_client_comes_back_by_itself_and_is_told_what_to_do(
    scheme: str, version: int, agent: str, tmp_path: Path
) -> None:
    """Issue 17: what a connection may ask for again ends with the gateway; the log has all."""
    seen = anyio.Event()
    talker = Talker("t", scheme, version, agent, seen.set)
    errors: list[Exception] = []
    async with running(tmp_path) as gateway:
        async with talker.connected(gateway.port) as (client, session):
            talker.asked.append(Asked("first", 5_000))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lost, session, "first 5000", errors)
                await seen.wait()
                await gateway.kill()
                await gateway.start()
            talker.asked[0].error = ConnectionLost(str(errors[0]))
            assert GAP.search(str(errors[0]))
            # What comes later gets the same answer, and none of it waits.
            await lost(session, "second 2", errors)
            assert GAP.search(str(errors[1]))
            await client.wait_closed()
            talker.look(session)
        async with talker.connected(gateway.port) as (_, session):
            talker.look(session)
            talker.check_remarks(set(gateway.prompts()))
            asked = await talker.ask(session, 4)
            assert asked.error is None
        assert gateway.prompts() == ["first", asked.key]


@pytest.mark.parametrize(("scheme", "version", "agent"), WAYS)
async def test_prompts_that_the_agent_has_not_repeated_get_one_error_and_run_once(
    scheme: str, version: int, agent: str, tmp_path: Path
) -> None:
    """Issue 17: every open request gets one clear error, and no prompt is ever run twice."""
    talker = Talker("t", scheme, version, agent, lambda: None)
    errors: list[Exception] = []
    async with running(tmp_path) as gateway:
        async with talker.connected(gateway.port) as (client, session):
            other = await client.new_session(cwd="/")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lost, session, "one hold", errors)
                tasks.start_soon(lost, other, "two hold", errors)
                await noted(gateway, "one")
                await noted(gateway, "two")
                await gateway.kill()
                await gateway.start()
            assert [bool(GAP.search(str(error))) for error in errors] == [True, True]
        async with talker.connected(gateway.port) as (client, session):
            shown = "".join(one.text for one in session.transcript.messages)
            # In version 2 a prompt is shown when the agent repeats it.
            assert shown.count("one hold") == (agent == "v1")
            assert shown.count(INTERRUPTED) == 1
            # It is idle, and goes on with the next prompt.
            assert (await session.ask("three 2")).text == "three.0 three.1 "
            await client.load_session(other.id, cwd="/")
        assert sorted(gateway.prompts()) == ["one", "three", "two"]
