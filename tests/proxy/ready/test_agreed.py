"""What the ready-made proxies have in common."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from accord.proxy.proxy import Proxy
from accord.proxy.ready.budget import Limits, budget
from accord.proxy.ready.context import context
from accord.proxy.ready.guard import guard
from tests.proxy.wires import around

pytestmark = pytest.mark.anyio

INFO = {"name": "a", "version": "1"}


@pytest.mark.parametrize("make", [guard, context, lambda: budget(Limits(prompts=1))])
async def test_an_agent_of_the_draft_is_refused_and_not_let_pass_unwatched(
    make: Callable[[], Proxy],
) -> None:
    """Ours: a guard that understands nothing would guard nothing, without a word."""
    async with around(make()) as (client, agent, _, _):
        client.request(1, "initialize", {"protocolVersion": 1, "capabilities": {}})
        answer = {"protocolVersion": 1, "agentInfo": INFO, "capabilities": {}}
        agent.answer((await agent.hear())["id"], answer)
        refused = (await client.hear())["error"]
        assert refused["code"] == -32603
        assert "accord translate" in refused["message"]


async def test_an_answer_that_is_none_is_nobodys_business() -> None:
    async with around(guard()) as (client, agent, _, _):
        client.request(1, "initialize", {"protocolVersion": 1})
        agent.answer((await agent.hear())["id"], 7)
        assert (await client.hear())["result"] == 7
