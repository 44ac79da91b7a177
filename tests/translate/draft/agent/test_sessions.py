"""Sessions of a draft agent for a v1 client."""

from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT, Notification, Result
from accord.translate.meta_store import DRAFT
from tests.translate.draft.open_sessions import DRAFT_AGENT, MODES, Behind, behind, options

MODE_LIST = [
    {"id": "default", "name": "Default"},
    {"id": "plan", "name": "Plan"},
    {
        "id": "ask_questions",
        "name": "Ask (questions only)",
        "description": "Answers questions and takes no action",
    },
]


@pytest.mark.rule("D26-06")
def test_a_new_session_has_the_modes_and_options_that_the_agent_announced() -> None:
    """The draft's table 3.3, 7."""
    scene = Behind()
    scene.initialize()
    result = scene.open()
    assert result["sessionId"] == "s"
    assert result["modes"] == {"currentModeId": "default", "availableModes": MODE_LIST}
    (option,) = result["configOptions"]
    assert (option["id"], option["type"], option["currentValue"]) == ("depth", "select", "default")
    assert result["_meta"] == {DRAFT: {"createdAt": "then"}}


def test_everything_that_a_v1_client_gives_a_new_session() -> None:
    """The draft's table 3.3, 8."""
    scene = Behind(unstable=True)
    scene.initialize()
    scene.wire.ask(
        CLIENT,
        "session/new",
        {
            "cwd": "/a",
            "additionalDirectories": ["/b"],
            "mcpServers": [
                {
                    "name": "one",
                    "command": "/bin/one",
                    "args": ["-v"],
                    "env": [{"name": "K", "value": "secret"}],
                    "_meta": {DRAFT: {"cwd": "/c"}},
                },
                {"name": "two", "command": "/bin/two", "args": [], "env": []},
                {
                    "name": "three",
                    "type": "http",
                    "url": "https://three.example",
                    "headers": [{"name": "Authorization", "value": "secret"}],
                    "_meta": {"x": 1},
                },
                {"name": "four", "type": "acp", "serverId": "4"},
            ],
            "systemPrompt": {
                "mode": "override",
                "content": [
                    {"type": "text", "text": "Rhyme."},
                    {"type": "image", "mimeType": "image/png", "data": "AAAA"},
                ],
            },
        },
    )
    params = scene.wire.one(AGENT, "session/new").params
    assert params == {
        "workingDirectory": "/a",
        "systemPrompt": "Rhyme.\n\n[image image/png]",
        "mcpServers": [
            {
                "name": "one",
                "transport": {
                    "type": "stdio",
                    "command": "/bin/one",
                    "args": ["-v"],
                    "env": {"K": "secret"},
                    "cwd": "/c",
                },
            },
            {"name": "two", "transport": {"type": "stdio", "command": "/bin/two"}},
            {
                "name": "three",
                "transport": {
                    "type": "http",
                    "url": "https://three.example",
                    "headers": {"Authorization": "secret"},
                },
                "_meta": {"x": 1},
            },
            {
                "name": "four",
                "transport": {"type": "acp", "agentUrl": "acp://client", "mcpServerName": "4"},
            },
        ],
        "_meta": {DRAFT: {"additionalDirectories": ["/b"], "systemPromptMode": "override"}},
    }
    assert "secret" not in repr(params["_meta"])
    assert scene.bridge.losses == {"additionalDirectories": 1}


@pytest.mark.parametrize(
    ("agent", "server"),
    [
        ({"mcpCapabilities": {"servers": False}}, {"command": "/x", "args": [], "env": []}),
        ({}, {"type": "http", "url": "u", "headers": []}),
        (DRAFT_AGENT, {"type": "sse", "url": "u", "headers": []}),
        (DRAFT_AGENT, {"type": "acp", "serverId": "4"}),
    ],
)
def test_a_server_that_the_agent_cannot_reach_is_refused(agent: Any, server: Any) -> None:
    """The draft's table 7, 8."""
    scene = Behind(agent=agent)
    scene.initialize()
    params = {"cwd": "/a", "mcpServers": [{"name": "m", **server}]}
    key = scene.wire.ask(CLIENT, "session/new", params)
    error = scene.wire.error(CLIENT, key)
    assert error.code == -32602
    assert error.data == {"reason": "capability_not_supported", "server": "m"}


