"""Sessions of a v1 agent for a draft client: opening, loading, bounds."""

from typing import Any

import pytest

from accord.translate.draft.client import session_memory as bounds
from accord.translate.message import AGENT, CLIENT, Result
from accord.translate.meta_store import DRAFT
from tests.translate.draft.open_sessions import (
    FOLDER,
    MODES,
    V1_AGENT,
    Before,
    before,
    options,
)
from tests.translate.draft.scripted_peers import STAMP

# ---- initialize


# ---- session/new


def _new(scene: Before, **params: Any) -> int:
    return scene.wire.ask(CLIENT, "session/new", {"workingDirectory": FOLDER, **params})


@pytest.mark.rule("D26-06")
def test_a_new_session_says_when_it_began() -> None:
    """The draft's table 3.3: by the bridge's clock, or as it was kept."""
    scene = Before()
    scene.initialize()
    result = scene.open(modes=None, configOptions=None)
    assert result == {
        "sessionId": "s",
        "createdAt": STAMP,
        "_meta": {DRAFT: {"madeCreatedAt": True}},
    }
    result = scene.open("t", _meta={DRAFT: {"createdAt": "then"}}, modes=None, configOptions=None)
    assert result == {"sessionId": "t", "createdAt": "then"}


def test_servers_of_a_new_session() -> None:
    """The draft's table 8."""
    scene = Before(agent={**V1_AGENT, "mcpCapabilities": {"http": True, "sse": True, "acp": True}},
                   unstable=True)  # fmt: skip
    scene.initialize()
    servers = [
        {
            "name": "one",
            "transport": {
                "type": "stdio",
                "command": "one",
                "args": ["-v"],
                "env": {"K": "secret"},
                "cwd": "/c",
                "_meta": {"x": 1},
            },
        },
        {
            "name": "two",
            "transport": {
                "type": "http",
                "url": "https://two.example",
                "headers": {"Authorization": "secret"},
                "timeout": 900,
            },
            "_meta": {"y": 1},
        },
        {"name": "three", "transport": {"type": "sse", "url": "https://three.example"}},
        {
            "name": "four",
            "transport": {"type": "acp", "agentUrl": "acp://x", "mcpServerName": "shed"},
        },
    ]
    _new(scene, mcpServers=servers)
    assert scene.wire.one(AGENT, "session/new").params == {
        "cwd": FOLDER,
        "mcpServers": [
            {
                "name": "one",
                "command": "one",
                "args": ["-v"],
                "env": [{"name": "K", "value": "secret"}],
                "_meta": {DRAFT: {"cwd": "/c"}},
            },
            {
                "type": "http",
                "name": "two",
                "url": "https://two.example",
                "headers": [{"name": "Authorization", "value": "secret"}],
                "_meta": {"y": 1, DRAFT: {"timeout": 900}},
            },
            {"type": "sse", "name": "three", "url": "https://three.example", "headers": []},
            {
                "type": "acp",
                "name": "four",
                "serverId": "shed",
                "_meta": {DRAFT: {"agentUrl": "acp://x"}},
            },
        ],
    }


@pytest.mark.parametrize(
    "transport",
    [
        {"type": "sse", "url": "u"},
        {"type": "acp", "agentUrl": "acp://x", "mcpServerName": "m"},
    ],
)
def test_a_server_that_the_agent_cannot_reach_is_refused(transport: Any) -> None:
    """The draft's table 8: -32007."""
    scene = Before(agent={"mcpCapabilities": {"acp": True}})
    scene.initialize()
    key = _new(scene, mcpServers=[{"name": "m", "transport": transport}])
    error = scene.wire.error(CLIENT, key)
    assert (error.code, error.data) == (-32007, {"server": "m"})


@pytest.mark.parametrize(
    ("able", "unstable", "kept", "asked"),
    [
        ({}, True, None, "append"),
        ({"mode": {"override": {}}}, True, "override", "override"),
        ({"mode": {}}, True, "override", "append"),
        ({}, False, None, None),
        (None, True, None, None),
    ],
)
def test_a_system_prompt(able: Any, unstable: bool, kept: Any, asked: Any) -> None:
    """The draft's table 3.3: only where it is advertised, else kept and counted."""
    agent = {"sessionCapabilities": {"systemPrompt": able} if able is not None else {}}
    scene = Before(agent=agent, unstable=unstable)
    scene.initialize()
    meta = {"_meta": {DRAFT: {"systemPromptMode": kept}}} if kept else {}
    _new(scene, systemPrompt="Rhyme.", **meta)
    params = scene.wire.one(AGENT, "session/new").params
    if asked is None:
        assert params["_meta"] == {DRAFT: {"systemPrompt": "Rhyme."}}
        assert scene.bridge.losses == {"systemPrompt": 1}
    else:
        content = [{"type": "text", "text": "Rhyme."}]
        assert params["systemPrompt"] == {"mode": asked, "content": content}
        assert "_meta" not in params


