"""A past is told as what it came to: each thing once, in its last state (issue 14)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from accord.agent import Agent, Turn
from accord.agent.serving.session_replay import HELD_MAX, ReplayedState
from accord.schema import v2
from accord.schema.struct import UNSET
from accord.store import MemoryStore
from tests.agent.draft.draft_client import draft_client
from tests.agent.raw_client import Message, raw_client
from tests.agent.unstable.play import run_turn
from tests.agent.v2.play import allow

VERSIONS = pytest.mark.parametrize("version", [1, 2])
PROMPTS = 6


def busy_agent(store: MemoryStore) -> Agent:
    """An agent whose turns send every update that a replay condenses."""
    agent = Agent("busy", version="1.0", store=store)
    agent.add_mode("ask", "Ask")
    agent.add_mode("act", "Act")
    agent.add_option("depth", "Depth", ["1", "2"])

    @agent.on_prompt
    async def work(turn: Turn) -> None:
        plan = await turn.plan("Look", "Do", "Tell")
        await plan.start(0)
        async with turn.tool_call("Look around", kind="search", content=["first"]) as call:
            await call.show("second")
            await call.set_title("Look everywhere")
        await plan.complete(0)
        await plan.start(1)
        await turn.set_mode("act" if turn.mode == "ask" else "ask")
        await turn.set_option("depth", "2")
        if turn.text != "quietly":
            await turn.run("printf", "%s", "printed")
        await plan.complete(1)
        await turn.usage(10, 100)
        await turn.usage(20, 100)
        await turn.set_title("One")
        await turn.set_title(f"About {turn.text}")
        await turn.say(f"Done with {turn.text}")
        await plan.complete(2)

    return agent


def counts(updates: Sequence[Message]) -> Counter[str]:
    return Counter(one["sessionUpdate"] for one in updates)


@VERSIONS
async def test_a_load_tells_the_last_state_of_each_thing_once(version: int) -> None:
    """Issue 14: 27 frames of plans for 6 prompts."""
    store = MemoryStore()
    async with raw_client(busy_agent(store), version=version) as client:
        allow(client)
        session_id = await client.new_session()
        for number in range(PROMPTS):
            await run_turn(client, version, session_id, str(number))
        live = client.updates()
    async with raw_client(busy_agent(store), version=version) as client:
        load = {"sessionId": session_id, "cwd": "/tmp", "mcpServers": []}
        if version == 1:
            await client.result("session/load", load)
        else:
            await client.result("session/resume", load | {"replayFrom": {"type": "start"}})
        told = client.updates()
    plan = "plan" if version == 1 else "plan_update"
    found = counts(told)
    assert counts(live)[plan] == PROMPTS * 6
    assert found[plan] == found["usage_update"] == found["session_info_update"] == 1
    assert found["config_option_update"] == found["current_mode_update"] == 0
    last = {one["sessionUpdate"]: one for one in live}
    states = (plan, "usage_update", "session_info_update")
    assert [one for one in told if one["sessionUpdate"] in states] == [last[one] for one in states]
    calls = [one for one in told if "toolCallId" in one and one.get("content") != []]
    assert len(calls) == 2 * PROMPTS
    assert {one["status"] for one in calls} == {"completed"}
    assert [one["title"] for one in calls[:2]] == ["Look everywhere", "Run printf %s printed"]
    texts = [one["content"]["text"] for one in calls[0]["content"]]
    assert texts == ["first", "second"]
    if version == 1:
        [printed] = calls[1]["content"]
        assert printed["content"]["text"] == "printed"
        assert found["tool_call_update"] == 0
    # Messages and calls are where they were.
    order = [one["sessionUpdate"] for one in told if "messageId" in one or one in calls]
    assert len(order) == PROMPTS * 4
    assert order == order[:4] * PROMPTS


async def test_a_draft_client_is_told_the_last_plan_too() -> None:
    """Issue 14: in every version; the steps of a call are the draft's own rule."""
    store = MemoryStore()
    async with draft_client(busy_agent(store)) as client:
        session_id = await client.new_session()
        await client.prompt(session_id, "quietly")
        await client.prompt(session_id, "quietly")
        [*_, last] = client.told("plan")
    async with draft_client(busy_agent(store)) as client:
        await client.result("session/load", {"sessionId": session_id})
        assert client.told("plan") == [last]
        assert client.statuses() == ["pending", "in_progress", "completed"] * 2
        assert client.told("current_mode_update") == client.told("config_option_update") == []


# ---- one by one


def fold(*updates: Any, has_plan_ids: bool = False, is_held_again: bool = False) -> list[Any]:
    state = ReplayedState(has_plan_ids=has_plan_ids, is_held_again=is_held_again)
    told = [one for update in updates for one in state.take(update)]
    return [*told, *state.rest()]