def test_a_session_that_is_refused_is_refused_in_official_numbers() -> None:
    """The draft's table 9: a login is needed."""
    scene = Behind()
    scene.initialize()
    key = scene.wire.ask(CLIENT, "session/new", {"cwd": "/a", "mcpServers": []})
    scene.wire.fail(AGENT, scene.wire.one(AGENT, "session/new").key, -32001, "log in")
    assert scene.wire.error(CLIENT, key).code == -32000


def test_modes_and_options_that_were_kept_come_back() -> None:
    """The draft's table 3.3: what a v1 agent behind the draft had said."""
    scene = Behind()
    scene.initialize()
    key = scene.wire.ask(CLIENT, "session/new", {"cwd": "/a", "mcpServers": []})
    kept = {"modes": MODES, "configOptions": options(), "madeCreatedAt": True}
    result = {"sessionId": "s", "createdAt": "now", "_meta": {DRAFT: kept}}
    scene.wire.answer(AGENT, scene.wire.one(AGENT, "session/new").key, result)
    made = scene.wire.result(CLIENT, key)
    assert made == {"sessionId": "s", "modes": MODES, "configOptions": options()}
    scene.wire.ask(CLIENT, "session/set_mode", {"sessionId": "s", "modeId": "ask"})
    assert scene.wire.one(AGENT, "session/set_mode").params["mode"] == "ask_permission"


def test_strictly_a_loss_is_refused() -> None:
    """Ours: whoever asked for it rather has an error."""
    scene = behind(strict=True)
    params = {"cwd": "/a", "mcpServers": [], "additionalDirectories": ["/b"]}
    error = scene.wire.error(CLIENT, scene.wire.ask(CLIENT, "session/new", params))
    assert (error.code, error.data) == (-32603, {"loss": "additionalDirectories"})


# ---- loading


def _load(scene: Behind, result: Any = None, told: Any = ()) -> Any:
    params = {"sessionId": "old", "cwd": "/a", "mcpServers": []}
    key = scene.wire.ask(CLIENT, "session/load", params)
    asked = scene.wire.one(AGENT, "session/load")
    for kind, data in told:
        scene.update(kind, data, "old")
    default = {
        "sessionId": "old",
        "workingDirectory": "/b",
        "mode": "ask",
        "configOptions": {"depth": 3, "new": True},
        "messageCount": 4,
    }
    scene.wire.answer(AGENT, asked.key, result or default)
    return scene.wire.result(CLIENT, key)


@pytest.mark.rule("D26-07")
def test_a_loaded_session_says_what_it_is_and_that_nothing_was_replayed() -> None:
    """The draft's table 3.4."""
    scene = behind()
    result = _load(scene)
    assert result["modes"]["currentModeId"] == "ask_questions"
    depth, new = result["configOptions"]
    assert (depth["currentValue"], depth["options"]) == (
        "3",
        [{"value": "3", "name": "3", "_meta": {DRAFT: {"value": 3}}}],
    )
    assert (new["type"], new["currentValue"]) == ("boolean", True)
    assert result["_meta"] == {
        DRAFT: {"workingDirectory": "/b", "messageCount": 4, "replayed": False}
    }


def test_a_replay_of_the_agent_is_passed_on() -> None:
    """The draft's table 3.4."""
    scene = behind()
    result = _load(scene, told=[("agent_message_chunk", {"content": "hi"})])
    assert "replayed" not in result["_meta"][DRAFT]


def test_a_mode_that_nobody_announced_is_offered_when_the_session_is_in_it() -> None:
    """Ours: v1 wants the current mode among those on offer."""
    scene = behind()
    result = _load(
        scene,
        {
            "sessionId": "old",
            "workingDirectory": "/b",
            "mode": "architect",
            "configOptions": {},
            "messageCount": 0,
        },
    )
    assert result["modes"]["availableModes"][-1] == {"id": "architect", "name": "Architect"}


