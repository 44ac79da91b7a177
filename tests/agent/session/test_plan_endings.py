"""What was not done is never `completed`, in no version and however the turn ends (issue 14)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.schema import v2
from accord.store import MemoryStore
from tests.agent.draft.draft_client import draft_client
from tests.agent.raw_client import RawClient, raw_client
from tests.agent.unstable.play import idle

ENDS = ("cancel", "refusal", "max_tokens", "fail")
VERSIONS = pytest.mark.parametrize("version", [1, 2])
# v1 has no word for what will not be done.
OPEN = {1: "pending", 2: "cancelled"}


def made(store: MemoryStore | None = None) -> Agent:
    """An agent whose turns end as the prompt says, with one of three steps done."""
    agent = Agent("plans", version="1.0", store=store or MemoryStore())

    @agent.on_prompt
    async def work(turn: Turn) -> str | None:
        plan = await turn.plan("Look", "Repair", "Test")
        await plan.start(0)
        await plan.complete(0)
        await plan.start(1)
        match turn.text:
            case "cancel" | "cut off":
                await anyio.sleep_forever()
            case "fail":
                raise ValueError("as asked")
            case "drop":
                await plan.drop(1)
                await plan.drop(2)
            case "done":
                await plan.complete(1)
                await plan.complete(2)
            case "go on":
                await turn.say("more tomorrow")
            case "remove":
                await plan.remove()
                return "refusal"
            case reason:
                return reason
        return None

    return agent


async def end(client: RawClient, session_id: str, how: str) -> list[str]:
    """Run one turn to its end; the last statuses of its plan."""
    request_id = client.start_prompt(session_id, how)
    if how == "cancel":
        await client.take(
            lambda message: "in_progress" in str(message) and "Repair" in str(message)
        )
        client.cancel(session_id)
    await client.answer(request_id)
    if client.version == 2:
        await idle(client, session_id)
    return statuses(client)


def statuses(client: RawClient) -> list[str]:
    plans = client.updates("plan") or [one["plan"] for one in client.updates("plan_update")]
    return [entry["status"] for entry in plans[-1]["entries"]]


@VERSIONS
@pytest.mark.parametrize("how", ENDS)
async def test_a_turn_that_was_stopped_works_on_nothing(version: int, how: str) -> None:
    """Nothing is ticked off that was not done, and nothing spins."""
    async with raw_client(made(), version=version) as client:
        told = await end(client, await client.new_session(), how)
    assert told == ["completed", OPEN[version], OPEN[version]]


@VERSIONS
async def test_what_was_dropped_is_not_done(version: int) -> None:
    """A rejected repair read as done."""
    async with raw_client(made(), version=version) as client:
        told = await end(client, await client.new_session(), "drop")
    assert told == ["completed", OPEN[version], OPEN[version]]


@VERSIONS
@pytest.mark.parametrize(
    ("how", "left"),
    [
        ("done", ["completed", "completed", "completed"]),
        ("go on", ["completed", "in_progress", "pending"]),
    ],
)
async def test_a_turn_that_came_to_its_end_leaves_its_plan(
    version: int, how: str, left: list[str]
) -> None:
    """Work may go on with the next prompt."""
    async with raw_client(made(), version=version) as client:
        assert await end(client, await client.new_session(), how) == left


async def test_a_plan_that_was_removed_does_not_come_back() -> None:
    """Nobody shows it any more."""
    async with raw_client(made(), version=1) as client:
        assert await end(client, await client.new_session(), "remove") == []


@pytest.mark.parametrize("how", [*ENDS, "drop"])
async def test_a_draft_client_is_told_so_too(how: str) -> None:
    """The draft's own words have none for it, so ours is sent, as it always was."""
    async with draft_client(made()) as client:
        session_id = await client.new_session()
        request_id = client.start_prompt(session_id, how)
        if how == "cancel":
            await client.take(lambda message: "in_progress" in str(message))
            client.cancel(session_id)
        await client.answer(request_id)
        steps: list[dict[str, Any]] = client.told("plan")[-1]["steps"]
    assert [step["status"] for step in steps] == ["completed", "cancelled", "cancelled"]


@VERSIONS
async def test_a_plan_of_a_turn_that_was_cut_off_is_settled_when_it_is_loaded(version: int) -> None:
    """Nobody told its end: the process was gone."""
    store = MemoryStore()
    async with raw_client(made(store), version=version) as client:
        session_id = await client.new_session()
        await end(client, session_id, "done")
        client.unread.clear()
        client.start_prompt(session_id, "cut off")
        await client.take(
            lambda message: "in_progress" in str(message) and "Repair" in str(message)
        )
        client.stop_agent()
    async with raw_client(made(store), version=version) as client:
        load = {"sessionId": session_id, "cwd": "/tmp", "mcpServers": []}
        if version == 1:
            await client.result("session/load", load)
        else:
            await client.result("session/resume", load | {"replayFrom": {"type": "start"}})
        assert statuses(client) == ["completed", OPEN[version], OPEN[version]]
        if version == 1:
            # From now on that is how it was.
            await client.result("session/load", load)
            assert statuses(client) == ["completed", "pending", "pending"]
            assert len(client.updates("plan")) == 3


async def test_plans_of_text_have_nothing_to_settle() -> None:
    """Only entries have a status."""
    agent = Agent("text", version="1.0", unstable=True)

    @agent.on_prompt
    async def work(turn: Turn) -> str:
        await turn.emit(v2.PlanUpdate(plan=v2.PlanMarkdown(plan_id="a", content="# A")))
        return "refusal"

    async with raw_client(agent, version=2) as client:
        session_id = await client.new_session()
        await client.answer(client.start_prompt(session_id))
        await idle(client, session_id)
        assert len(client.updates("plan_update")) == 1


async def test_v1_tells_a_plan_again_only_if_it_reads_differently() -> None:
    """Issue 14: a plan was shown twice; what is dropped stays pending in v1."""
    async with raw_client(made(), version=1) as client:
        session_id = await client.new_session()
        await end(client, session_id, "drop")
        await end(client, session_id, "drop")
        told = [one["entries"] for one in client.updates("plan")]
    assert len(told) == 10
    assert all(one != following for one, following in pairwise(told))
