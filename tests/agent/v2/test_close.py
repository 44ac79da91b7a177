"""`session/close` in v2: work is ended, told to its end, and nothing follows."""

from __future__ import annotations

import anyio
import pytest

from accord.agent import Turn
from tests.agent.raw_client import Message, RawClient
from tests.agent.v2.play import idle, insert, kind_of, kinds, made, playing, settle, text
from tests.agent.v2.steps import STEPS, Halt
from tests.agent.v2.test_cancel import OFFERS, Step, all_final, at_step, open_questions, withdrawn
from tests.hang_limit import HANG_SECONDS


def before_answer(client: RawClient, request_id: int) -> list[Message]:
    """All frames up to the answer of a request."""
    return client.frames[: kinds(client).index(f"result {request_id}")]


@pytest.mark.rule("V2-SESS-15", "V2-SESS-16")
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
async def test_close_at_every_step_ends_the_work_before_it_is_answered(
    step: Step,
) -> None:
    """Spec: final updates and idle `cancelled` first, then the result, then nothing."""
    halt = Halt()

    async def work(turn: Turn) -> None:
        await step(turn, halt)

    async with playing(made(work), OFFERS) as client:
        session_id = await at_step(client, step, halt)
        request_id = client.start("session/close", {"sessionId": session_id})
        assert (await client.answer(request_id))["result"] == {}
        last = before_answer(client, request_id)[-1]["params"]["update"]
        assert (last["state"], last["stopReason"]) == ("idle", "cancelled")
        assert all_final(client)
        assert open_questions(client) == withdrawn(client)
        seen = len(client.frames)
        await settle(client)
        assert len(client.frames) == seen + 1


@pytest.mark.rule("V2-SESS-17", "V2-SESS-16")
async def test_on_close_held_prompts_are_cancelled_and_inserted_ones_keep_their_answer() -> None:
    """Spec: -32800 for what was not inserted, no echo for it; the inserted one had its result."""

    async def work(turn: Turn) -> None:
        await anyio.sleep_forever()

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        assert await insert(client, session_id, "A")
        held = [client.start_prompt(session_id, word) for word in ("B", "C")]
        await client.result("session/close", {"sessionId": session_id})
        for request_id in held:
            assert (await client.answer(request_id))["error"]["code"] == -32800
        assert len(client.updates("user_message")) == 1
        assert (await idle(client))["stopReason"] == "cancelled"


@pytest.mark.rule("V2-SESS-15")
async def test_a_prompt_that_comes_during_the_close_finds_no_session() -> None:
    """Spec: nothing follows; ours: a session that is being closed takes no new work."""

    async def work(turn: Turn) -> None:
        await anyio.sleep_forever()

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        closing = client.start("session/close", {"sessionId": session_id})
        again = client.start("session/close", {"sessionId": session_id})
        prompt = client.start_prompt(session_id, "late")
        assert (await client.answer(prompt))["error"]["code"] in (-32002, -32800)
        assert (await client.answer(closing))["result"] == {}
        assert (await client.answer(again))["result"] == {}
        assert len(client.updates("user_message")) == 1


@pytest.mark.rule("V2-SESS-15")
async def test_delete_closes_first_and_other_sessions_go_on() -> None:
    """Spec: as close, and then it is gone for good."""

    async def work(turn: Turn) -> None:
        if turn.text == "wait":
            await anyio.sleep_forever()
        await turn.say("fine")

    async with playing(made(work)) as client:
        doomed, other = await client.new_session(), await client.new_session()
        await insert(client, doomed, "wait")
        request_id = client.start("session/delete", {"sessionId": doomed})
        assert (await client.answer(request_id))["result"] == {}
        assert kind_of(before_answer(client, request_id)[-1]) == "state_update idle"
        client.unread.clear()
        await insert(client, other)
        assert (await idle(client))["stopReason"] == "end_turn"
        listed = (await client.result("session/list", {}))["sessions"]
        assert [one["sessionId"] for one in listed] == [other]


@pytest.mark.rule("V2-SESS-15")
async def test_a_handler_that_goes_on_after_the_close_cannot_say_a_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Spec: nothing follows, whatever the program does."""
    monkeypatch.setattr("accord.agent.session.turn_run.CANCEL_SECONDS_MAX", 0.1)
    free, ended = anyio.Event(), anyio.Event()

    async def work(turn: Turn) -> None:
        try:
            with anyio.CancelScope(shield=True):
                await free.wait()
                await turn.session.emit(None)  # type: ignore[arg-type]
        finally:
            ended.set()

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        await client.result("session/close", {"sessionId": session_id})
        seen = len(client.frames)
        free.set()
        with anyio.fail_after(HANG_SECONDS):
            await ended.wait()
        params = {"sessionId": session_id, "prompt": text("hi")}
        assert (await client.error("session/prompt", params))["code"] == -32002
        assert len(client.frames) == seen + 1
