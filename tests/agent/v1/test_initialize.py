"""v1 from the first byte: negotiation, what is offered, and what may not come before it."""

from __future__ import annotations

from typing import Any

import pytest

from accord.agent import Agent, Turn
from tests.agent.raw_client import initialize_params, raw_client


def quiet_agent(**options: Any) -> Agent:
    """An agent that answers every prompt with one word."""
    agent = Agent("quiet", version="1.2.3", **options)

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await turn.say("yes")

    return agent


@pytest.mark.rule("V1-INIT-04", "V1-INIT-05", "V1-INIT-06", "V1-CAP-04")
async def test_the_answer_names_the_asked_version_the_capabilities_and_the_agent() -> None:
    """Spec: initialization."""
    async with raw_client(quiet_agent(title="Quiet"), initialize=False) as client:
        result = await client.result("initialize", initialize_params(1, {}))
    assert result["protocolVersion"] == 1
    assert result["agentInfo"] == {"name": "quiet", "version": "1.2.3", "title": "Quiet"}
    offered = result["agentCapabilities"]
    assert offered["loadSession"] is True
    assert set(offered["sessionCapabilities"]) == {
        "list",
        "delete",
        "resume",
        "close",
        "additionalDirectories",
    }
    assert result.get("authMethods", []) == []


async def test_prompt_and_mcp_capabilities_are_those_the_program_named() -> None:
    """Ours: nothing is offered that the program did not ask for."""
    agent = quiet_agent(accepts=("image", "embedded_context"), mcp=("http",))
    async with raw_client(agent, initialize=False) as client:
        offered = (await client.result("initialize", initialize_params(1, {})))["agentCapabilities"]
    assert offered["promptCapabilities"] == {"image": True, "embeddedContext": True}
    assert offered["mcpCapabilities"] == {"http": True}


@pytest.mark.rule("V1-INIT-07")
@pytest.mark.parametrize("asked", [0, 2, 99, 65535])
async def test_an_agent_of_v1_alone_answers_1_to_any_other_version(asked: int) -> None:
    """Spec: no error for a version mismatch in v1."""
    async with raw_client(quiet_agent(versions=(1,)), initialize=False) as client:
        params = initialize_params(1, {}) | {"protocolVersion": asked}
        assert (await client.result("initialize", params))["protocolVersion"] == 1


@pytest.mark.rule("V1-INIT-10")
@pytest.mark.parametrize("version", ["1", 1.5, -1, 70000, None, True, [1]])
async def test_a_version_that_is_no_small_whole_number_is_refused(version: object) -> None:
    """Schema: ProtocolVersion."""
    async with raw_client(quiet_agent(), initialize=False) as client:
        params = initialize_params(1, {}) | {"protocolVersion": version}
        error = await client.error("initialize", params)
        assert error["code"] == -32602
        assert error["data"]["path"] == "$.protocolVersion"
        assert "result" in await client.request("initialize", initialize_params(1, {}))


@pytest.mark.rule("V1-GEN-12")
async def test_a_malformed_optional_value_is_absent_and_a_missing_required_key_an_error() -> None:
    """Schema: tolerant fields."""
    async with raw_client(quiet_agent(), initialize=False) as client:
        error = await client.error("initialize", {"clientCapabilities": {}})
        assert error["code"] == -32602
        result = await client.result(
            "initialize", {"protocolVersion": 1, "clientInfo": 5, "clientCapabilities": "all"}
        )
        assert result["protocolVersion"] == 1


@pytest.mark.rule("V1-INIT-11")
async def test_before_initialize_requests_are_refused_and_notifications_dropped() -> None:
    """SDK behaviour: -32600, and the connection stays usable."""
    async with raw_client(quiet_agent(), initialize=False) as client:
        for method in ("session/list", "session/new", "_own/method", "nonsense"):
            assert (await client.error(method, {}))["code"] == -32600
        client.notify("session/cancel", {"sessionId": "x"})
        client.notify("_own/note", {})
        assert (await client.result("initialize", initialize_params(1, {})))["protocolVersion"] == 1
        assert await client.prompt(await client.new_session()) == {"stopReason": "end_turn"}


