"""`initialize` and logging in."""

from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT, Failure, Notification, Request, Result
from tests.translate.v2_agent.scripted_peers import CWD, SESSION, World, X


def _asked(client: dict[str, Any], **params: Any) -> dict[str, Any]:
    world = World(is_exact=False)
    world.ask(CLIENT, "initialize", {"protocolVersion": 1, "clientCapabilities": client, **params})
    found: dict[str, Any] = world.last(AGENT).params
    return found


def test_a_client_without_a_name_is_unknown_and_asks_for_version_2() -> None:
    """translate 2: `info` is required in v2."""
    assert _asked({}) == {
        "protocolVersion": 2,
        "info": {"name": "unknown", "version": "unknown"},
        "capabilities": {},
    }
    info = {"name": "c", "version": "3", "title": "C"}
    assert _asked({}, clientInfo=info)["info"] == info


def test_flags_of_the_client_become_objects_and_what_v2_has_no_use_for_is_kept() -> None:
    """translate 2: fs and terminal are not dropped silently."""
    params = _asked(
        {
            "fs": {"readTextFile": True, "writeTextFile": False},
            "terminal": True,
            "auth": {"terminal": True},
            "elicitation": {"form": {}},
            "session": {"notices": {}},
            "plan": {},
        }
    )
    assert params["capabilities"] == {"auth": {"terminal": {}}, "elicitation": {"form": {}}}
    assert params["_meta"][X] == {
        "fs": {"readTextFile": True, "writeTextFile": False},
        "terminal": True,
        "session": {"notices": {}},
        "plan": {},
    }
    assert _asked({"auth": {"terminal": False}})["capabilities"] == {"auth": {}}
    assert _asked({"auth": None})["capabilities"] == {}


def test_capabilities_that_the_schema_has_dropped_reach_the_agent() -> None:
    """Ours: clients of August 2026 still offer next edits, and a capability is never lost."""
    dropped = {"nes": {"jump": {}}, "positionEncodings": ["utf-16"]}
    assert _asked(dropped)["capabilities"] == dropped


def test_the_agents_abilities_are_those_of_a_v1_agent() -> None:
    """translate 2: what v2 takes for granted is said."""
    world = World()
    result = world.initialize(
        agent={
            "session": {
                "prompt": {"image": {}},
                "mcp": {"stdio": {}, "http": {}},
                "delete": {},
                "additionalDirectories": {},
            }
        }
    )
    assert result == {
        "protocolVersion": 1,
        "agentInfo": {"name": "a", "version": "1"},
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {"image": True, "audio": False, "embeddedContext": False},
            "mcpCapabilities": {"http": True, "sse": False},
            "sessionCapabilities": {
                "list": {},
                "resume": {},
                "close": {},
                "delete": {},
                "additionalDirectories": {},
            },
        },
    }
    assert world.losses == {}


def test_what_is_not_stable_is_offered_only_where_it_is_wanted() -> None:
    """Ours: never sent unless somebody asked for it."""
    agent: dict[str, Any] = {
        "session": {
            "mcp": {"stdio": {}, "acp": {}, "_meta": {"m": 1}},
            "fork": {},
            "archive": {},
            "status": {},
            "title": {},
        },
        "auth": {"status": {}},
        "providers": {},
    }
    shy = World().initialize(agent=agent)
    assert shy["agentCapabilities"]["sessionCapabilities"] == {
        "list": {},
        "resume": {},
        "close": {},
    }
    assert "auth" not in shy["agentCapabilities"]
    assert "acp" not in shy["agentCapabilities"]["mcpCapabilities"]
    assert set(shy["_meta"][X]) == {"fork", "archive", "status", "title", "providers"}
    bold = World(unstable=True).initialize(agent=agent)["agentCapabilities"]
    assert bold["mcpCapabilities"] == {"http": False, "sse": False, "acp": True, "_meta": {"m": 1}}
    assert bold["sessionCapabilities"].keys() > {"fork", "archive", "status", "title"}
    assert bold["auth"] == {"status": {}}
    assert bold["providers"] == {}


