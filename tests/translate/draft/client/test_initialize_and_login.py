"""The first exchange, the login and sessions of a draft client in front of a v1 agent."""

from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT
from accord.translate.meta_store import DRAFT
from tests.translate.draft.open_sessions import (
    V1_AGENT,
    Before,
)

# ---- initialize


@pytest.mark.rule("D26-04")
def test_the_agent_is_asked_in_the_form_of_v1() -> None:
    """The draft's table 3.1, 7."""
    client = {
        "fs": {"read": True, "write": False, "watch": True},
        "terminal": {"create": True, "interactive": True, "maxConcurrent": 2},
        "ui": {"diffViewer": True},
        "_custom": {"pairs": True},
    }
    scene = Before(client=client)
    info = {"name": "pencil", "version": "3", "_meta": {DRAFT: {"title": "Pencil"}}}
    params = {"protocolVersion": 1, "clientInfo": info, "capabilities": client}
    scene.wire.ask(CLIENT, "initialize", params)
    assert scene.wire.one(AGENT, "initialize").params == {
        "protocolVersion": 1,
        "clientInfo": {"name": "pencil", "version": "3", "title": "Pencil"},
        "clientCapabilities": {
            "fs": {"readTextFile": True, "writeTextFile": False},
            "terminal": True,
            "session": {"configOptions": {"boolean": {}}},
            "_meta": {
                "pairs": True,
                DRAFT: {
                    "fs": {"watch": True},
                    "terminal": {"interactive": True, "maxConcurrent": 2},
                    "ui": {"diffViewer": True},
                },
            },
        },
    }


@pytest.mark.parametrize(("unstable", "plan"), [(False, None), (True, {})])
def test_a_client_that_takes_official_updates_says_so_to_the_agent(
    unstable: bool, plan: Any
) -> None:
    """The draft's table 5: what such updates hang on is on again."""
    kept = {"session": {"notices": {}}, "plan": {}, "subagents": 5, "elicitation": {}}
    client = {"_custom": {"acpUpdates": True}, "_meta": {DRAFT: kept, "x": 1}}
    scene = Before(unstable=unstable)
    params = {"protocolVersion": 1, "clientInfo": {"name": "p", "version": "3"}}
    scene.wire.ask(CLIENT, "initialize", {**params, "capabilities": client})
    capabilities = scene.wire.one(AGENT, "initialize").params["clientCapabilities"]
    assert capabilities["session"] == {"configOptions": {"boolean": {}}, "notices": {}}
    assert capabilities.get("plan") == plan
    assert "subagents" not in capabilities
    assert "elicitation" not in capabilities
    assert capabilities["_meta"] == {"x": 1}
    scene.wire.ask(CLIENT, "initialize", {**params, "capabilities": {"_meta": {DRAFT: kept}}})
    capabilities = scene.wire.one(AGENT, "initialize").params["clientCapabilities"]
    assert capabilities["session"] == {"configOptions": {"boolean": {}}}


def test_what_the_agent_can_do_in_the_drafts_words() -> None:
    """The draft's table 7."""
    info = {"name": "a", "version": "1", "title": "A"}
    agent = {**V1_AGENT, "_meta": {"pairs": True}}
    result = Before(agent=agent).initialize(agentInfo=info, authMethods=[{"id": "k", "name": "K"}])
    assert result["agentInfo"] == {
        "name": "a",
        "version": "1",
        "_meta": {DRAFT: {"title": "A"}},
    }
    capabilities = result["capabilities"]
    kept = capabilities.pop("_meta")[DRAFT]
    assert capabilities == {
        "loadSession": True,
        "mcpCapabilities": {"servers": True, "transport": ["stdio", "http"]},
        "promptCapabilities": {"streaming": True, "cancellation": True, "attachments": True},
        "sessionCapabilities": {"modes": [], "configOptions": [], "persistence": True},
        "_custom": {"pairs": True},
    }
    assert kept == {"promptCapabilities": {"image": True, "audio": True, "embeddedContext": True}}
    assert result["_meta"] == {DRAFT: {"authMethods": [{"id": "k", "name": "K"}]}}


@pytest.mark.parametrize(
    ("agent", "persists"),
    [
        ({}, False),
        ({"loadSession": True}, True),
        ({"sessionCapabilities": {"resume": {}}}, True),
        ({"sessionCapabilities": {"list": None}}, False),
    ],
)
def test_what_lasts_is_said_to_last(agent: Any, persists: bool) -> None:
    """The draft's table 7."""
    result = Before(agent=agent).initialize()
    assert result["capabilities"]["sessionCapabilities"]["persistence"] is persists
    assert result["agentInfo"] == {"name": "unknown", "version": "0"}


def test_what_a_draft_agent_behind_had_said_comes_back() -> None:
    """The draft's table 7: modes and options by name, and what it demands."""
    said = {
        "sessionCapabilities": {
            "modes": ["plan"],
            "configOptions": ["depth"],
            "persistence": False,
        },
        "promptCapabilities": {"streaming": False},
    }
    agent = {"_meta": {DRAFT: {"capabilities": said}}}
    required = {"fs": {"read": True}}
    kept = {"_meta": {DRAFT: {"requiredClientCapabilities": required}}}
    result = Before(agent=agent).initialize(**kept)
    assert result["capabilities"]["sessionCapabilities"] == said["sessionCapabilities"]
    assert result["capabilities"]["promptCapabilities"]["streaming"] is False
    assert result["requiredClientCapabilities"] == required
    odd = {"_meta": {DRAFT: {"capabilities": {"sessionCapabilities": {"modes": 5}}}}}
    result = Before(agent=odd).initialize()
    assert result["capabilities"]["sessionCapabilities"]["modes"] == []


