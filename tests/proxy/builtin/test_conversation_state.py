"""What the ready-made proxies have in common."""

from collections.abc import Callable
from typing import Any

import pytest

from accord.proxy.builtin.budget import Limits, budget
from accord.proxy.builtin.context import context
from accord.proxy.builtin.guard.guard import guard
from accord.proxy.proxy import Proxy
from tests.proxy.wires import Json, Wire, around

pytestmark = pytest.mark.anyio

INFO = {"name": "a", "version": "1"}


READY: tuple[Callable[[], Proxy], ...] = (guard, context, lambda: budget(Limits(prompts=1)))


@pytest.mark.parametrize("make", READY)
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
        assert "accord proxy" in refused["message"]
        await _nothing_passes(client, agent)


async def _nothing_passes(client: Wire, agent: Wire) -> None:
    """Whatever the two say to each other now, neither hears the other."""
    client.request(2, "session/new", {"cwd": "/w", "mcpServers": []})
    assert (await client.hear())["error"]["code"] == -32600
    client.request(3, "session/prompt", {"sessionId": "s", "prompt": []})
    assert (await client.hear())["error"]["code"] == -32600
    assert not agent.unheard()


ANSWERS: tuple[Any, ...] = (
    7,
    None,
    {},
    {"protocolVersion": 3, "info": INFO, "capabilities": {}},
    {"protocolVersion": "2", "info": INFO, "capabilities": {}},
    {"protocolVersion": 0, "agentCapabilities": {}},
    {"protocolVersion": 1, "agentInfo": INFO, "capabilities": {}},
)


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("make", READY)
async def test_what_was_agreed_on_must_be_readable(make: Callable[[], Proxy], answer: Any) -> None:
    """Issue 12: what a proxy cannot read it does not let pass; unknown versions."""
    async with around(make()) as (client, agent, _, _):
        client.request(1, "initialize", {"protocolVersion": 3})
        agent.answer((await agent.hear())["id"], answer)
        assert "error" in await client.hear()
        await _nothing_passes(client, agent)


@pytest.mark.parametrize("make", READY)
async def test_nothing_passes_before_a_version_is_agreed_on(make: Callable[[], Proxy]) -> None:
    """Issue 12: an agent that takes sessions without `initialize` is not reached."""
    async with around(make()) as (client, agent, _, _):
        await _nothing_passes(client, agent)


@pytest.mark.parametrize("make", READY)
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/new", {"workingDirectory": "/w"}),
        ("session/prompt", {"sessionId": "s", "content": []}),
        ("authenticate", {"method": "api_key", "credentials": {}}),
        ("session/set_mode", {"sessionId": "s", "mode": "x"}),
    ],
)
async def test_a_client_that_turns_to_the_draft_later_is_refused(
    make: Callable[[], Proxy], method: str, params: Json
) -> None:
    """Issue 12: agents take the first request for the dialect, so that it would pass unread."""
    async with around(make()) as (client, agent, _, _):
        client.request(1, "initialize", {"protocolVersion": 1})
        agent.answer((await agent.hear())["id"], {"protocolVersion": 1, "agentCapabilities": {}})
        await client.hear()
        client.request(2, method, params)
        refused = (await client.hear())["error"]
        assert refused["code"] == -32602
        assert "accord proxy" in refused["message"]
        assert not agent.unheard()


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("make", READY)
async def test_a_side_that_agreed_on_a_version_keeps_to_it(
    make: Callable[[], Proxy], version: int
) -> None:
    """Issue 12: a second `initialize` made the two change their language."""
    async with around(make()) as (client, agent, _, _):
        client.request(1, "initialize", {"protocolVersion": 3})
        refusal = {"code": -32602, "message": "no"}
        agent.say({"jsonrpc": "2.0", "id": (await agent.hear())["id"], "error": refusal})
        assert (await client.hear())["error"]["message"] == "no"
        # Whoever was refused may ask again, and several may ask at once.
        client.request(2, "initialize", {"protocolVersion": 1})
        client.request(3, "initialize", {"protocolVersion": version})
        agent.answer((await agent.hear())["id"], {"protocolVersion": 1, "agentCapabilities": {}})
        assert "result" in await client.hear()
        refused = await client.hear()
        assert (refused["id"], refused["error"]["code"]) == (3, -32600)
        assert not agent.unheard()
