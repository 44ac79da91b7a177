"""When v2's foreground work is over: every order in which its messages can come."""

from __future__ import annotations

import anyio
import pytest

from accord.client.session.turn_end import ForegroundWork, Outcome, Verdict
from tests.client.scripted_agent import ScriptedAgent, connected

DONE = Outcome("end_turn")
OTHER = Outcome("max_tokens")
ON, ENDED, PERHAPS = Verdict.GOES_ON, Verdict.ENDED, Verdict.PERHAPS


def test_the_usual_order_ends_with_the_idle_that_follows_work() -> None:
    """v2's pages 5.5."""
    work = ForegroundWork(busy=False)
    assert work.inserted() is ON
    assert work.reported_busy() is ON
    assert work.reported_idle(DONE) is ENDED
    assert work.outcome == DONE


def test_work_that_was_faster_than_its_answer_ends_with_the_answer() -> None:
    """v2's pages 5.5: echo, answer and states have no fixed order."""
    work = ForegroundWork(busy=False)
    assert work.reported_busy() is ON
    assert work.reported_idle(DONE) is ON
    assert work.inserted() is ENDED
    assert work.outcome == DONE


def test_the_end_of_earlier_work_is_not_the_end_of_a_held_prompt() -> None:
    """v2's pages 5.5: a held prompt is inserted when the earlier work is done."""
    work = ForegroundWork(busy=True)
    assert work.reported_idle(OTHER) is ON
    assert work.inserted() is PERHAPS
    quiet = [work.is_quiet]
    assert work.reported_busy() is ON
    assert [*quiet, work.is_quiet] == [True, False]
    assert work.reported_idle(DONE) is ENDED


def test_a_prompt_that_joins_running_work_ends_with_it() -> None:
    """v2's pages 5.5: states are an aggregate over the session."""
    work = ForegroundWork(busy=True)
    assert work.reported_busy() is ON
    assert work.inserted() is ON
    assert work.reported_idle(DONE) is ENDED


def test_an_idle_without_work_is_only_perhaps_the_end() -> None:
    """V2-PROMPT-15: snapshots repeat; work may only be about to begin."""
    work = ForegroundWork(busy=False)
    assert work.inserted() is ON
    assert work.reported_idle(DONE) is PERHAPS
    assert work.reported_busy() is ON
    assert work.reported_idle(OTHER) is ENDED


def test_a_cancel_of_work_that_never_began_needs_no_confirmation() -> None:
    """v2's pages 5.6: idle `cancelled` only if foreground work was active."""
    work = ForegroundWork(busy=False)
    assert work.cancelled() is ON
    assert work.inserted() is PERHAPS
    assert work.outcome == Outcome("cancelled")
    work = ForegroundWork(busy=False)
    assert work.inserted() is ON
    assert work.cancelled() is PERHAPS
    assert work.is_quiet
    work = ForegroundWork(busy=False)
    assert (work.inserted(), work.reported_busy()) == (ON, ON)
    assert work.cancelled() is ON


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment is short here."""
    monkeypatch.setattr("accord.client.session.prompt_exchange.QUIET_SECONDS_MAX", 0.02)


@pytest.mark.rule("V2-PROMPT-08", "V2-PROMPT-15")
@pytest.mark.parametrize("order", ["echo first", "answer first", "answer last", "no echo"])
async def test_every_order_of_echo_answer_and_states_is_one_turn(order: str) -> None:
    """N2 PromptResponse: the echo may come before or after the result."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.expect("session/prompt")
        content = [{"type": "text", "text": "go"}]
        echo = {"sessionUpdate": "user_message", "messageId": "u", "content": content}
        if order == "echo first":
            agent.update(echo)
        if order != "answer last":
            agent.result(prompt, {"messageId": "u"})
        agent.state("running")
        agent.state("running")
        if order == "answer first":
            agent.update(echo)
        agent.say("work")
        agent.state("idle", stopReason="end_turn")
        agent.state("idle", stopReason="end_turn")
        if order == "answer last":
            agent.update(echo)
            agent.result(prompt, {"messageId": "u"})

    async with connected(script, 2) as (client, _):
        session = await client.new_session()
        async with session.prompt("go") as turn:
            kinds = [update.kind async for update in turn]
        assert kinds == ["message"]
        assert turn.stop_reason == "end_turn"
        assert [m.text for m in session.transcript.messages] == ["go", "work"]
        assert session.transcript.messages[0].message_id == "u"


