"""Modes and options of a draft agent for a v1 client, and the bounds of what is remembered."""

from typing import Any

import pytest

from accord.translate.draft.agent import session_memory as bounds
from accord.translate.draft.agent import sessions as session_bounds
from accord.translate.message import AGENT, CLIENT
from accord.translate.meta_store import DRAFT
from tests.translate.draft.open_sessions import DRAFT_AGENT, Behind, behind, options

MODE_LIST = [
    {"id": "default", "name": "Default"},
    {"id": "plan", "name": "Plan"},
    {
        "id": "ask_questions",
        "name": "Ask (questions only)",
        "description": "Answers questions and takes no action",
    },
]


# ---- modes and options


@pytest.mark.rule("D26-09", "D26-35")
def test_a_mode_is_set_by_the_drafts_name_and_announced_as_the_agent_does() -> None:
    """The draft's table 3.6, 7."""
    scene = behind()
    key = scene.wire.ask(CLIENT, "session/set_mode", {"sessionId": "s", "modeId": "ask_questions"})
    asked = scene.wire.one(AGENT, "session/set_mode")
    assert asked.params == {"sessionId": "s", "mode": "ask"}
    change = {"previousMode": "default", "currentMode": "ask"}
    (update,) = scene.update("current_mode_update", {**change, "reason": "asked"})
    assert update == {
        "sessionUpdate": "current_mode_update",
        "currentModeId": "ask_questions",
        "_meta": {DRAFT: {"previousMode": "default", "reason": "asked"}},
    }
    scene.wire.answer(AGENT, asked.key, change)
    assert scene.wire.result(CLIENT, key) == {"_meta": {DRAFT: change}}


def test_a_mode_whose_answer_a_bridge_before_us_made_up() -> None:
    """The draft's table 3.6."""
    scene = behind()
    key = scene.wire.ask(CLIENT, "session/set_mode", {"sessionId": "s", "modeId": "plan"})
    change = {"previousMode": "default", "currentMode": "plan", "_meta": {DRAFT: {"made": True}}}
    scene.wire.answer(AGENT, scene.wire.one(AGENT, "session/set_mode").key, change)
    assert scene.wire.result(CLIENT, key) == {}


@pytest.mark.parametrize("kept", [5, [{"id": "fast"}]])
def test_options_beside_a_mode_that_are_none_are_nobodys(kept: Any) -> None:
    """Ours: what comes out of `_meta` was written by a peer."""
    meta = {DRAFT: {"configOptions": kept}}
    data = {"previousMode": "default", "currentMode": "plan", "_meta": meta}
    (update,) = behind().update("current_mode_update", data)
    assert update["_meta"] == {DRAFT: {"previousMode": "default"}}


def test_a_mode_that_is_refused() -> None:
    """The draft's table 9."""
    scene = behind()
    key = scene.wire.ask(CLIENT, "session/set_mode", {"sessionId": "s", "modeId": "plan"})
    scene.wire.fail(AGENT, scene.wire.one(AGENT, "session/set_mode").key, -32000)
    error = scene.wire.error(CLIENT, key)
    assert (error.code, error.data) == (-32002, {"sessionId": "s"})


def test_an_option_is_set_and_answered_with_the_whole_list() -> None:
    """The draft's table 3.7."""
    scene = behind()
    params = {"sessionId": "s", "configId": "depth", "value": True, "type": "boolean"}
    key = scene.wire.ask(CLIENT, "session/set_config_option", params)
    asked = scene.wire.one(AGENT, "session/set_config_option")
    assert asked.params == {"sessionId": "s", "key": "depth", "value": True}
    change = {"key": "depth", "previousValue": None, "currentValue": {"max": 4}}
    scene.wire.answer(AGENT, asked.key, change)
    result = scene.wire.result(CLIENT, key)
    (option,) = result["configOptions"]
    assert option["currentValue"] == '{"max":4}'
    assert result["_meta"] == {DRAFT: change}
    params = {"sessionId": "s", "configId": "depth", "value": '{"max":4}'}
    scene.wire.ask(CLIENT, "session/set_config_option", params)
    asked = scene.wire.one(AGENT, "session/set_config_option")
    assert asked.params["value"] == {"max": 4}
    scene.wire.answer(AGENT, asked.key, {"key": "depth", "currentValue": "deep"})
    values = [
        one["value"] for one in scene.wire.took(CLIENT)[0].result["configOptions"][0]["options"]
    ]
    assert values == ['{"max":4}', "deep"]


