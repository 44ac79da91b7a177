"""Several plans, plans that are text or files, and what a turn has cost."""

from __future__ import annotations

import pytest

from accord.agent import Agent, Turn
from accord.errors import LocalProtocolError
from tests.agent.raw_client import raw_client
from tests.agent.unstable.play import again, made, reopen, run_turn


async def many(turn: Turn) -> None:
    first = await turn.plan("one", plan_id="a")
    await turn.plan("two", plan_id="b")
    await turn.plan_text("# Three", plan_id="c")
    await turn.plan_text("# Three again", plan_id="c")
    await turn.plan_file("plan.md", plan_id="d")
    await first.drop(0)
    await first.remove()


def entry(content: str) -> dict[str, str]:
    return {"content": content, "priority": "medium", "status": "pending"}


@pytest.mark.rule("V1-PLAN-05")
async def test_a_v1_client_with_plan_gets_every_plan_by_its_id() -> None:
    """Spec: `plan_update` and `plan_removed` for those who said `plan`."""
    async with raw_client(made(many), version=1, capabilities={"plan": {}}) as client:
        await run_turn(client, 1, await client.new_session())
        plans = [one["plan"] for one in client.updates("plan_update")]
        assert plans == [
            {"type": "items", "planId": "a", "entries": [entry("one")]},
            {"type": "items", "planId": "b", "entries": [entry("two")]},
            {"type": "markdown", "planId": "c", "content": "# Three"},
            {"type": "markdown", "planId": "c", "content": "# Three again"},
            {"type": "file", "planId": "d", "uri": "file:///tmp/plan.md"},
            {"type": "items", "planId": "a", "entries": [entry("one")]},
        ]
        assert [one["planId"] for one in client.updates("plan_removed")] == ["a"]
        assert client.updates("plan") == []


@pytest.mark.rule("V1-PLAN-05")
@pytest.mark.parametrize("unstable", [True, False])
async def test_a_v1_client_without_plan_gets_the_plan_that_changed_last(unstable: bool) -> None:
    """Spec: `plan` only; text is said once, the removal of what is shown empties it."""
    agent = Agent("plans", version="1.0", unstable=unstable)
    agent.on_prompt(many)
    async with raw_client(agent, version=1) as client:
        session_id = await client.new_session()
        await run_turn(client, 1, session_id)
        shown = [one["entries"] for one in client.updates("plan")]
        assert shown == [[entry("one")], [entry("two")], [entry("one")], []]
        assert client.text() == "# ThreeThe plan is in file:///tmp/plan.md"
        assert client.updates("plan_update") == client.updates("plan_removed") == []
        await client.result(again(1), reopen(1, session_id))
        # Of the past only what is there still: the second plan, once.
        assert [one["entries"] for one in client.updates("plan")[4:]] == [[entry("two")]]


async def test_a_plan_that_is_not_shown_is_removed_silently() -> None:
    """Ours: without `plan` there is one plan, and another one's end does not empty it."""

    async def two(turn: Turn) -> None:
        first = await turn.plan("one", plan_id="a")
        await turn.plan("two", plan_id="b")
        await first.remove()

    async with raw_client(made(two), version=1) as client:
        await run_turn(client, 1, await client.new_session())
        assert [one["entries"] for one in client.updates("plan")] == [
            [entry("one")],
            [entry("two")],
        ]


@pytest.mark.parametrize("unstable", [True, False])
async def test_v2_has_every_plan_and_the_unstable_forms_only_where_they_are_on(
    unstable: bool,
) -> None:
    """Spec: `items` is stable; text, files and removal are not."""
    agent = Agent("plans", version="1.0", unstable=unstable)
    agent.on_prompt(many)
    async with raw_client(agent, version=2) as client:
        await run_turn(client, 2, await client.new_session())
        kinds = [one["plan"]["type"] for one in client.updates("plan_update")]
        if unstable:
            assert kinds == ["items", "items", "markdown", "markdown", "file", "items"]
            assert len(client.updates("plan_removed")) == 1
        else:
            assert kinds == ["items", "items", "items", "items"]
            assert client.updates("plan_update")[-1]["plan"]["entries"] == []
            assert client.text() == "# ThreeThe plan is in file:///tmp/plan.md"


async def test_tokens_are_told_of_the_turn_in_v2_and_of_the_session_in_v1(version: int) -> None:
    """Spec: v1's sums are session-wide, also after a reload; v2's are of the work that ended."""

    async def cost(turn: Turn) -> None:
        turn.count_tokens(input=1, output=2)
        turn.count_tokens(input=10, output=20, thought=5, cached_read=4, cached_write=0)

    async with raw_client(made(cost), version=version) as client:
        session_id = await client.new_session()
        one = await run_turn(client, version, session_id)
        assert one["usage"] == {
            "totalTokens": 42,
            "inputTokens": 11,
            "outputTokens": 22,
            "thoughtTokens": 5,
            "cachedReadTokens": 4,
            "cachedWriteTokens": 0,
        }
        await client.result("session/close", {"sessionId": session_id})
        await client.result(again(version), reopen(version, session_id))
        client.unread.clear()
        two = await run_turn(client, version, session_id)
        assert two["usage"]["totalTokens"] == (84 if version == 1 else 42)


async def test_a_turn_that_counts_nothing_says_nothing(version: int) -> None:
    """Ours: no zeros where nobody counted; a former turn's cost is not told again."""

    async def switch(turn: Turn) -> None:
        if turn.text == "count":
            turn.count_tokens(input=1, output=1)
        else:
            with pytest.raises(LocalProtocolError):
                turn.count_tokens(input=-1, output=0)

    async with raw_client(made(switch), version=version) as client:
        session_id = await client.new_session()
        assert "usage" not in await run_turn(client, version, session_id, "quiet")
        await run_turn(client, version, session_id, "count")
        if version == 2:
            assert "usage" not in await run_turn(client, version, session_id, "quiet")


async def test_off_no_cost_is_told(version: int) -> None:
    """Ours: the switch."""

    async def cost(turn: Turn) -> None:
        turn.count_tokens(input=1, output=2)

    agent = Agent("off", version="1.0")
    agent.on_prompt(cost)
    async with raw_client(agent, version=version) as client:
        assert "usage" not in await run_turn(client, version, await client.new_session())