async def test_a_second_initialize_is_refused_once_other_requests_were_served() -> None:
    """Ours: a repeat never disturbs a conversation that has begun."""
    async with raw_client(quiet_agent()) as client:
        assert "result" in await client.request("initialize", initialize_params(1, {}))
        session_id = await client.new_session()
        assert (await client.error("initialize", initialize_params(1, {})))["code"] == -32600
        assert await client.prompt(session_id) == {"stopReason": "end_turn"}


@pytest.mark.rule("V1-INIT-09")
async def test_after_1_is_agreed_methods_of_v2_do_not_exist() -> None:
    """Spec: both act according to the agreed version."""
    async with raw_client(quiet_agent()) as client:
        session_id = await client.new_session()
        for method in ("auth/login", "auth/logout", "session/cancel_tool_call", "terminal/cancel"):
            error = await client.error(method, {"sessionId": session_id})
            assert error["code"] == -32601
            assert error["data"]["method"] == method
        await client.prompt(session_id)
        kinds = {update["sessionUpdate"] for update in client.updates()}
        assert kinds == {"agent_message_chunk"}


@pytest.mark.rule("V1-CAP-05")
async def test_the_baseline_is_new_prompt_cancel_and_updates() -> None:
    """Spec: what every agent has."""
    async with raw_client(quiet_agent()) as client:
        session_id = await client.new_session()
        assert await client.prompt(session_id) == {"stopReason": "end_turn"}
        assert client.text() == "yes"
        client.cancel(session_id)
        assert await client.prompt(session_id) == {"stopReason": "end_turn"}


@pytest.mark.parametrize("unstable_method", ["session/fork", "session/archive", "providers/list"])
async def test_unstable_methods_do_not_exist_unless_asked_for(unstable_method: str) -> None:
    """Issue: unstable parts are off unless asked for."""
    async with raw_client(quiet_agent()) as client:
        error = await client.error(unstable_method, {"sessionId": "x", "cwd": "/tmp"})
        assert error["code"] == -32601


async def test_a_client_that_lacks_what_the_agent_requires_is_told_by_name() -> None:
    """Issue: `Agent(requires=...)`."""
    agent = quiet_agent(requires=("fs.readTextFile", "terminal"))
    async with raw_client(agent, initialize=False) as client:
        params = initialize_params(1, {"fs": {"readTextFile": True}, "terminal": False})
        error = await client.error("initialize", params)
        assert "terminal" in error["message"]
        assert "readTextFile" not in error["message"]
        assert error["data"]["missing"] == ["terminal"]
        assert (await client.error("session/new", {"cwd": "/tmp", "mcpServers": []}))["code"] == (
            -32600
        )
        whole = {"fs": {"readTextFile": True}, "terminal": True}
        assert "result" in await client.request("initialize", initialize_params(1, whole))


async def test_v1_capabilities_under_the_key_of_v2_are_understood() -> None:
    """Dialect: seen in real clients."""
    agent = quiet_agent(requires=("fs.readTextFile",))
    async with raw_client(agent, initialize=False) as client:
        params = {"protocolVersion": 1, "capabilities": {"fs": {"readTextFile": True}}}
        assert (await client.result("initialize", params))["protocolVersion"] == 1


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("capabilities", [{}, {"fs": {"readTextFile": True}, "ui": 5}])
async def test_v1_asked_for_with_the_keys_of_v2_is_v1(
    strict: bool, capabilities: dict[str, Any]
) -> None:
    """dialect 1.1 row 5a: `info` is not a key of the draft, and known names inside count."""
    info = {"name": "newer", "version": "3"}
    if strict:
        capabilities = {}
    async with raw_client(quiet_agent(strict=strict), initialize=False) as client:
        params = {"protocolVersion": 1, "info": info, "capabilities": capabilities}
        result = await client.result("initialize", params)
        assert result["protocolVersion"] == 1
        assert "agentCapabilities" in result
        session_id = await client.new_session()
        answer = await client.answer(client.start_prompt(session_id))
        assert answer["result"]["stopReason"] == "end_turn"