def test_the_value_that_nobody_told_is_not_set() -> None:
    """Ours: it only stands for the agent's own."""
    scene = behind()
    params = {"sessionId": "s", "configId": "depth", "value": "default"}
    key = scene.wire.ask(CLIENT, "session/set_config_option", params)
    assert scene.wire.result(CLIENT, key)["configOptions"][0]["currentValue"] == "default"


def test_an_option_that_is_refused_or_unknown() -> None:
    """The draft's table 9: the agent judges."""
    scene = behind()
    params = {"sessionId": "s", "configId": "odd", "value": "x"}
    key = scene.wire.ask(CLIENT, "session/set_config_option", params)
    asked = scene.wire.one(AGENT, "session/set_config_option")
    scene.wire.fail(AGENT, asked.key, -32602)
    assert scene.wire.error(CLIENT, key).code == -32602


def test_a_model_is_set_by_the_option_of_that_name() -> None:
    """Contradiction 32: the oldest request for it, where the agent has such an option."""
    capabilities = {**DRAFT_AGENT, "sessionCapabilities": {"configOptions": ["model"]}}
    scene = behind(agent=capabilities)
    params = {"sessionId": "s", "modelId": "large"}
    key = scene.wire.ask(CLIENT, "session/set_model", params)
    asked = scene.wire.one(AGENT, "session/set_config_option")
    assert asked.params == {"sessionId": "s", "key": "model", "value": "large"}
    scene.wire.answer(AGENT, asked.key, {"key": "model", "currentValue": "large"})
    assert scene.wire.result(CLIENT, key) == {}
    scene.wire.ask(CLIENT, "session/set_model", params)
    key, asked = key + 1, scene.wire.one(AGENT, "session/set_config_option")
    scene.wire.fail(AGENT, asked.key, -32602)
    assert scene.wire.error(CLIENT, key).code == -32602
    without = behind()
    key = without.wire.ask(CLIENT, "session/set_model", params)
    assert without.wire.error(CLIENT, key).code == -32601


def test_a_list_that_was_kept_is_the_answer() -> None:
    """The draft's table 3.7."""
    scene = behind()
    params = {"sessionId": "s", "configId": "model", "value": "7"}
    key = scene.wire.ask(CLIENT, "session/set_config_option", params)
    asked = scene.wire.one(AGENT, "session/set_config_option")
    result = {
        "key": "model",
        "currentValue": "7",
        "_meta": {DRAFT: {"configOptions": options("7")}},
    }
    scene.wire.answer(AGENT, asked.key, result)
    assert scene.wire.result(CLIENT, key) == {"configOptions": options("7")}


# ---- bounds


def test_sessions_and_calls_are_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: no peer can fill our memory."""
    monkeypatch.setattr(bounds, "SESSIONS_MAX", 2)
    monkeypatch.setattr(bounds, "CALLS_MAX", 2)
    scene = behind()
    scene.prompt()
    scene.open("t")
    scene.open("u")
    assert list(scene.bridge.state.sessions) == ["s", "u"]
    scene.prompt(session_id="u")
    scene.open("v")
    assert list(scene.bridge.state.sessions) == ["u", "v"]
    for call in "abc":
        scene.update("tool_call", {"id": call, "tool": "t", "input": {}}, "u")
    assert list(scene.bridge.state.sessions["u"].calls) == ["b", "c"]


def test_servers_reached_over_acp_are_remembered_within_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: no peer can fill our memory."""
    monkeypatch.setattr(session_bounds, "MCP_SERVERS_MAX", 1)
    scene = Behind(unstable=True)
    scene.initialize()
    servers = [{"name": one, "type": "acp", "serverId": one} for one in "ab"]
    scene.wire.ask(CLIENT, "session/new", {"cwd": "/a", "mcpServers": servers})
    assert scene.bridge.state.mcp_servers == {"a": "a"}


def test_an_agent_without_modes_has_none_in_v1() -> None:
    """The draft's table 7."""
    scene = Behind(agent={})
    scene.initialize()
    result = scene.open()
    assert "modes" not in result
    assert "configOptions" not in result


def test_an_agent_without_a_default_mode_begins_in_its_first() -> None:
    """The draft's table 7."""
    scene = Behind(agent={"sessionCapabilities": {"modes": ["code", "plan"]}})
    scene.initialize()
    assert scene.open()["modes"]["currentModeId"] == "code"