def test_loading_asks_for_the_session_alone() -> None:
    """The draft's table 3.4: the folder is kept for the eye, servers with their secrets are not."""
    scene = behind(unstable=True)
    server = {"name": "m", "command": "/m", "args": [], "env": [{"name": "K", "value": "secret"}]}
    prompt = {"mode": "append", "content": []}
    scene.wire.ask(
        CLIENT,
        "session/load",
        {
            "sessionId": "old",
            "cwd": "/a",
            "mcpServers": [server],
            "additionalDirectories": ["/c"],
            "systemPrompt": prompt,
        },
    )
    assert scene.wire.one(AGENT, "session/load").params == {
        "sessionId": "old",
        "_meta": {DRAFT: {"cwd": "/a", "additionalDirectories": ["/c"]}},
    }
    assert scene.bridge.losses == {"mcpServers": 1, "systemPrompt": 1}


@pytest.mark.parametrize(
    ("code", "data", "official", "back"),
    [
        (-32000, None, -32002, {"sessionId": "old"}),
        (-32006, {"reason": "expired"}, -32056, {"reason": "expired"}),
        (-32006, {"reason": "corrupted"}, -32056, {"reason": "corrupted"}),
    ],
)
def test_a_session_that_cannot_be_loaded(code: int, data: Any, official: int, back: Any) -> None:
    """The draft's table 3.4, 9."""
    scene = behind()
    params = {"sessionId": "old", "cwd": "/a", "mcpServers": []}
    key = scene.wire.ask(CLIENT, "session/load", params)
    scene.wire.fail(AGENT, scene.wire.one(AGENT, "session/load").key, code, "no", data)
    error = scene.wire.error(CLIENT, key)
    assert (error.code, error.data) == (official, back)
    assert "old" not in scene.bridge.state.sessions


def test_an_agent_that_cannot_load_is_not_asked() -> None:
    """The draft's table 7."""
    scene = behind(agent={})
    params = {"sessionId": "old", "cwd": "/a", "mcpServers": []}
    key = scene.wire.ask(CLIENT, "session/load", params)
    assert scene.wire.error(CLIENT, key).code == -32601


def test_what_a_v1_agent_behind_had_said_of_a_loaded_session_comes_back() -> None:
    """The draft's table 3.4: and nothing else is said of it."""
    scene = behind()
    kept = {"modes": MODES, "configOptions": options(), "loaded": True}
    params = {"sessionId": "s", "cwd": "/a", "mcpServers": []}
    key = scene.wire.ask(CLIENT, "session/load", params)
    result = {
        "sessionId": "s",
        "workingDirectory": "/a",
        "mode": "default",
        "configOptions": {"model": "small"},
        "messageCount": 0,
        "_meta": {DRAFT: kept},
    }
    scene.wire.answer(AGENT, scene.wire.one(AGENT, "session/load").key, result)
    assert scene.wire.result(CLIENT, key) == {"modes": MODES, "configOptions": options()}


def test_a_system_prompt_that_is_added_needs_no_word_of_its_mode() -> None:
    """The draft's table 3.3."""
    scene = behind(unstable=True)
    prompt = {"mode": "append", "content": [{"type": "text", "text": "Rhyme."}]}
    params = {"cwd": "/a", "mcpServers": [], "systemPrompt": prompt}
    scene.wire.ask(CLIENT, "session/new", params)
    assert scene.wire.one(AGENT, "session/new").params == {
        "workingDirectory": "/a",
        "systemPrompt": "Rhyme.",
    }


# ---- closing


def test_the_bridge_closes_sessions_itself() -> None:
    """The draft's table 3.8: cancel and forget."""
    scene = behind()
    prompt, asked = scene.prompt()
    key = scene.wire.ask(CLIENT, "session/close", {"sessionId": "s"})
    said = scene.wire.take()
    assert said == [
        (AGENT, Notification("session/cancel", {"sessionId": "s"})),
        (CLIENT, Result(key, {})),
    ]
    scene.wire.answer(AGENT, asked, {"stopReason": "cancelled"})
    assert scene.wire.result(CLIENT, prompt) == {"stopReason": "cancelled"}
    key = scene.wire.ask(CLIENT, "session/close", {"sessionId": "s"})
    assert scene.wire.error(CLIENT, key).code == -32002
