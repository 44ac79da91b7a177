"""The queue behind turns and streams: whoever forgets to take from it is told."""

from __future__ import annotations

import gc
import logging

import anyio
import pytest
from anyio.lowlevel import checkpoint

from accord.client.session import update_inbox as module
from accord.connection import backpressure
from accord.connection.limits import Limits
from accord.transcript import Update
from tests.client.scripted_agent import ScriptedAgent, chunk, connected
from tests.hang_limit import HANG_SECONDS

FEW = Limits(turn_updates=4)


async def chatter(agent: ScriptedAgent) -> None:
    """Two turns that say more than a stream may hold."""
    await agent.open_session()
    for _ in range(2):
        prompt = await agent.begin_turn()
        for _ in range(6):
            agent.say("x")
        agent.end_turn(prompt)


async def test_a_stream_that_nobody_reads_is_named_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: the turn stands still because of it, and nothing else would say why."""
    monkeypatch.setattr(module, "STILL_SECONDS_MAX", 0.001)
    caplog.set_level(logging.WARNING, "accord.client")

    async with connected(chatter, limits=FEW) as (client, _):
        session = await client.new_session()
        stream = session.updates()
        async with session.prompt("a") as turn:
            while not caplog.records:
                await checkpoint()
            for _ in range(6):
                await anext(stream)
            await turn.wait()
        async with session.prompt("b") as turn:
            await turn.wait()
        stream.close()
    assert len(caplog.records) == 1
    assert "the updates() of session 's1' are not consumed: " in caplog.text


async def test_a_stream_that_is_read_slowly_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: to be slow is what the bound is for, and who is gone holds nobody back."""
    looks: list[Update] = []
    tell_if_still = module.Inbox.tell_if_still

    def look(inbox: module.Inbox, first: Update) -> Update | None:
        looks.append(first)
        inbox._items.popleft()
        return tell_if_still(inbox, first)

    monkeypatch.setattr(module.Inbox, "tell_if_still", look)
    monkeypatch.setattr(module, "STILL_SECONDS_MAX", 0.001)
    async with connected(chatter, limits=FEW) as (client, _):
        session = await client.new_session()
        stream = session.updates()
        async with session.prompt("a") as turn:
            with anyio.fail_after(HANG_SECONDS):
                while len(looks) < 2:
                    await checkpoint()
            del stream
            gc.collect()
            await turn.wait()
    assert caplog.records == []


@pytest.mark.parametrize("bound", [1, 2, 3])
async def test_the_smallest_bounds_stop_nobody_for_good(bound: int) -> None:
    """Ours: whoever takes all that waits is read for again."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        for _ in range(6):
            agent.say("x")
            await anyio.wait_all_tasks_blocked()
        agent.end_turn(prompt)

    async with connected(script, limits=Limits(turn_updates=bound)) as (client, _):
        session = await client.new_session()
        async with session.prompt("a") as turn:
            assert "".join([update.text async for update in turn]) == "xxxxxx"


async def test_a_turn_that_is_over_holds_nobody_back() -> None:
    """Ours, found by the simulator: its end came in one chunk with more than it may hold, the
    loop was left, and as long as somebody had the turn nothing was read any more."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        first = await agent.begin_turn()
        end = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
        said = [agent.update_message(chunk("x", "m1")) for _ in range(6)]
        agent.write(*said, agent.update_message(end))
        assert first["params"]["prompt"]
        agent.end_turn(await agent.begin_turn())

    async with connected(script, 2, limits=FEW) as (client, _):
        session = await client.new_session()
        async with session.prompt("a") as turn:
            async for _ in turn:
                break
            assert turn.is_over
        with anyio.fail_after(HANG_SECONDS):
            async with session.prompt("b") as following:
                assert [update.kind async for update in following] == []
        assert following.stop_reason == "end_turn"
        assert turn.reply.text == "xxxxxx"


async def test_an_agent_waits_when_large_updates_are_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Issue 12: what waits for a slow loop is bounded by its size too."""
    monkeypatch.setattr(backpressure, "CONSUMER_CHECK_BYTES", 64 * 1024)

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.begin_turn()
        for _ in range(64):
            agent.say("x" * 16 * 1024)
            await checkpoint()
        agent.end_turn(prompt)

    async with connected(script) as (client, _):
        session = await client.new_session()
        async with session.prompt("a") as turn:
            stream = session.updates()
            await anyio.wait_all_tasks_blocked()
            held = stream.waiting
            texts = [update.text async for update in turn]
        assert 0 < held < 32
        assert "".join(texts) == "x" * 16 * 1024 * 64
