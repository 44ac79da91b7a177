"""The first exchange and the login with a draft agent behind a v1 client."""

from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT
from accord.translate.meta_store import DRAFT
from tests.translate.draft.open_sessions import DRAFT_AGENT, V1_CLIENT, Behind, behind


@pytest.mark.rule("D26-04")
def test_the_agent_is_asked_in_the_drafts_form() -> None:
    """The draft's table 3.1, 7."""
    scene = Behind()
    scene.wire.ask(
        CLIENT,
        "initialize",
        {
            "protocolVersion": 1,
            "clientCapabilities": {
                **V1_CLIENT,
                "elicitation": {"form": {}},
                "plan": None,
                "_meta": {"vendor": 1},
            },
            "clientInfo": {"name": "pencil", "version": "3", "title": "Pencil"},
            "capabilities": {"odd": True},
            "_meta": {"trace": 1},
        },
    )
    assert scene.wire.one(AGENT, "initialize").params == {
        "protocolVersion": 1,
        "clientInfo": {"name": "pencil", "version": "3", "_meta": {DRAFT: {"title": "Pencil"}}},
        "capabilities": {
            "fs": {"read": True, "write": True},
            "terminal": {"create": True},
            "ui": {"permissionDialogs": True},
            "_custom": {"vendor": 1, "acpUpdates": True},
            "_meta": {
                DRAFT: {
                    "session": {"configOptions": {"boolean": {}}},
                    "elicitation": {"form": {}},
                }
            },
        },
        "_meta": {"trace": 1, DRAFT: {"capabilities": {"odd": True}}},
    }


def test_a_client_that_says_nothing_of_itself_is_unknown_and_serves_nothing() -> None:
    """The draft's table 3.1: the draft demands a name, and absent is off."""
    scene = Behind()
    scene.wire.ask(CLIENT, "initialize", {"protocolVersion": 1})
    params = scene.wire.one(AGENT, "initialize").params
    assert params["clientInfo"] == {"name": "unknown", "version": "0"}
    assert params["capabilities"]["fs"] == {"read": False, "write": False}
    assert params["capabilities"]["terminal"] == {"create": False}


def test_what_the_agent_can_do_in_the_words_of_v1() -> None:
    """The draft's table 7."""
    agent = {**DRAFT_AGENT, "_custom": {"pairs": True}, "_meta": {"x": 1}}
    result = Behind(agent=agent).initialize()
    capabilities = result["agentCapabilities"]
    meta = capabilities.pop("_meta")
    assert capabilities == {
        "loadSession": True,
        "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
        "mcpCapabilities": {"http": True, "sse": False},
        "sessionCapabilities": {"close": {}},
    }
    assert meta["pairs"] is True
    assert meta["x"] == 1
    assert meta[DRAFT]["capabilities"]["sessionCapabilities"]["persistence"] is True
    assert result["authMethods"] == []
    assert result["agentInfo"] == {"name": "pencil", "version": "3"}


def test_an_agent_that_says_nothing_can_do_little_and_refuses_nothing() -> None:
    """The draft's table 7: absent is not refused."""
    capabilities = Behind(agent={}, unstable=True).initialize()["agentCapabilities"]
    assert capabilities["loadSession"] is False
    assert capabilities["mcpCapabilities"] == {"http": False, "sse": False, "acp": False}


def test_an_odd_number_of_version_is_logged_and_the_shape_counts() -> None:
    """The draft's table 1.2: where number and shape disagree, the shape wins."""
    scene = Behind()
    key = scene.wire.ask(CLIENT, "initialize", {"protocolVersion": 1})
    asked = scene.wire.one(AGENT, "initialize")
    info = {"name": "a", "version": "1"}
    result = {"protocolVersion": 2, "agentInfo": info, "capabilities": {}}
    scene.wire.answer(AGENT, asked.key, result)
    assert scene.wire.result(CLIENT, key)["protocolVersion"] == 1
    assert "version 2" in scene.clock.log[0]