def call(call_id: str, status: Any = UNSET, **more: Any) -> v2.ToolCallUpdate:
    return v2.ToolCallUpdate(tool_call_id=call_id, status=status, **more)


def said(text: str) -> v2.AgentMessage:
    return v2.AgentMessage(message_id=text, content=[v2.TextContent(text=text)])


def items(plan_id: str, *contents: str) -> v2.PlanUpdate:
    entries = [v2.PlanEntry(content=one, priority="medium", status="pending") for one in contents]
    return v2.PlanUpdate(plan=v2.PlanItems(plan_id=plan_id, entries=entries))


def test_calls_side_by_side_stand_where_they_began() -> None:
    """What is said while a call is open stays behind its report."""
    told = fold(
        call("a", "pending", title="A"),
        said("between"),
        call("b", "pending", title="B"),
        call("a", "in_progress"),
        call("b", "completed"),
        said("still open"),
        call("a", "failed"),
        said("behind"),
    )
    assert told == [
        call("a", "failed", title="A"),
        said("between"),
        call("b", "completed", title="B"),
        said("still open"),
        said("behind"),
    ]


def test_a_call_that_never_ended_is_told_as_far_as_it_came() -> None:
    """Its end is told behind it, by whoever knows that nobody works on it."""
    told = fold(call("a", "pending", title="A"), call("a", "in_progress"), said("cut off"))
    assert told == [call("a", "in_progress", title="A"), said("cut off")]


def test_what_comes_behind_the_end_of_a_call_is_told_as_it_is() -> None:
    """A client may be shown more of a call that is over."""
    chunk = v2.ToolCallContentChunk(
        tool_call_id="a", content=v2.Content(content=v2.TextContent(text="late"))
    )
    told = fold(call("a", "pending"), call("a", "completed"), chunk, call("a", title="Late"))
    assert told == [call("a", "completed"), chunk, call("a", title="Late")]


def test_a_call_that_is_open_for_long_does_not_fill_the_memory() -> None:
    """Over the bound everything is told as it is, and the rest of the call as patches."""
    state = ReplayedState(has_plan_ids=False, is_held_again=False)
    assert state.take(call("a", "pending", title="A")) == ()
    messages = [said(str(number)) for number in range(HELD_MAX)]
    told = [one for message in messages for one in state.take(message)]
    assert told == [call("a", "pending", title="A"), *messages]
    assert not state.is_holding
    assert state.take(call("a", "completed")) == (call("a", "completed"),)


def test_what_terminals_printed_is_told_before_their_call() -> None:
    """So v1, where it is text of the call, has it in one report."""
    printed = v2.TerminalOutputChunk(terminal_id="t", data=b"x")
    ended = v2.TerminalUpdate(terminal_id="t", exit_status=v2.TerminalExitStatus(exit_code=0))
    told = fold(call("a", "pending"), printed, ended, call("a", "completed"))
    assert told == [printed, ended, call("a", "completed")]


def test_the_plan_that_changed_last_is_told_last() -> None:
    """Clients without plans of several ids show only one."""
    told = fold(items("a", "1"), items("b", "2"), said("x"), items("a", "3"))
    assert told == [said("x"), items("b", "2"), items("a", "3")]


@pytest.mark.parametrize(
    ("has_plan_ids", "is_held_again", "told"),
    [
        (False, False, []),
        (False, True, [items("a")]),
        (True, False, [v2.PlanRemoved(plan_id="a")]),
    ],
)
def test_a_plan_that_is_no_more(has_plan_ids: bool, is_held_again: bool, told: list[Any]) -> None:
    """A client that may still show it is told so."""
    found = fold(
        items("a", "1"),
        v2.PlanRemoved(plan_id="a"),
        has_plan_ids=has_plan_ids,
        is_held_again=is_held_again,
    )
    assert found == told


def test_a_plan_of_text_stays_among_the_messages_where_it_is_one() -> None:
    """Clients without such plans are told the text as a message."""
    text = v2.PlanUpdate(plan=v2.PlanMarkdown(plan_id="a", content="# A"))
    assert fold(text, said("x")) == [text, said("x")]
    assert fold(text, said("x"), has_plan_ids=True) == [said("x"), text]


def test_patches_add_up() -> None:
    """A title that is told without a time does not take the time away."""
    told = fold(
        v2.SessionInfoUpdate(title="A", updated_at="2026-01-01T00:00:00Z"),
        v2.SessionInfoUpdate(title="B"),
    )
    assert told == [v2.SessionInfoUpdate(title="B", updated_at="2026-01-01T00:00:00Z")]