def test_a_start_that_fails() -> None:
    """The draft's table 1.2, 9: refused, or in a version that has another form."""
    scene = Before()
    params = {
        "protocolVersion": 1,
        "clientInfo": {"name": "p", "version": "3"},
        "capabilities": {},
    }
    key = scene.wire.ask(CLIENT, "initialize", params)
    scene.wire.fail(AGENT, scene.wire.one(AGENT, "initialize").key, -32058)
    assert scene.wire.error(CLIENT, key).code == -32008
    key = scene.wire.ask(CLIENT, "initialize", params)
    scene.wire.answer(AGENT, scene.wire.one(AGENT, "initialize").key, {"protocolVersion": 7})
    assert scene.wire.error(CLIENT, key).code == -32007


# ---- authenticate


LOGINS = [{"id": "api_key", "name": "K"}, {"id": "oauth2", "name": "O"}]


@pytest.mark.rule("D26-05")
@pytest.mark.parametrize(
    ("logins", "method", "chosen"),
    [
        (LOGINS, "oauth2", "oauth2"),
        ([{"id": "my-API-key", "name": "K"}, {"id": "x", "name": "X"}], "api_key", "my-API-key"),
        ([{"id": "x", "name": "X"}], "custom", "x"),
    ],
)
def test_a_login_by_the_agents_own_method(logins: Any, method: str, chosen: str) -> None:
    """The draft's table 3.2."""
    scene = Before()
    scene.initialize(authMethods=logins)
    params = {"method": method, "credentials": {"apiKey": "secret"}, "_meta": {"x": 1}}
    key = scene.wire.ask(CLIENT, "authenticate", params)
    asked = scene.wire.one(AGENT, "authenticate")
    assert asked.params == {"methodId": chosen, "_meta": {"x": 1}}
    kept = {DRAFT: {"expiresAt": "later", "y": 1}}
    scene.wire.answer(AGENT, asked.key, {"_meta": kept})
    assert scene.wire.result(CLIENT, key) == {
        "success": True,
        "expiresAt": "later",
        "_meta": {DRAFT: {"y": 1}},
    }


def test_credentials_go_to_the_store_for_secrets_and_nowhere_else() -> None:
    """The draft's table 3.2; issue 5."""
    scene = Before()
    scene.initialize(authMethods=LOGINS)
    secret = {"apiKey": "very secret"}
    scene.wire.ask(CLIENT, "authenticate", {"method": "api_key", "credentials": secret})
    assert "very secret" not in repr(scene.wire.take())
    assert "very secret" not in repr(scene.clock.log)
    assert scene.clock.secrets == [("api_key", secret)]
    assert "very secret" not in repr(vars(scene.bridge))
    assert "very secret" not in repr(scene.bridge.state.__dict__)


def test_a_login_that_fails_is_an_answer() -> None:
    """The draft's table 3.2."""
    scene = Before()
    scene.initialize(authMethods=LOGINS)
    params: Any = {"method": "api_key", "credentials": {}}
    key = scene.wire.ask(CLIENT, "authenticate", params)
    scene.wire.fail(AGENT, scene.wire.one(AGENT, "authenticate").key, -32000, "wrong key")
    assert scene.wire.result(CLIENT, key) == {"success": False, "error": "wrong key"}
    key = scene.wire.ask(CLIENT, "authenticate", params)
    scene.wire.fail(AGENT, scene.wire.one(AGENT, "authenticate").key, -32603)
    assert scene.wire.error(CLIENT, key).code == -32603
    key = scene.wire.ask(CLIENT, "authenticate", {"method": "custom", "credentials": {}})
    assert scene.wire.result(CLIENT, key)["success"] is False
    assert scene.clock.secrets == []


def test_an_agent_without_logins_needs_none() -> None:
    """Ours: a client that always logs in is not turned away."""
    scene = Before()
    scene.initialize(authMethods=[{"id": "t", "name": "T", "type": "terminal"}])
    key = scene.wire.ask(CLIENT, "authenticate", {"method": "custom", "credentials": {}})
    assert scene.wire.result(CLIENT, key)["success"] is False
    scene = Before()
    scene.initialize()
    key = scene.wire.ask(CLIENT, "authenticate", {"method": "custom", "credentials": {}})
    assert scene.wire.result(CLIENT, key) == {"success": True}


def test_the_method_that_v1_had_named_comes_back() -> None:
    """The draft's table 3.2."""
    scene = Before()
    scene.initialize(authMethods=[*LOGINS, {"id": "sso", "name": "S"}])
    kept = {"_meta": {DRAFT: {"methodId": "sso"}}}
    scene.wire.ask(CLIENT, "authenticate", {"method": "custom", "credentials": {}, **kept})
    assert scene.wire.one(AGENT, "authenticate").params == {"methodId": "sso"}


def test_the_program_of_a_server_is_found_where_programs_are() -> None:
    """The draft's table 8: a command without a path is looked up; one that is nowhere stays."""
    scene = Before()
    found = {"one": "/bin/one"}
    scene.bridge.around = scene.bridge.around._replace(find_program=found.get)
    scene.initialize()
    for command, path in (("one", "/bin/one"), ("/b", "/b"), ("two", "two")):
        transport = {"type": "stdio", "command": command}
        servers = [{"name": "m", "transport": transport}]
        scene.wire.ask(CLIENT, "session/new", {"workingDirectory": "/w", "mcpServers": servers})
        asked = scene.wire.one(AGENT, "session/new")
        assert asked.params["mcpServers"][0]["command"] == path
