"""A cancel that comes before its prompt is on the wire: the prompt stays here."""

from __future__ import annotations

import anyio
import pytest

from accord.client import Session
from accord.connection.limits import Limits
from tests.client.scripted_agent import ScriptedAgent, connected, playing_with
from tests.client.test_login import answer, login_method
from tests.hang_limit import HANG_SECONDS

VERSIONS = pytest.mark.parametrize("version", [1, 2])


@VERSIONS
async def test_a_prompt_that_waits_for_a_login_is_not_sent_after_a_cancel(version: int) -> None:
    """Ours, found by the simulator: the agent worked on what the user had cancelled before."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        agent.error(await agent.expect("session/prompt"), -32000)
        login = await agent.expect(login_method(version))
        await agent.expect("session/cancel")
        agent.result(login, {})
        agent.end_turn(await agent.begin_turn())

    async with playing_with(answer(version), script, version, login="key") as (client, agent):
        session = await client.new_session()
        with anyio.fail_after(HANG_SECONDS):
            async with session.prompt("one") as turn:
                while not agent.sent(login_method(version)):
                    await anyio.lowlevel.checkpoint()
                await turn.cancel()
                assert (await turn.wait()).stop_reason == "cancelled"
            assert (await session.ask("two")).stop_reason == "end_turn"
        texts = [one["params"]["prompt"][0]["text"] for one in agent.sent("session/prompt")]
    assert texts == ["one", "two"]


@VERSIONS
async def test_a_cancelled_prompt_that_needs_a_login_gets_none(version: int) -> None:
    """Ours, found by the simulator: the same where the agent wants the login after the cancel."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        agent.error(prompt, -32000)
        agent.end_turn(await agent.begin_turn())

    async with playing_with(answer(version), script, version, login="key") as (client, agent):
        session = await client.new_session()
        with anyio.fail_after(HANG_SECONDS):
            async with session.prompt("one") as turn:
                await turn.cancel()
                assert (await turn.wait()).stop_reason == "cancelled"
            assert (await session.ask("two")).stop_reason == "end_turn"
        assert not agent.sent(login_method(version))


@VERSIONS
async def test_a_prompt_that_waits_for_a_place_is_not_sent_after_a_cancel(version: int) -> None:
    """Ours, found by the simulator: the same where too many requests are open."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        first = await agent.expect("_wait")
        await agent.expect("session/cancel")
        agent.result(first, {})
        agent.end_turn(await agent.begin_turn())

    limits = Limits(pending_requests=1)
    async with connected(script, version, limits=limits) as (client, agent):
        session = await client.new_session()
        with anyio.fail_after(HANG_SECONDS):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_extension, "_wait")
                await anyio.wait_all_tasks_blocked()
                tasks.start_soon(_cancel_when_blocked, session)
                assert (await session.ask("one")).stop_reason == "cancelled"
            assert (await session.ask("two")).stop_reason == "end_turn"
        assert len(agent.sent("session/prompt")) == 1
        assert [one.text for one in session.transcript.messages if one.is_own] == ["two"]


async def _cancel_when_blocked(session: Session) -> None:
    await anyio.wait_all_tasks_blocked()
    await session.cancel()
