"""Off means off: unless an agent asks for them, its unstable parts do not exist."""

from __future__ import annotations

import pytest

from accord.agent import Agent, Turn
from accord.agent.serving.unstable.providers import ProviderConfig
from tests.agent.raw_client import initialize_params, raw_client
from tests.agent.unstable.play import CLIENT_OFFERS, named_sessions, run_turn

METHODS = [
    "session/fork",
    "session/archive",
    "session/unarchive",
    "session/status",
    "session/set_title",
    "auth/status",
    "providers/list",
    "providers/set",
    "providers/disable",
]


def agent_with_everything(*, unstable: bool) -> Agent:
    """All that can be registered is."""
    agent = Agent("all", version="1.0", unstable=unstable, mcp=["acp"])
    agent.add_provider(
        "main", ["openai"], required=True, current=ProviderConfig("openai", "https://llm.test/v1")
    )
    agent.accept_system_prompt(override=True)

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        turn.count_tokens(input=3, output=4)
        plan = await turn.plan("one", "two")
        await plan.remove()
        await turn.plan_text("# Plan", plan_id="text")
        await turn.plan_file("plan.md", plan_id="file")
        async with turn.subagent("Helper", cancellable=True) as child:
            await child.instruct("look")
            await child.say("looking")
            async with child.tool_call("Look", kind="read"):
                pass
            await child.report("seen")

    return agent


@pytest.mark.parametrize("method", METHODS)
async def test_off_every_unstable_method_is_missing(version: int, method: str) -> None:
    """Ours: the switch; -32601 names the method."""
    async with raw_client(agent_with_everything(unstable=False), version=version) as client:
        error = await client.error(method, {})
        assert error["code"] == -32601
        assert error["data"]["method"] == method


async def test_off_nothing_unstable_is_advertised_or_sent(version: int) -> None:
    """Ours: every frame of such an agent validates against the stable schema, which is strict."""
    agent = agent_with_everything(unstable=False)
    async with raw_client(agent, version=version, initialize=False) as client:
        await client.result("initialize", initialize_params(version, CLIENT_OFFERS[version]))
        session_id = await client.new_session(
            systemPrompt={"mode": "append", "content": [{"type": "text", "text": "be brief"}]}
        )
        await client.result("session/list", {"archived": "only"})
        await run_turn(client, version, session_id)
        kinds = {update["sessionUpdate"] for update in client.updates()}
        assert not kinds & {"subagent_update", "session_message", "plan_removed"}
        assert named_sessions(client) == [session_id]
        # The child's tool call is seen all the same, as the session's own.
        assert any(u.get("title") == "Look" for u in client.updates())


async def test_off_an_acp_server_is_refused(version: int) -> None:
    """Ours: registering the transport does not switch it on."""
    async with raw_client(agent_with_everything(unstable=False), version=version) as client:
        server = {"type": "acp", "name": "tools", "serverId": "s1"}
        error = await client.error("session/new", {"cwd": "/tmp", "mcpServers": [server]})
        assert error["code"] == -32602


@pytest.mark.rule("V1-CAP-07", "V1-PROV-01")
async def test_on_everything_that_was_registered_is_advertised(version: int) -> None:
    """Spec: a capability opens its methods; `archive` needs `list`."""
    agent = agent_with_everything(unstable=True)
    async with raw_client(agent, version=version, initialize=False) as client:
        result = await client.result("initialize", initialize_params(version, {}))
        offers = result["agentCapabilities"] if version == 1 else result["capabilities"]
        sessions = offers["sessionCapabilities"] if version == 1 else offers["session"]
        assert {"fork", "archive", "status", "title"} <= sessions.keys()
        assert sessions["systemPrompt"] == {"mode": {"override": {}}}
        assert offers["providers"] == {}
        assert offers["auth"]["status"] == {}
        if version == 1:
            assert "list" in sessions
            assert offers["mcpCapabilities"]["acp"] is True
        else:
            assert sessions["mcp"]["acp"] == {}
        assert await client.result("providers/list", {})


@pytest.mark.rule("V1-PROV-01")
async def test_on_what_was_not_registered_is_not_advertised(version: int) -> None:
    """Spec: `providers/list` works exactly when the marker was sent."""
    agent = Agent("few", version="1.0", unstable=True)
    async with raw_client(agent, version=version, initialize=False) as client:
        result = await client.result("initialize", initialize_params(version, {}))
        offers = result["agentCapabilities"] if version == 1 else result["capabilities"]
        sessions = offers["sessionCapabilities"] if version == 1 else offers["session"]
        assert "providers" not in offers
        assert "systemPrompt" not in sessions
        assert (await client.error("providers/list", {}))["code"] == -32601
