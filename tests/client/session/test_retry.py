"""Prompts that an agent is too busy for are sent again, if the program wants that."""

from __future__ import annotations

import anyio
import pytest

from accord.client.session.retry import RETRY_SECONDS_MAX, Retry, RetrySchedule
from accord.errors import ConnectionLost, RateLimited, RequestFailed
from tests.client.scripted_agent import Json, ScriptedAgent, chunk, connected

VERSIONS = pytest.mark.parametrize("version", [1, 2])
# In v2 an agent may refuse a prompt, or take it and report by a state that it failed.
WAYS = pytest.mark.parametrize("way", ["v1", "v2 refused", "v2 failed"])


def version_of(way: str) -> int:
    return 1 if way == "v1" else 2


async def be_busy(agent: ScriptedAgent, way: str, seconds: float = 0.01, number: int = 1) -> None:
    """Take a prompt and say: too many."""
    data = {"reason": "rate_limited", "retryAfter": seconds}
    prompt = await agent.expect("session/prompt")
    if way != "v2 failed":
        agent.error(prompt, -32058, "busy", data)
        return
    error = {"code": -32058, "message": "busy", "data": data}
    content = prompt["params"]["prompt"]
    echo: Json = {"sessionUpdate": "user_message", "messageId": f"u{number}", "content": content}
    agent.result(prompt, {"messageId": f"u{number}"})
    agent.update(echo)
    agent.state("running")
    agent.state("idle", stopReason="error", error=error)


def limited(seconds: float | None = None) -> RateLimited:
    return RateLimited("m", -32058, "busy", None if seconds is None else {"retryAfter": seconds})


def test_patience_doubles_its_waits_and_ends() -> None:
    """Ours: the agent's own word comes first, within a bound."""
    patience = RetrySchedule(5)
    waits = [patience.seconds_after(limited(given)) for given in (None, None, 0.5, None, 5000)]
    assert waits == [1, 2, 0.5, 8, RETRY_SECONDS_MAX]
    assert patience.seconds_after(limited()) is None
    assert RetrySchedule(1).seconds_after(RequestFailed("m", -32603, "no")) is None


def test_patience_within_a_time_heeds_the_agent_and_uses_the_time_up() -> None:
    """Issue 14: `accord run --retry`; a wait of no time at all is not one."""
    told: list[float] = []
    patience = RetrySchedule(Retry(30, lambda _, seconds: told.append(seconds)))
    given = (None, 0, 10, None, None, None)
    waits = [patience.seconds_after(limited(one)) for one in given]
    assert waits == [1, 2, 10, 8, 9, None]
    assert told == waits[:-1]
    assert RetrySchedule(Retry(30)).seconds_after(limited(31)) is None
    assert RetrySchedule(Retry(300)).seconds_after(limited(200)) == 200
    assert RetrySchedule(Retry(0)).seconds_after(limited()) is None
    assert RetrySchedule(Retry(30)).seconds_after(RequestFailed("m", -32603, "no")) is None


@WAYS
async def test_a_prompt_is_sent_again_after_a_while(way: str) -> None:
    """Issue 2: waiting and retrying on rate limits is one option away."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await be_busy(agent, way, number=1)
        await be_busy(agent, way, number=2)
        prompt = await agent.begin_turn()
        agent.say("here")
        agent.end_turn(prompt)

    async with connected(script, version_of(way), retry=2) as (client, agent):
        session = await client.new_session()
        async with session.prompt("a") as turn:
            texts = [update.text async for update in turn]
        assert texts == ["here"]
        assert (turn.stop_reason, turn.reply.text) == ("end_turn", "here")
        assert [message.text for message in turn.reply.messages] == ["a", "here"]
        prompts = agent.sent("session/prompt")
        assert [prompt["params"] for prompt in prompts] == [prompts[0]["params"]] * 3
        # What an agent has taken in is part of the conversation, and shown.
        count = 3 if way == "v2 failed" else 1
        texts = [message.text for message in session.transcript.messages]
        assert texts == ["a"] * count + ["here"]


@WAYS
@pytest.mark.parametrize("retry", [0, 1])
async def test_no_more_often_than_asked(way: str, retry: int) -> None:
    """Ours: at last the error is the caller's."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        for number in range(retry + 1):
            await be_busy(agent, way, number=number)

    async with connected(script, version_of(way), retry=retry) as (client, agent):
        session = await client.new_session()
        with pytest.raises(RateLimited, match="busy"):
            await session.ask("a")
        assert len(agent.sent("session/prompt")) == retry + 1
        assert not session.is_busy


@VERSIONS
async def test_work_that_has_begun_to_show_is_not_done_twice(version: int) -> None:
    """Ours: an agent that said something would say it again, and a tool would run again."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        agent.update(chunk("half", "m1"))
        error = {"code": -32058, "message": "busy"}
        if version == 1:
            agent.error(prompt, -32058, "busy")
        else:
            agent.state("idle", stopReason="error", error=error)

    async with connected(script, version, retry=5) as (client, agent):
        session = await client.new_session()
        with pytest.raises(RateLimited):
            await session.ask("a")
        assert len(agent.sent("session/prompt")) == 1


@WAYS
@pytest.mark.parametrize("how", ["cancel", "leave"])
async def test_a_cancel_does_not_wait(way: str, how: str) -> None:
    """Ours: nothing is sent after the cancel, and a prompt that was refused is not shown in v2."""
    told = anyio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await be_busy(agent, way, seconds=60)
        told.set()
        await agent.expect("session/cancel")
        agent.end_turn(await agent.begin_turn())

    async with connected(script, version_of(way), retry=5) as (client, agent):
        session = await client.new_session()
        async with session.prompt("a") as turn:
            await told.wait()
            await anyio.wait_all_tasks_blocked()
            assert not turn.is_over
            if how == "cancel":
                await turn.cancel()
                assert (await turn.wait()).stop_reason == "cancelled"
        assert turn.stop_reason == "cancelled"
        shown = [message.text for message in session.transcript.messages]
        assert shown == ([] if way == "v2 refused" else ["a"])
        assert (await session.ask("b")).stop_reason == "end_turn"
        assert len(agent.sent("session/prompt")) == 2


@WAYS
async def test_an_agent_that_dies_meanwhile_is_told(way: str) -> None:
    """Issue 2: every waiter gets ConnectionLost."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await be_busy(agent, way, seconds=60)
        await anyio.wait_all_tasks_blocked()
        await agent.transport.aclose()

    async with connected(script, version_of(way), retry=5) as (client, _):
        session = await client.new_session()
        with pytest.raises(ConnectionLost):
            await session.ask("a")


async def test_prompts_that_were_taken_in_together_are_not_repeated() -> None:
    """Ours: nobody can say which of them the error is about."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        for number in range(2):
            prompt = await agent.expect("session/prompt")
            agent.result(prompt, {"messageId": f"u{number}"})
            agent.state("running")
        agent.state("idle", stopReason="error", error={"code": -32058, "message": "busy"})

    async with connected(script, 2, retry=5) as (client, agent):
        session = await client.new_session()
        failed: list[str] = []

        async def ask(text: str) -> None:
            try:
                await session.ask(text)
            except RateLimited:
                failed.append(text)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "a")
            tasks.start_soon(ask, "b")
        assert sorted(failed) == ["a", "b"]
        assert len(agent.sent("session/prompt")) == 2
