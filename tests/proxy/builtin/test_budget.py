"""Budgets: what is counted, and what happens when one is spent."""

import pytest

from accord.proxy.builtin.budget import Limits, Spent, budget
from tests.proxy.builtin.opened import VERSIONS, opened, prompt, said, update
from tests.proxy.wires import Json, Wire, around

pytestmark = pytest.mark.anyio


async def turn(client: Wire, agent: Wire, version: int, number: int, usage: Json) -> None:
    """A whole turn that uses so much."""
    prompt(client, number, "hello")
    asked = await agent.hear()
    if version == 1:
        agent.answer(asked["id"], {"stopReason": "end_turn", "usage": usage})
    else:
        agent.answer(asked["id"], {"messageId": "m"})
        update(agent, sessionUpdate="state_update", state="running")
        update(agent, sessionUpdate="state_update", state="idle", usage=usage)
        assert (await client.hear())["id"] == number
        await client.hear()
    await client.hear()


async def refused(client: Wire, number: int) -> str:
    """Ask once more; what is said, which is the error too."""
    prompt(client, number, "more")
    told = said(await client.hear())
    error = (await client.hear())["error"]
    assert error["code"] == -32052
    assert error["data"]["reason"] == "budget_spent"
    assert error["message"] == told
    return told


@pytest.mark.parametrize("version", VERSIONS)
async def test_prompts_are_counted_and_the_next_is_refused(version: int) -> None:
    """Issue 5: refuses the next prompt with a clear error and says so in the conversation."""
    async with around(budget(Limits(prompts=2))) as (client, agent, _, _):
        await opened(client, agent, version)
        for number in (1, 2):
            await turn(client, agent, version, number, {})
        assert await refused(client, 3) == "The budget of 2 prompts is spent."
        assert not agent.unheard()


@pytest.mark.parametrize("version", VERSIONS)
async def test_tokens_of_turns_are_sums_in_v1_and_parts_in_v2(version: int) -> None:
    """Rules, row 40: v1 tells the session's sum, v2 the finished work."""
    async with around(budget(Limits(tokens=300))) as (client, agent, _, _):
        await opened(client, agent, version)
        usages = (150, 320) if version == 1 else (150, 170)
        for number, total in enumerate(usages):
            await turn(client, agent, version, number, {"totalTokens": total})
        assert "300 tokens is spent (320 were used)" in await refused(client, 9)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("limits", [Limits(tokens=1000), Limits(cost=2.5)])
async def test_a_running_turn_is_cancelled_when_it_spends_the_rest(
    version: int, limits: Limits
) -> None:
    """Issue 5: from usage_update; when spent it cancels the running turn."""
    async with around(budget(limits)) as (client, agent, _, _):
        await opened(client, agent, version)
        prompt(client, 1, "hello")
        asked = await agent.hear()
        if version == 2:
            agent.answer(asked["id"], {"messageId": "m"})
            await client.hear()
        for used, amount in ((900, 2.0), (1000, 2.5), (1100, 3.0)):
            cost = {"amount": amount, "currency": "EUR"}
            update(agent, sessionUpdate="usage_update", used=used, size=9999, cost=cost)
        assert (await client.hear())["params"]["update"]["used"] == 900
        assert "is spent" in said(await client.hear())
        cancel = await agent.hear()
        assert (cancel["method"], cancel["params"]) == ("session/cancel", {"sessionId": "s"})
        assert [(await client.hear())["params"]["update"]["used"] for _ in "ab"] == [1000, 1100]
        assert not agent.unheard()


async def test_time_cancels_the_turn_that_runs(anyio_backend: str) -> None:
    """Issue 5: time; it counts while a turn runs."""
    async with around(budget(Limits(minutes=0.001))) as (client, agent, _, _):
        await opened(client, agent, 1)
        prompt(client, 1, "hello")
        asked = await agent.hear()
        assert "minutes is spent" in said(await client.hear())
        assert (await agent.hear())["method"] == "session/cancel"
        agent.answer(asked["id"], {"stopReason": "cancelled"})
        assert (await client.hear())["result"] == {"stopReason": "cancelled"}
        assert "0.001 minutes" in await refused(client, 2)


def test_turns_that_run_at_once_count_once() -> None:
    """Ours: time is the user's."""
    clock = [0.0]
    spent = Spent(lambda: clock[0])
    spent.begin("a")
    clock[0] = 60
    spent.begin("b")
    clock[0] = 120
    assert spent.minutes == 2
    spent.end("a")
    assert spent.minutes == 2
    clock[0] = 180
    assert spent.minutes == 3
    spent.end("b")
    spent.end("b")
    clock[0] = 999
    assert spent.minutes == 3


async def test_a_prompt_that_fails_ends_its_time() -> None:
    """Ours: an error is an end too."""
    async with around(budget(Limits(minutes=1))) as (client, agent, _, _):
        await opened(client, agent, 1)
        prompt(client, 1, "hello")
        agent.say({"id": (await agent.hear())["id"], "error": {"code": 1, "message": "no"}})
        assert (await client.hear())["error"]["message"] == "no"