def test_a_mode_and_options_are_set_before_the_answer() -> None:
    """The draft's table 3.3: what fails is told in the answer."""
    scene = Before()
    scene.initialize()
    wishes = {"model": 7, "odd": 1, "fast": True, "also": None}
    key = _new(scene, initialMode="ask_permission", configOptions=wishes)
    wire = scene.wire
    asked = wire.one(AGENT, "session/new")
    wire.answer(AGENT, asked.key, {"sessionId": "s", "modes": MODES, "configOptions": options()})
    asked = wire.one(AGENT, "session/set_mode")
    assert asked.params == {"sessionId": "s", "modeId": "ask"}
    wire.answer(AGENT, asked.key, {})
    asked = wire.one(AGENT, "session/set_config_option")
    assert asked.params == {"sessionId": "s", "configId": "model", "value": "7"}
    wire.answer(AGENT, asked.key, {"configOptions": options("7")})
    asked = wire.one(AGENT, "session/set_config_option")
    assert asked.params["value"] is True
    early = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}}
    wire.tell(AGENT, "session/update", {"sessionId": "s", "update": early})
    assert wire.take() == []
    wire.fail(AGENT, asked.key, -32603, "not today")
    (_, answer), (_, update) = wire.take()
    assert isinstance(answer, Result)
    assert answer.key == key
    kept = answer.result["_meta"][DRAFT]
    assert kept["modes"]["currentModeId"] == "ask"
    assert kept["configOptions"] == options("7")
    assert kept["rejectedConfigOptions"]["fast"] == "not today"
    assert set(kept["rejectedConfigOptions"]) == {"odd", "fast", "also"}
    assert update.params["data"] == {"content": "hi"}  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ["default", "unheard of", "ask"])
def test_a_mode_that_is_default_or_unknown_is_not_set(mode: str) -> None:
    """The draft's table 3.3, 7: and an official `ask` is not the draft's."""
    scene = Before()
    scene.initialize()
    key = _new(scene, initialMode=mode)
    asked = scene.wire.one(AGENT, "session/new")
    scene.wire.answer(AGENT, asked.key, {"sessionId": "s", "modes": MODES})
    assert scene.wire.result(CLIENT, key)["sessionId"] == "s"


def test_a_first_mode_that_is_refused_is_told() -> None:
    """The draft's table 3.3."""
    scene = Before()
    scene.initialize()
    key = _new(scene, initialMode="plan")
    asked = scene.wire.one(AGENT, "session/new")
    scene.wire.answer(AGENT, asked.key, {"sessionId": "s", "modes": MODES})
    scene.wire.fail(AGENT, scene.wire.one(AGENT, "session/set_mode").key, -32603, "no plans")
    kept = scene.wire.result(CLIENT, key)["_meta"][DRAFT]
    assert kept["rejectedInitialMode"] == "no plans"
    later = {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}
    assert len(scene.update(later)) == 1
    assert kept["modes"]["currentModeId"] == "default"


def test_a_session_that_is_refused() -> None:
    """The draft's table 9."""
    scene = Before()
    scene.initialize()
    key = _new(scene)
    scene.wire.fail(AGENT, scene.wire.one(AGENT, "session/new").key, -32000)
    assert scene.wire.error(CLIENT, key).code == -32001


def test_updates_before_the_answer_wait_for_it_within_bounds() -> None:
    """Ours: the draft client does not know the session yet."""
    scene = Before()
    scene.initialize()
    key = _new(scene)
    asked = scene.wire.one(AGENT, "session/new")
    for number in range(bounds.EARLY_UPDATES_MAX + 1):
        chunk = {"sessionUpdate": "agent_message_chunk"}
        text = {"type": "text", "text": str(number)}
        assert scene.update({**chunk, "content": text}) == []
    scene.wire.answer(AGENT, asked.key, {"sessionId": "s"})
    said = scene.wire.take()
    assert said[0][1].key == key  # type: ignore[union-attr]
    assert len(said) == 1 + bounds.EARLY_UPDATES_MAX
    assert said[1][1].params["data"] == {"content": "1"}  # type: ignore[union-attr]
    assert scene.bridge.losses == {"an update before its session": 1}


@pytest.mark.parametrize("refused", [False, True])
def test_sessions_that_turn_up_while_one_is_opened_are_not_held_back_for_ever(
    refused: bool,
) -> None:
    """Ours: nobody knows whose they are until the answer is there."""
    scene = Before()
    scene.initialize()
    _new(scene)
    _new(scene)
    first, second = scene.wire.took(AGENT)
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
    assert scene.update(chunk, "other") == []
    scene.wire.answer(AGENT, first.key, {"sessionId": "s"})
    assert scene.wire.updates(CLIENT) == []
    if refused:
        scene.wire.fail(AGENT, second.key, -32603)
    else:
        scene.wire.answer(AGENT, second.key, {"sessionId": "t"})
    (update,) = scene.wire.updates(CLIENT)
    assert update["sessionId"] == "other"
    assert len(scene.update(chunk, "other")) == 1


def test_a_session_that_is_loaded_while_one_is_opened_is_not_held_back() -> None:
    """Ours: the client knows it."""
    scene = before()
    _new(scene)
    scene.wire.take()
    scene.wire.ask(CLIENT, "session/load", {"sessionId": "old"})
    asked = scene.wire.one(AGENT, "session/list")
    scene.wire.answer(AGENT, asked.key, {"sessions": [{"sessionId": "old", "cwd": "/old"}]})
    scene.wire.one(AGENT, "session/load")
    chunk = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "x"}}
    assert len(scene.update(chunk, "old")) == 1
