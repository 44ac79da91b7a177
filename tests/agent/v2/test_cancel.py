"""`session/cancel` in v2, at every step of a turn, and `$/cancel_request`."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from accord.agent import Turn
from tests.agent.raw_client import OPEN, RawClient
from tests.agent.v2.play import (
    chosen,
    idle,
    insert,
    kind_of,
    made,
    playing,
    settle,
    states,
    statuses,
    text,
)
from tests.agent.v2.steps import STEPS, Halt, at_permission, in_a_command
from tests.hang_limit import HANG_SECONDS

Step = Callable[[Turn, Halt], Awaitable[None]]
OFFERS: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}


def allow_commands(client: RawClient) -> None:
    """Commands are allowed, all other questions stay open."""

    def decide(params: dict[str, Any]) -> Any:
        return chosen("allow_once") if params["subject"]["type"] == "command" else OPEN

    client.serve["session/request_permission"] = decide


async def at_step(client: RawClient, step: Step, halt: Halt) -> str:
    """A session with a turn that waits in this step."""
    allow_commands(client)
    session_id = await client.new_session()
    await insert(client, session_id)
    with anyio.fail_after(HANG_SECONDS):
        await halt.reached.wait()
    if step is in_a_command:
        await client.update("terminal_output_chunk")
    await anyio.wait_all_tasks_blocked()
    return session_id


@pytest.mark.rule(
    "V2-CANCEL-03", "V2-CANCEL-04", "V2-CANCEL-06", "V2-PROMPT-17", "V2-CANCEL-19", "V2-CANCEL-21"
)
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
async def test_cancel_at_every_step_ends_idle_cancelled(step: Step) -> None:
    """Spec: idle `cancelled` after all updates, questions withdrawn, and the next turn works."""
    halt = Halt()

    async def work(turn: Turn) -> None:
        if turn.text == "go":
            await step(turn, halt)

    async with playing(made(work), OFFERS) as client:
        session_id = await at_step(client, step, halt)
        client.cancel(session_id)
        state = await idle(client)
        assert state["stopReason"] == "cancelled"
        assert "error" not in state
        seen = len(client.frames)
        await settle(client)
        assert len(client.frames) == seen + 1, "nothing of cancelled work comes later"
        assert all_final(client)
        assert open_questions(client) == withdrawn(client)
        await insert(client, session_id, "again")
        assert (await idle(client))["stopReason"] == "end_turn"


def all_final(client: RawClient) -> bool:
    """Whether every tool call, terminal and compaction has an end, and offers no button."""
    ends: dict[str, str] = {}
    for update in client.updates():
        match update:
            case {"toolCallId": key, "status": status}:
                ends[key] = status
            case {"terminalId": key, "exitStatus": _}:
                ends[key] = "completed"
                assert update["capabilities"] is None
            case {"terminalId": key, "command": _}:
                ends[key] = "running"
            case {"compactionId": key, "status": status}:
                ends[key] = status
    return all(end in ("completed", "failed", "cancelled") for end in ends.values())


def open_questions(client: RawClient) -> set[Any]:
    """Ids of the agent's questions that the test never answers: all but those about commands."""
    return {
        frame["id"]
        for frame in client.frames
        if frame.get("method") in ("session/request_permission", "elicitation/create")
        and frame["params"].get("subject", {}).get("type") != "command"
    }


def withdrawn(client: RawClient) -> set[Any]:
    """Ids that the agent withdrew."""
    return {
        f["params"]["requestId"] for f in client.frames if f.get("method") == "$/cancel_request"
    }


@pytest.mark.rule("V2-CANCEL-06")
async def test_no_state_runs_again_between_a_cancelled_question_and_idle() -> None:
    """Ours: cancelled work does not go on, not even for a moment."""

    async def work(turn: Turn) -> None:
        await at_permission(turn, Halt())

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        await client.next("session/request_permission")
        client.cancel(session_id)
        await idle(client)
        assert states(client) == ["running", "requires_action", "idle"]
        assert statuses(client) == ["pending", "cancelled"]


@pytest.mark.rule("V2-CANCEL-03", "V2-PROMPT-06")
async def test_cancel_right_behind_a_prompt_ends_it_one_way_or_the_other() -> None:
    """Spec: withdrawn before insertion (-32800), or inserted and idle `cancelled`; never both."""

    async def work(turn: Turn) -> None:
        await anyio.sleep_forever()

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        request_id = client.start_prompt(session_id)
        client.cancel(session_id)
        answer = await client.answer(request_id)
        await settle(client)
        if "error" in answer:
            assert answer["error"]["code"] == -32800
            assert client.updates() == []
        else:
            assert states(client) == ["running", "idle"]


@pytest.mark.rule("V2-CANCEL-05", "V2-CANCEL-03")
async def test_cancel_takes_held_prompts_along_and_leaves_later_ones_alone() -> None:
    """Spec: held ones get -32800 and no echo; a prompt sent after the cancel is unaffected."""

    async def work(turn: Turn) -> None:
        if turn.text == "A":
            await anyio.sleep_forever()
        await turn.say(turn.text)

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await insert(client, session_id, "A")
        held = [client.start_prompt(session_id, word) for word in ("B1", "B2")]
        client.cancel(session_id)
        later = client.start_prompt(session_id, "C")
        for request_id in held:
            assert (await client.answer(request_id))["error"]["code"] == -32800
        assert (await idle(client))["stopReason"] == "cancelled"
        assert "result" in await client.answer(later)
        assert (await idle(client))["stopReason"] == "end_turn"
        inserted = [one["content"][0]["text"] for one in client.updates("user_message")]
        assert inserted == ["A", "C"]
        assert [one["content"] for one in client.updates("agent_message")] == [text("C")]


@pytest.mark.rule("V2-CANCEL-08")
async def test_cancel_while_idle_says_nothing() -> None:
    """Spec: no further idle is needed; unknown sessions are nobody's business."""
    async with playing(made()) as client:
        session_id = await client.new_session()
        client.cancel(session_id)
        client.cancel("nope")
        await settle(client)
        assert client.updates() == []
        await insert(client, session_id)
        assert (await idle(client))["stopReason"] == "end_turn"


@pytest.mark.rule("V2-CANCEL-02")
@pytest.mark.parametrize("handler", ["thread", "shield"])
async def test_a_handler_that_ignores_cancellation_is_left_behind(
    handler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spec: fast; ours: idle within a bound, and nothing of it comes later."""
    monkeypatch.setattr("accord.agent.session.turn_run.CANCEL_SECONDS_MAX", 0.1)
    free = anyio.Event()
    stop = [False]

    def block() -> None:
        while not stop[0]:
            time.sleep(0.01)

    async def work(turn: Turn) -> None:
        async with turn.tool_call("Think", kind="think"):
            if handler == "thread":
                await anyio.to_thread.run_sync(block)
            with anyio.CancelScope(shield=True):
                await free.wait()
                await turn.say("too late")

    async with playing(made(work)) as client:
        session_id = await client.new_session()
        await insert(client, session_id)
        await client.update("tool_call_update")
        client.cancel(session_id)
        assert (await idle(client))["stopReason"] == "cancelled"
        assert all_final(client)
        free.set()
        stop[0] = True
        await settle(client)
        assert kind_of(client.frames[-2]) == "state_update idle"
        assert client.updates("agent_message") == []
