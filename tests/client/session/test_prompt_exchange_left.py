"""Turns that the program left and that the agent ended late: their rest is not the next one's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from accord.client import Session
from accord.connection import Limits
from tests.client.scripted_agent import Script, ScriptedAgent, connected

VERSIONS = pytest.mark.parametrize("version", [1, 2])
# Long enough for a prompt to be answered on a busy machine: one that is not is taken back.
SOON = Limits(close_seconds=0.1)


async def leave_a_turn(session: Session) -> None:
    """Prompt, and go without an end."""
    async with session.prompt("left"):
        pass


@asynccontextmanager
async def left_a_turn(script: Script, version: int) -> AsyncIterator[Session]:
    """A session of which the program has left a turn."""
    async with connected(script, version, limits=SOON) as (client, _):
        session = await client.new_session()
        await leave_a_turn(session)
        yield session


async def told_to_stop(agent: ScriptedAgent) -> None:
    """The client gives up."""
    await agent.expect("session/cancel")
    if agent.version == 1:
        await agent.expect("$/cancel_request")


@VERSIONS
async def test_the_rest_of_a_left_turn_is_not_part_of_the_next_reply(version: int) -> None:
    """Ours, found by a simulated world: the end came after the bound and after the next prompt."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        first = await agent.begin_turn()
        await told_to_stop(agent)
        second = await agent.expect("session/prompt")
        agent.say("rest of the first", "m1")
        agent.end_turn(first, "cancelled")
        if version == 2:
            agent.result(second, {"messageId": "u2"})
            agent.state("running")
        agent.say("second", "m2")
        agent.end_turn(second)
        third = await agent.begin_turn()
        agent.say("third", "m3")
        agent.end_turn(third)

    async with left_a_turn(script, version) as session:
        reply = await session.ask("next")
        assert reply.text == "second"
        assert [one.text for one in reply.messages] == ["next", "second"]
        assert not session.is_busy
        assert (await session.ask("and more")).text == "third"
        said = [one.text for one in session.transcript.messages if one.role == "agent"]
    assert said == ["rest of the first", "second", "third"]


async def test_the_rest_of_a_left_turn_is_not_the_reply_of_one_that_was_left_too() -> None:
    """Issue 12, seed 20011943: the late answer tells whose it was, also when nobody follows."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        first = await agent.begin_turn()
        await told_to_stop(agent)
        await agent.expect("session/prompt")
        agent.say("rest of the first", "m1")
        await told_to_stop(agent)
        agent.error(first, -32011, "failed")
        third = await agent.begin_turn()
        agent.say("third", "m3")
        agent.end_turn(third)

    async with left_a_turn(script, 1) as session:
        async with session.prompt("left too") as turn:
            async for update in turn:
                assert update.text == "rest of the first"
                break
        assert (await session.ask("next")).text == "third"
        assert turn.reply.text == ""
        assert [one.text for one in turn.reply.messages] == ["left too"]


async def test_a_turn_that_is_cancelled_while_it_is_queued_has_no_reply() -> None:
    """Issue 12, seeds 61060214 and 71043666: its answer came before that of the left one."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        first = await agent.begin_turn()
        await told_to_stop(agent)
        second = await agent.expect("session/prompt")
        agent.say("rest of the first", "m1")
        await agent.expect("session/cancel")
        agent.end_turn(second, "cancelled")
        agent.end_turn(first, "cancelled")

    async with left_a_turn(script, 1) as session:
        async with session.prompt("queued") as turn:
            async for _update in turn:
                await turn.cancel()
            reply = await turn.wait()
        assert reply.stop_reason == "cancelled"
        assert reply.text == ""
        said = [one.text for one in session.transcript.messages if one.role == "agent"]
    assert said == ["rest of the first"]


async def test_in_v2_the_next_turn_does_not_show_the_rest_either() -> None:
    """Ours: before its prompt is inserted nothing can be about it."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        first = await agent.begin_turn()
        await told_to_stop(agent)
        second = await agent.expect("session/prompt")
        agent.say("rest of the first", "m1")
        agent.end_turn(first, "cancelled")
        agent.result(second, {"messageId": "u2"})
        agent.state("running")
        agent.say("second", "m2")
        agent.end_turn(second)

    async with left_a_turn(script, 2) as session, session.prompt("next") as turn:
        seen = [update.text async for update in turn]
    assert seen == ["second"]


async def test_an_agent_that_takes_the_next_prompt_in_has_ended_the_one_before() -> None:
    """v2: what comes behind the insertion may be about it, though no idle came in between."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.begin_turn()
        await told_to_stop(agent)
        second = await agent.expect("session/prompt")
        agent.say("rest of the first", "m1")
        agent.result(second, {"messageId": "u2"})
        agent.say("second", "m2")
        agent.end_turn(second)

    async with left_a_turn(script, 2) as session:
        assert (await session.ask("next")).text == "second"


async def test_a_left_prompt_that_is_refused_late_was_never_said() -> None:
    """v2: a prompt that is refused is not part of the conversation, however late that is told."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        first = await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        await agent.expect("$/cancel_request")
        second = await agent.expect("session/prompt")
        agent.error(first, -32800, "cancelled")
        agent.result(second, {"messageId": "u2"})
        agent.state("running")
        agent.say("second", "m2")
        agent.end_turn(second)

    async with left_a_turn(script, 2) as session:
        assert (await session.ask("next")).text == "second"
        assert [one.text for one in session.transcript.messages] == ["next", "second"]


async def test_a_left_prompt_that_is_taken_in_late_ends_by_its_idle() -> None:
    """Ours: the answer of a given up call still tells where its prompt is."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        first = await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        await agent.expect("$/cancel_request")
        second = await agent.expect("session/prompt")
        agent.result(first, {"messageId": "u1"})
        agent.state("running")
        agent.say("rest of the first", "m1")
        agent.end_turn(first, "cancelled")
        agent.result(second, {"messageId": "u2"})
        agent.state("running")
        agent.say("second", "m2")
        agent.end_turn(second)

    async with left_a_turn(script, 2) as session:
        assert (await session.ask("next")).text == "second"


@VERSIONS
async def test_an_agent_that_never_ends_what_was_left_still_answers(version: int) -> None:
    """Ours: whoever ends nothing does not hide the rest, however often it was left."""
    times = 20

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        for _ in range(times):
            await agent.begin_turn()
            await told_to_stop(agent)
        last = await agent.begin_turn()
        agent.say("last")
        agent.end_turn(last)

    async with connected(script, version, limits=SOON) as (client, _):
        session = await client.new_session()
        for _ in range(times):
            await leave_a_turn(session)
        async with session.prompt("last") as turn:
            seen = [update.text async for update in turn]
        assert seen == ["last"]
        assert turn.reply.text == "last"
        assert not session.is_busy