@pytest.mark.rule("D26-18")
@pytest.mark.parametrize(
    ("required", "missing"),
    [
        ({"fs": {"read": True}}, []),
        ({"fs": {"watch": True, "_meta": {}}, "_meta": {}}, ["fs.watch"]),
        ({"terminal": {"create": True, "maxConcurrent": 2}}, ["terminal.maxConcurrent"]),
        ({"terminal": {"interactive": False, "maxConcurrent": 0}}, ["terminal.maxConcurrent"]),
        ({"_custom": {"telepathy": {"deep": True}}}, ["_custom.telepathy.deep"]),
        ({"_custom": {"name": "text"}}, []),
    ],
)
def test_a_demand_that_the_client_does_not_meet_fails_the_start(
    required: Any, missing: list[str]
) -> None:
    """The draft's table 3.1."""
    scene = Behind()
    key = scene.wire.ask(
        CLIENT, "initialize", {"protocolVersion": 1, "clientCapabilities": V1_CLIENT}
    )
    asked = scene.wire.one(AGENT, "initialize")
    info = {"name": "a", "version": "1"}
    result = {"protocolVersion": 1, "agentInfo": info, "capabilities": {}}
    scene.wire.answer(AGENT, asked.key, {**result, "requiredClientCapabilities": required})
    if missing:
        error = scene.wire.error(CLIENT, key)
        assert error.code == -32601
        assert error.data == {"missing": missing, "reason": "capability_not_supported"}
    else:
        made = scene.wire.result(CLIENT, key)
        assert made["_meta"][DRAFT]["requiredClientCapabilities"] == required


def test_a_refused_start_is_refused_in_official_numbers() -> None:
    """The draft's table 9."""
    scene = Behind()
    key = scene.wire.ask(CLIENT, "initialize", {"protocolVersion": 1})
    scene.wire.fail(AGENT, scene.wire.one(AGENT, "initialize").key, -32008)
    assert scene.wire.error(CLIENT, key).code == -32058


@pytest.mark.parametrize(
    ("method", "word", "kept"),
    [("api_key", "api_key", {}), ("sso", "custom", {"_meta": {DRAFT: {"methodId": "sso"}}})],
)
def test_a_login_in_the_drafts_words(method: str, word: str, kept: Any) -> None:
    """The draft's table 3.2: a v1 client has no credentials to give."""
    scene = behind()
    key = scene.wire.ask(CLIENT, "authenticate", {"methodId": method})
    asked = scene.wire.one(AGENT, "authenticate")
    assert asked.params == {"method": word, "credentials": {}, **kept}
    scene.wire.answer(AGENT, asked.key, {"success": True, "expiresAt": "later", "error": "old"})
    meta = {DRAFT: {"expiresAt": "later", "error": "old"}}
    assert scene.wire.result(CLIENT, key) == {"_meta": meta}


def test_a_login_that_says_no_more_than_that_it_worked() -> None:
    """The draft's table 3.2."""
    scene = behind()
    key = scene.wire.ask(CLIENT, "authenticate", {"methodId": "oauth2"})
    scene.wire.answer(AGENT, scene.wire.one(AGENT, "authenticate").key, {"success": True})
    assert scene.wire.result(CLIENT, key) == {}


def test_what_a_v1_agent_behind_had_said_of_prompts_comes_back() -> None:
    """The draft's table 7."""
    kept = {"promptCapabilities": {"image": True, "audio": 5}}
    agent = {**DRAFT_AGENT, "_meta": {DRAFT: kept}}
    capabilities = Behind(agent=agent).initialize()["agentCapabilities"]
    flags = {"image": True, "audio": False, "embeddedContext": False}
    assert capabilities["promptCapabilities"] == flags