@pytest.mark.parametrize("result", [{}, None])
async def test_peers_of_august_answer_without_an_id(result: object) -> None:
    """v2's pages 10: take the id of the echo."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.expect("session/prompt")
        agent.result(prompt, result)
        content = [{"type": "text", "text": "go"}]
        agent.update({"sessionUpdate": "user_message", "messageId": "e", "content": content})
        agent.state("running")
        agent.state("idle", stopReason="end_turn")

    async with connected(script, 2) as (client, _):
        session = await client.new_session()
        assert (await session.ask("go")).stop_reason == "end_turn"
        assert [m.message_id for m in session.transcript.messages] == ["e"]


async def test_the_first_drafts_answer_when_the_work_is_done() -> None:
    """v2's pages 11: `stopReason` in the result is insertion and end at once."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.expect("session/prompt")
        agent.say("work")
        agent.result(prompt, {"stopReason": "refusal"})

    async with connected(script, 2) as (client, _):
        session = await client.new_session()
        assert (await session.ask("go")).stop_reason == "refusal"


@pytest.mark.rule("V2-PROMPT-16")
async def test_an_end_without_a_reason_is_an_end() -> None:
    """N2 IdleStateUpdate: malformed or absent reads as not reported."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        for reason in ({}, {"stopReason": None}, {"stopReason": 5}):
            await agent.begin_turn()
            agent.state("idle", **reason)

    async with connected(script, 2) as (client, _):
        session = await client.new_session()
        for _ in range(3):
            assert (await session.ask("go")).stop_reason is None


@pytest.mark.rule("V2-PROMPT-13")
async def test_an_unknown_state_is_busy_and_never_idle() -> None:
    """N2 StateUpdate."""
    seen = anyio.Event()

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        await agent.begin_turn()
        agent.state("_dreaming")
        agent.say("zzz")
        await seen.wait()
        agent.state("idle", stopReason="_woke")

    async with connected(script, 2) as (client, _):
        session = await client.new_session()
        async with session.prompt("go") as turn:
            await anext(turn)
            assert session.is_busy
            assert session.transcript.state.confirmed is None
            seen.set()
        assert turn.stop_reason in ("_woke", "cancelled")


async def test_a_local_command_that_never_ran_ends_after_a_moment() -> None:
    """Ours: an agent that inserts and says idle, and nothing else, must not hang its client."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        agent.result(await agent.expect("session/prompt"), {"messageId": "u"})
        agent.state("idle", stopReason="end_turn")

    async with connected(script, 2) as (client, _):
        session = await client.new_session()
        assert (await session.ask("/help")).stop_reason == "end_turn"


async def test_a_cancel_before_any_work_ends_after_a_moment() -> None:
    """v2's pages 5.6: nothing is confirmed when nothing was active."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        prompt = await agent.expect("session/prompt")
        await agent.expect("session/cancel")
        agent.result(prompt, {"messageId": "u"})

    async with connected(script, 2) as (client, _):
        session = await client.new_session()
        async with session.prompt("go") as turn:
            await turn.cancel()
            assert (await turn.wait()).stop_reason == "cancelled"


@pytest.mark.rule("V2-SESS-14")
async def test_the_state_after_a_resume_completes_nothing() -> None:
    """N2 IdleStateUpdate: snapshots are not completions."""

    async def script(agent: ScriptedAgent) -> None:
        request = await agent.expect("session/resume")
        agent.state(
            "idle",
            stopReason="end_turn",
            usage={"totalTokens": 1, "inputTokens": 1, "outputTokens": 0},
        )
        agent.result(request, {})

    async with connected(script, 2) as (client, _):
        session = await client.resume_session("s1")
        assert not session.is_busy
        assert session.transcript.state.completions == 0
