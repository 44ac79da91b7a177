"""Modes, config options, models and slash commands in v1."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from accord.agent import Agent, Turn
from accord.agent.session.options_and_commands import Choice
from accord.errors import LocalProtocolError
from tests.agent.raw_client import raw_client

BOOLEANS: dict[str, Any] = {"session": {"configOptions": {"boolean": {}}}}


def settable_agent() -> Agent:
    """An agent with two modes, a model, groups and a switch."""
    agent = Agent("settable", version="1")
    agent.add_mode("ask", "Ask", "Asks first")
    agent.add_mode("code", "Code")
    agent.add_option("model", "Model", [("big", "Big"), ("small", "Small")], category="model")
    agent.add_option(
        "depth",
        "Depth",
        [Choice("1", "One", group="Low"), Choice("9", "Nine", "deep", group="High")],
        default="9",
    )
    agent.add_switch("web", "Use the web", default=True)

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        if turn.text == "code":
            await turn.set_mode("code")
        elif turn.text == "small":
            await turn.set_option("model", "small")
        elif turn.text == "wait":
            await turn.say("waiting")
            await anyio.sleep_forever()
        else:
            await turn.say(f"{turn.mode} {turn.options['model']} {turn.options['web']}")

    return agent


def values(options: list[dict[str, Any]]) -> dict[str, Any]:
    """The current value of every option."""
    return {option["id"]: option["currentValue"] for option in options}


@pytest.mark.rule("V1-CFG-04", "V1-CFG-10", "V1-MODE-01")
async def test_a_new_session_lists_modes_and_options_with_current_values() -> None:
    """Spec: and a turn runs without any being set."""
    async with raw_client(settable_agent(), capabilities=BOOLEANS) as client:
        result = await client.result("session/new", {"cwd": "/tmp", "mcpServers": []})
        assert await client.prompt(result["sessionId"]) == {"stopReason": "end_turn"}
    assert result["modes"] == {
        "currentModeId": "ask",
        "availableModes": [
            {"id": "ask", "name": "Ask", "description": "Asks first"},
            {"id": "code", "name": "Code"},
        ],
    }
    options = result["configOptions"]
    assert values(options) == {"mode": "ask", "model": "big", "depth": "9", "web": True}
    assert [option.get("category") for option in options] == ["mode", "model", None, None]
    assert [group["group"] for group in options[2]["options"]] == ["Low", "High"]
    assert options[3]["type"] == "boolean"
    assert client.text() == "ask big True"


@pytest.mark.rule("V1-MODE-03", "V1-CFG-03", "V1-CFG-06")
async def test_a_mode_that_the_agent_changes_is_announced_both_ways() -> None:
    """Spec: from the agent; the two forms stay in step."""
    async with raw_client(settable_agent(), capabilities=BOOLEANS) as client:
        session_id = await client.new_session()
        await client.prompt(session_id, "code")
        (mode,) = client.updates("current_mode_update")
        (options,) = client.updates("config_option_update")
        assert mode["currentModeId"] == "code"
        assert values(options["configOptions"]) == {
            "mode": "code",
            "model": "big",
            "depth": "9",
            "web": True,
        }


@pytest.mark.rule("V1-CFG-03", "V1-CFG-05")
async def test_setting_one_form_moves_the_other() -> None:
    """Spec: while old clients exist."""
    async with raw_client(settable_agent()) as client:
        session_id = await client.new_session()
        scope = {"sessionId": session_id}
        assert await client.result("session/set_mode", {**scope, "modeId": "code"}) == {}
        told = client.updates("config_option_update")[-1]
        assert values(told["configOptions"])["mode"] == "code"
        result = await client.result(
            "session/set_config_option", {**scope, "configId": "mode", "value": "ask"}
        )
        assert values(result["configOptions"]) == {"mode": "ask", "model": "big", "depth": "9"}
        assert client.updates("current_mode_update")[-1]["currentModeId"] == "ask"
        loaded = await client.result("session/resume", {**scope, "cwd": "/tmp"})
        assert loaded["modes"]["currentModeId"] == "ask"


@pytest.mark.rule("V1-CFG-07")
@pytest.mark.parametrize("capabilities", [{}, {"session": {"configOptions": {"boolean": False}}}])
async def test_booleans_are_shown_only_to_clients_that_know_them(
    capabilities: dict[str, Any],
) -> None:
    """Spec: in no carrier: new, load, resume, set and update."""
    async with raw_client(settable_agent(), capabilities=capabilities) as client:
        session_id = await client.new_session()
        scope = {"sessionId": session_id}
        await client.prompt(session_id, "small")
        await client.result("session/set_mode", {**scope, "modeId": "code"})
        change = {**scope, "configId": "model", "value": "big"}
        await client.result("session/set_config_option", change)
        place = {**scope, "cwd": "/tmp", "mcpServers": []}
        await client.result("session/load", place)
        await client.result("session/resume", place)
        error = await client.error(
            "session/set_config_option", {**scope, "configId": "web", "value": "x"}
        )
        assert error["code"] == -32602
    assert "configOptions" in str(client.frames)
    assert "'boolean'" not in str(client.frames)
    assert "Use the web" not in str(client.frames)


async def test_a_switch_is_set_by_a_client_that_knows_booleans() -> None:
    """Schema: the boolean variant."""
    async with raw_client(settable_agent(), capabilities=BOOLEANS) as client:
        session_id = await client.new_session()
        change = {"sessionId": session_id, "configId": "web", "type": "boolean", "value": False}
        result = await client.result("session/set_config_option", change)
        assert values(result["configOptions"])["web"] is False
        await client.prompt(session_id)
    assert client.text() == "ask big False"


@pytest.mark.rule("V1-CFG-11", "V1-MODE-02")
@pytest.mark.parametrize(
    ("method", "params", "path"),
    [
        ("session/set_config_option", {"configId": "nope", "value": "x"}, "$.configId"),
        ("session/set_config_option", {"configId": "model", "value": "huge"}, "$.value"),
        ("session/set_config_option", {"configId": "mode", "value": "fly"}, "$.value"),
        (
            "session/set_config_option",
            {"configId": "model", "type": "boolean", "value": True},
            "$.value",
        ),
        ("session/set_mode", {"modeId": "fly"}, "$.modeId"),
    ],
)
async def test_unknown_modes_options_and_values_are_refused(
    method: str, params: dict[str, Any], path: str
) -> None:
    """Schema: -32602 with the place, and nothing changed."""
    async with raw_client(settable_agent()) as client:
        session_id = await client.new_session()
        error = await client.error(method, {"sessionId": session_id, **params})
        assert (error["code"], error["data"]["path"]) == (-32602, path)
        await client.prompt(session_id)
        assert client.updates("config_option_update") == []
    assert client.text() == "ask big True"


@pytest.mark.rule("V1-MODE-04")
async def test_modes_and_options_change_while_a_turn_runs() -> None:
    """Spec: idle or busy."""
    async with raw_client(settable_agent()) as client:
        session_id = await client.new_session()
        scope = {"sessionId": session_id}
        turn = client.start_prompt(session_id, "wait")
        await client.update("agent_message_chunk")
        assert await client.result("session/set_mode", {**scope, "modeId": "code"}) == {}
        change = {**scope, "configId": "model", "value": "small"}
        result = await client.result("session/set_config_option", change)
        assert values(result["configOptions"])["mode"] == "code"
        client.cancel(session_id)
        await client.answer(turn)
        await client.prompt(session_id)
    assert client.text() == "waitingcode small True"


async def test_an_agent_without_modes_and_options_offers_neither() -> None:
    """Capabilities: the methods then have nothing to set."""
    agent = Agent("plain", version="1")
    async with raw_client(agent) as client:
        result = await client.result("session/new", {"cwd": "/tmp", "mcpServers": []})
        assert set(result) == {"sessionId"}
        scope = {"sessionId": result["sessionId"]}
        assert (await client.error("session/set_mode", {**scope, "modeId": "x"}))["code"] == -32602


@pytest.mark.parametrize("method", ["session/new", "session/load", "session/resume"])
async def test_models_are_listed_for_older_clients_where_a_program_wants_it(method: str) -> None:
    """Issue 13: clients of the first pages about v1 look for `models` in session answers."""
    agent = settable_agent()
    async with raw_client(agent) as client:
        params: dict[str, Any] = {"cwd": "/tmp", "mcpServers": []}
        assert "models" not in await client.result("session/new", params)
    agent._definition.session_models = True
    async with raw_client(agent, validate=False) as client:
        first = await client.result("session/new", params)
        scope = {"sessionId": first["sessionId"]}
        await client.result("session/set_model", {**scope, "modelId": "small"})
        more = {} if method == "session/new" else scope
        models = (await client.result(method, {**params, **more}))["models"]
        assert [one["modelId"] for one in models["availableModels"]] == ["big", "small"]
        assert (models["currentModelId"] == "small") is bool(more)
    plain = Agent("plain", version="1", session_models=True)
    async with raw_client(plain) as client:
        assert "models" not in await client.result("session/new", params)


async def test_a_fork_lists_no_models() -> None:
    """Ours: there were no forks when there were models."""
    agent = settable_agent()
    agent._definition.unstable = agent._definition.session_models = True
    async with raw_client(agent, validate=False) as client:
        session_id = await client.new_session()
        params = {"cwd": "/tmp", "mcpServers": [], "sessionId": session_id}
        assert "models" not in await client.result("session/fork", params)


async def test_set_model_sets_the_option_of_category_model() -> None:
    """Issue: an old method that real clients still speak."""
    async with raw_client(settable_agent(), validate=False) as client:
        session_id = await client.new_session()
        scope = {"sessionId": session_id}
        assert await client.result("session/set_model", {**scope, "modelId": "small"}) == {}
        assert values(client.updates("config_option_update")[0]["configOptions"])["model"] == (
            "small"
        )
        error = await client.error("session/set_model", {**scope, "modelId": "huge"})
        assert error["code"] == -32602
        await client.prompt(session_id)
    assert client.text() == "ask small True"
    async with raw_client(Agent("plain", version="1"), validate=False) as client:
        scope = {"sessionId": await client.new_session()}
        error = await client.error("session/set_model", {**scope, "modelId": "x"})
        assert (error["code"], error["data"]["method"]) == (-32601, "session/set_model")


@pytest.mark.rule("V1-CMD-01", "V1-CMD-03")
async def test_commands_are_listed_after_the_answer_and_run_by_a_prompt() -> None:
    """Spec: slash commands; other blocks may accompany the text."""
    agent = Agent("commands", version="1")

    @agent.command("web", "Search the web", hint="query")
    async def web(turn: Turn, argument: str) -> str:
        await turn.say(f"web<{argument}>{len(turn.prompt)} ")
        return "max_tokens"

    @agent.command("help", "Help")
    async def helping(turn: Turn, argument: str) -> None:
        await turn.say(f"help<{argument}> ")

    @agent.on_prompt
    async def answer(turn: Turn) -> None:
        await turn.say("prompt ")

    async with raw_client(agent) as client:
        made = await client.request("session/new", {"cwd": "/tmp", "mcpServers": []})
        session_id = made["result"]["sessionId"]
        update = await client.update("available_commands_update")
        assert update["availableCommands"] == [
            {"name": "web", "description": "Search the web", "input": {"hint": "query"}},
            {"name": "help", "description": "Help"},
        ]
        told = [frame.get("method") for frame in client.frames]
        assert told.index("session/update") > client.frames.index(made)
        blocks = [
            {"type": "text", "text": "/web cats  and dogs "},
            {"type": "resource_link", "uri": "file:///a", "name": "a"},
        ]
        result = await client.result("session/prompt", {"sessionId": session_id, "prompt": blocks})
        assert result == {"stopReason": "max_tokens"}
        for text in ("/help", "/help\nme", "/helpless", "/ help", "/", "say /help"):
            await client.prompt(session_id, text)
        place = {"sessionId": session_id, "cwd": "/tmp", "mcpServers": []}
        await client.result("session/load", place)
        assert (await client.update("available_commands_update"))["availableCommands"]
    live = client.text().split("web<")[1]
    assert live == "cats  and dogs>2 help<> help<me> prompt prompt prompt prompt "


@pytest.mark.parametrize(
    "mistake",
    [
        lambda agent: agent.add_mode("ask", "Again"),
        lambda agent: agent.add_option("model", "Again", ["a"]),
        lambda agent: agent.add_option("mode", "Taken", ["a"]),
        lambda agent: agent.add_option("empty", "Empty", []),
        lambda agent: agent.add_option("twice", "Twice", ["a", "a"]),
        lambda agent: agent.add_option("off", "Off", ["a"], default="b"),
        lambda agent: agent.command("two words", "x")(_command),
        lambda agent: agent.command("/slash", "x")(_command),
        lambda agent: agent.on_prompt(lambda turn: None),
        lambda agent: agent.method("no/underscore"),
    ],
)
def test_what_cannot_be_offered_is_refused_when_it_is_written(mistake: Any) -> None:
    """Ours: a program's mistake raises at once."""
    with pytest.raises(LocalProtocolError):
        mistake(settable_agent())


async def _command(turn: Turn, argument: str) -> None:
    """A command of no interest."""