def test_ways_to_log_in_have_v1s_names_and_promise_logout() -> None:
    """translate 2: the list promises `auth/logout` in v2, a capability in v1."""
    world = World()
    result = world.initialize(
        agent={"auth": {}, "session": {"mcp": {"stdio": {}}}},
        auth=[
            {"type": "agent", "methodId": "a", "name": "A"},
            {
                "type": "terminal",
                "methodId": "t",
                "name": "T",
                "args": ["login"],
                "env": [{"name": "K", "value": "v"}],
            },
            {"type": "terminal", "methodId": "u", "name": "U"},
            {"type": "_odd", "methodId": "o", "name": "O"},
        ],
    )
    assert result["authMethods"] == [
        {"id": "a", "name": "A"},
        {"type": "terminal", "id": "t", "name": "T", "args": ["login"], "env": {"K": "v"}},
        {"type": "terminal", "id": "u", "name": "U"},
    ]
    assert result["_meta"][X]["authMethods"] == [{"type": "_odd", "methodId": "o", "name": "O"}]
    assert result["agentCapabilities"]["auth"] == {"logout": {}}
    assert world.losses == {"auth method": 1}
    world = World()
    world.initialize(auth=[{"type": "agent", "methodId": "a", "name": "A"}])
    assert world.losses == {}


def test_an_agent_without_sessions_has_none_in_v1() -> None:
    """translate 2: nothing to adapt, `session/new` is not found."""
    world = World()
    result = world.initialize(agent={})
    assert result["agentCapabilities"] == {"loadSession": False}
    for method, params in (
        ("session/new", {"cwd": CWD, "mcpServers": []}),
        ("session/list", {}),
        ("session/close", {"sessionId": SESSION}),
        ("session/prompt", {"sessionId": SESSION, "prompt": []}),
    ):
        key = world.ask(CLIENT, method, params)
        assert world.answer_to(key).code == -32601


@pytest.mark.parametrize(("code", "told"), [(-32022, -32603), (-32000, -32000)])
def test_a_refused_version_is_an_internal_error_in_v1(code: int, told: int) -> None:
    """translate 2, 13: v1 has no code for it; other errors are copied."""
    world = World()
    key = world.ask(CLIENT, "initialize", {"protocolVersion": 1})
    world.fail(AGENT, world.last(AGENT).key, code, {"supported": [3]})
    assert world.answer_to(key) == Failure(key, told, "no", {"supported": [3]})


def _introduced(version: int) -> tuple[World, Any]:
    world = World()
    world.ask(CLIENT, "initialize", {"protocolVersion": 1})
    result = {"protocolVersion": version, "info": {"name": "a", "version": "1"}}
    request = world.last(AGENT)
    outs = world.translator.receive(AGENT, Result(request.key, result))
    return world, outs


def test_an_agent_of_a_version_that_nobody_knows_cannot_be_served() -> None:
    """Ours: neither v1 nor v2."""
    _, outs = _introduced(3)
    [(side, answer)] = outs
    assert (side, answer.code, answer.data) == (CLIENT, -32603, {"protocolVersion": 3})


def test_an_agent_that_answers_version_1_is_spoken_to_directly() -> None:
    """translate 2: the adapter steps aside."""
    world, outs = _introduced(1)
    assert outs[0][1].result["protocolVersion"] == 1
    translator: Any = world.translator
    [(to, asked)] = translator.receive(CLIENT, Request(7, "session/load", {"any": "thing"}))
    assert (to, asked.method, asked.params) == (AGENT, "session/load", {"any": "thing"})
    [out] = translator.receive(CLIENT, Notification("$/cancel_request", {"requestId": 7}))
    assert out == (AGENT, Notification("$/cancel_request", {"requestId": asked.key}))
    [out] = translator.receive(AGENT, Result(asked.key, {"r": 1}))
    assert out == (CLIENT, Result(7, {"r": 1}))
    [(to, asked)] = translator.receive(AGENT, Request(7, "fs/read_text_file", {}))
    assert to is CLIENT
    told = Notification("session/update", {"sessionId": "s", "update": {}})
    assert translator.receive(AGENT, told) == [(CLIENT, told)]
    assert translator.receive(CLIENT, told) == [(AGENT, told)]


