"""Settings of a session: modes, options, models, and cancelling single things."""

from __future__ import annotations

from typing import Any

import pytest

from accord.errors import (
    LocalProtocolError,
)
from tests.client.scripted_agent import Json, ScriptedAgent, connected

VERSIONS = pytest.mark.parametrize("version", [1, 2])

MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
}


def select(version: int, option_id: str, value: str, *values: str, **more: Any) -> Json:
    """A config option with a list of values."""
    key = "id" if version == 1 else "configId"
    choices = [{"value": one, "name": one} for one in (value, *values)]
    return {
        key: option_id,
        "name": option_id,
        "type": "select",
        "currentValue": value,
        "options": choices,
        **more,
    }


@pytest.mark.rule("V1-MODE-02", "V1-MODE-04")
async def test_v1_modes_are_set_by_their_method() -> None:
    """D1 session-modes: only what is available, also while busy."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session(modes=MODES)
        request = await agent.expect("session/set_mode")
        assert request["params"] == {"sessionId": "s1", "modeId": "code"}
        agent.result(request, None)

    async with connected(script) as (client, agent):
        session = await client.new_session()
        assert session.transcript.modes.current == "ask"
        with pytest.raises(LocalProtocolError, match="no mode"):
            await session.set_mode("fly")
        await session.set_mode("code")
        assert session.transcript.modes.current == "code"
        assert len(agent.sent("session/set_mode")) == 1


@VERSIONS
async def test_options_are_set_and_shown_as_the_agent_answers(version: int) -> None:
    """D1, D2 session-config-options: the answer is the whole list."""
    first = [
        select(version, "mode", "ask", "code", category="mode"),
        {**select(version, "fast", "x"), "type": "boolean", "currentValue": False},
        {**select(version, "odd", "x"), "type": "_odd"},
    ]

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session(configOptions=first)
        request = await agent.expect("session/set_config_option")
        kind = {} if version == 1 else {"type": "id"}
        assert request["params"] == {
            "sessionId": "s1",
            "configId": "mode",
            "value": "code",
            **kind,
        }
        agent.result(request, {"configOptions": [{**first[0], "currentValue": "code"}, first[1]]})
        request = await agent.expect("session/set_config_option")
        assert (request["params"]["value"], request["params"]["type"]) == (True, "boolean")
        agent.result(request, {"configOptions": [{**first[1], "currentValue": True}]})

    async with connected(script, version) as (client, agent):
        session = await client.new_session()
        refused: list[tuple[str, str | bool, str]] = [
            ("none", "x", "no option"),
            ("mode", "fly", "cannot be"),
            ("mode", True, "cannot be"),
            ("fast", "yes", "cannot be"),
        ]
        for option_id, value, word in refused:
            with pytest.raises(LocalProtocolError, match=word):
                await session.set_option(option_id, value)
        assert len(agent.received) == 2
        await session.set_mode("code")
        options = {o.option_id: o.value for o in session.transcript.config_options}
        assert (options["mode"], options["fast"]) == ("code", False)
        await session.set_option("fast", True)
        assert [o.value for o in session.transcript.config_options] == [True]


async def test_models_of_old_agents_are_an_option() -> None:
    """Issue 2: `session/set_model` appears as a config option of category model."""
    models = {
        "currentModelId": "small",
        "availableModels": [{"modelId": m, "name": m} for m in ("small", "large")],
    }

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session(models=models)
        request = await agent.expect("session/set_model")
        assert request["params"] == {"sessionId": "s1", "modelId": "large"}
        agent.result(request, {})

    async with connected(script) as (client, _):
        session = await client.new_session()
        [option] = session.transcript.config_options
        assert (option.category, option.value) == ("model", "small")
        await session.set_option(option.option_id, "large")
        assert session.transcript.config_options[0].value == "large"


@pytest.mark.rule("V2-CANCEL-16")
async def test_single_things_are_cancelled_only_where_they_offer_it() -> None:
    """N2 CancelToolCallRequest."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session()
        offers: dict[str, Json] = {"a": {}, "b": {"capabilities": {"cancel": {}}}}
        for name, more in offers.items():
            agent.update({"sessionUpdate": "tool_call_update", "toolCallId": name, **more})
            agent.update({"sessionUpdate": "terminal_update", "terminalId": name, **more})
        agent.result(await agent.expect("tool_call/cancel"), {})
        agent.result(await agent.expect("terminal/cancel"), {})

    async with connected(script, 2) as (client, agent):
        session = await client.new_session()
        stream = session.updates()
        while session.transcript.terminal("b") is None:
            await anext(stream)
        for attempt in (session.cancel_tool_call("a"), session.cancel_terminal("a")):
            with pytest.raises(LocalProtocolError, match="cannot be cancelled"):
                await attempt
        await session.cancel_tool_call("b")
        await session.cancel_terminal("b")
        assert len(agent.received) == 4


async def test_a_session_that_cannot_be_set_up_as_wanted_is_closed_again() -> None:
    """Ours: the program gets no session, so the agent must not be left with one."""

    async def script(agent: ScriptedAgent) -> None:
        await agent.open_session(modes=MODES)
        agent.result(await agent.expect("session/close"), {})

    async with connected(script) as (client, agent):
        with pytest.raises(LocalProtocolError, match="no mode 'fly'"):
            await client.new_session(mode="fly")
        assert not client.sessions
        assert len(agent.sent("session/close")) == 1