@pytest.mark.rule("D26-05")
def test_a_login_that_fails_is_the_official_error() -> None:
    """The draft's table 3.2."""
    scene = behind()
    for result, message in (
        ({"success": False, "error": "wrong key"}, "wrong key"),
        ({"success": False}, "the agent did not accept the login"),
    ):
        key = scene.wire.ask(CLIENT, "authenticate", {"methodId": "api_key"})
        scene.wire.answer(AGENT, scene.wire.one(AGENT, "authenticate").key, result)
        error = scene.wire.error(CLIENT, key)
        assert (error.code, error.message) == (-32000, message)
    key = scene.wire.ask(CLIENT, "authenticate", {"methodId": "api_key"})
    scene.wire.fail(AGENT, scene.wire.one(AGENT, "authenticate").key, -32601)
    assert scene.wire.error(CLIENT, key).code == -32601


def test_logins_that_were_kept_are_offered_but_for_terminal_ones() -> None:
    """The draft's table 3.2."""
    scene = Behind()
    key = scene.wire.ask(CLIENT, "initialize", {"protocolVersion": 1})
    asked = scene.wire.one(AGENT, "initialize")
    info = {"name": "a", "version": "1", "_meta": {DRAFT: {"title": "A"}}}
    logins = [{"id": "sso", "name": "SSO"}, {"id": "tty", "name": "TTY", "type": "terminal"}]
    result: Any = {"protocolVersion": 1, "agentInfo": info, "capabilities": {}}
    result["_meta"] = {DRAFT: {"authMethods": logins}}
    scene.wire.answer(AGENT, asked.key, result)
    made = scene.wire.result(CLIENT, key)
    assert made["authMethods"] == logins[:1]
    assert made["agentInfo"] == {"name": "a", "version": "1", "title": "A"}


@pytest.mark.parametrize(
    "method",
    ["session/resume", "session/list", "session/delete", "session/fork", "logout"],
)
def test_what_the_draft_does_not_have_is_refused(method: str) -> None:
    """The draft's table 3.8."""
    scene = behind()
    key = scene.wire.ask(CLIENT, method, {"sessionId": "s"})
    assert scene.wire.error(CLIENT, key).code == -32601


@pytest.mark.parametrize(
    ("side", "method", "params"),
    [
        (CLIENT, "session/new", {"cwd": "/a", "mcpServers": [], "workingDirectory": "/a"}),
        (CLIENT, "session/prompt", {"sessionId": "s", "prompt": [], "content": []}),
        (CLIENT, "session/set_mode", {"sessionId": "s", "modeId": "a", "mode": "a"}),
        (CLIENT, "authenticate", {"methodId": "a", "credentials": {"apiKey": "secret"}}),
        (
            CLIENT,
            "session/set_config_option",
            {"sessionId": "s", "configId": "a", "value": "b", "key": "a"},
        ),
        (AGENT, "fs/read_text_file", {"path": "/a", "line": 2}),
        (
            AGENT,
            "session/request_permission",
            {"sessionId": "s", "operation": "file_read", "resource": "/a", "options": []},
        ),
    ],
)
def test_a_request_that_mixes_the_dialects_is_refused(side: Any, method: str, params: Any) -> None:
    """The draft's table 1.3, issue 5: with -32602, which is the same number in both."""
    scene = behind()
    key = scene.wire.ask(side, method, params)
    error = scene.wire.error(side, key)
    assert error.code == -32602
    assert error.data["reason"] == "mixed_dialects"
    assert "secret" not in repr(error)


@pytest.mark.rule("D26-20")
def test_extension_methods_pass_with_errors_in_other_numbers() -> None:
    """The draft's table 2, 9."""
    scene = behind()
    key = scene.wire.ask(CLIENT, "_garden/water", {"a": 1})
    asked = scene.wire.one(AGENT, "_garden/water")
    scene.wire.fail(AGENT, asked.key, -32004)
    assert scene.wire.error(CLIENT, key).code == -32002
    key = scene.wire.ask(AGENT, "_garden/water", {"a": 1})
    scene.wire.answer(CLIENT, scene.wire.one(CLIENT, "_garden/water").key, {"wet": True})
    assert scene.wire.result(AGENT, key) == {"wet": True}
    scene.wire.tell(AGENT, "_garden/rain", {"mm": 3})
    assert len(scene.wire.took(CLIENT)) == 1