def test_logging_in_and_out_have_other_names() -> None:
    """translate 3."""
    world = World()
    world.initialize(auth=[{"type": "agent", "methodId": "m", "name": "M"}])
    key = world.ask(CLIENT, "authenticate", {"methodId": "m"})
    request = world.last(AGENT)
    assert (request.method, request.params) == ("auth/login", {"methodId": "m"})
    world.answer(AGENT, request.key, {})
    assert world.answer_to(key) == Result(key, {})
    key = world.ask(CLIENT, "logout", {})
    assert world.last(AGENT).method == "auth/logout"
    world.fail(AGENT, world.last(AGENT).key, -32000)
    assert world.answer_to(key).code == -32000


def test_an_agent_that_offers_no_login_is_asked_for_neither() -> None:
    """V2-AUTH-02: not for a client of v1 either."""
    offers: tuple[dict[str, Any] | None, ...] = (None, {})
    for agent in offers:
        world = World()
        world.initialize(agent=agent)
        for method in ("authenticate", "logout"):
            key = world.ask(CLIENT, method, {"methodId": "m"} if method == "authenticate" else {})
            assert world.answer_to(key).code == -32601
        assert world.last(AGENT).method == "initialize"


def test_a_translated_agent_that_cannot_log_out_does_not_promise_it() -> None:
    """Issue 13: what the other translator said of it counts."""
    world = World()
    auth = [{"type": "agent", "methodId": "a", "name": "A"}]
    agent = {"session": {}, "_meta": {X: {"logout": False}}}
    said = world.initialize(agent=agent, auth=auth)["agentCapabilities"]
    assert "auth" not in said
    assert "_meta" not in said


def test_unstable_methods_pass_where_they_are_wanted() -> None:
    """translate 3, 4, 12: the same in both versions."""
    world = World(unstable=True)
    world.initialize()
    for method, params, result in (
        ("auth/status", {}, {"state": "authenticated"}),
        ("providers/list", {}, {"providers": []}),
        ("session/set_title", {"sessionId": SESSION, "title": "t"}, {"title": "t"}),
        ("session/unarchive", {"sessionId": SESSION}, {}),
    ):
        key = world.ask(CLIENT, method, params)
        assert world.last(AGENT).method == method
        world.answer(AGENT, world.last(AGENT).key, result)
        assert world.answer_to(key) == Result(key, result)
    world.tell(AGENT, "auth/status_update", {"state": "unknown"})
    assert world.client[-1] == Notification("auth/status_update", {"state": "unknown"})
    refused = World()
    refused.initialize()
    key = refused.ask(CLIENT, "auth/status", {})
    assert refused.answer_to(key).code == -32601


def test_mcp_over_acp_passes_both_ways() -> None:
    """translate 12: `requestId` inside is MCP's own."""
    world = World(unstable=True)
    world.initialize()
    params = {"serverId": "m", "requestId": "1", "method": "tools/list"}
    key = world.ask(AGENT, "mcp/message", params)
    question = world.last(CLIENT)
    assert question.params == params
    world.answer(CLIENT, question.key, {"result": {}})
    assert world.agent[-1] == Result(key, {"result": {}})
    world.tell(CLIENT, "mcp/message", params)
    assert world.agent[-1] == Notification("mcp/message", params)


def test_methods_of_extensions_pass_unchanged() -> None:
    """translate 13."""
    world = World()
    world.initialize()
    key = world.ask(CLIENT, "_x/y", {"a": [1]})
    assert world.last(AGENT).params == {"a": [1]}
    world.answer(AGENT, world.last(AGENT).key, {"b": 2})
    assert world.answer_to(key) == Result(key, {"b": 2})
    world.tell(AGENT, "_x/told", {"c": 3})
    assert world.client[-1] == Notification("_x/told", {"c": 3})
