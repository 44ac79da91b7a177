"""`initialize` and logging in through the adapter (the translation's table 2 and 3)."""

from typing import Any

import pytest

from accord.client.connection.capabilities import read_v2
from accord.jsonrpc.error_codes import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from tests.translate.v1_agent.scripted_peers import ABLE, Stage

INFO = {"name": "editor", "version": "2", "title": "Editor"}


def asked(capabilities: dict[str, Any] | None, **how: Any) -> dict[str, Any]:
    stage = Stage(**how)
    params: dict[str, Any] = {"protocolVersion": 2, "info": INFO, "_meta": {"k": 1}}
    if capabilities is not None:
        params["capabilities"] = capabilities
    stage.ask("initialize", params)
    return stage.opened("initialize").params


@pytest.mark.rule("XL-05")
def test_the_agent_is_asked_as_v1_by_a_client_that_has_what_v2_takes_for_granted() -> None:
    said = asked({"auth": {"terminal": {}}, "elicitation": {"form": {}}})
    assert said == {
        "protocolVersion": 1,
        "clientInfo": INFO,
        "clientCapabilities": {
            "auth": {"terminal": True},
            "elicitation": {"form": {}},
            "fs": {"readTextFile": False, "writeTextFile": False},
            "terminal": False,
            "session": {"configOptions": {"boolean": {}}, "compaction": {}, "notices": {}},
        },
        "_meta": {"k": 1},
    }


def test_the_host_makes_the_client_have_files_and_terminals() -> None:
    said = asked(None, host=frozenset({"fs", "terminal"}), unstable=True)["clientCapabilities"]
    assert said["fs"] == {"readTextFile": True, "writeTextFile": True}
    assert (said["terminal"], said["subagents"]) == (True, {})
    assert "auth" not in said
    assert asked({"auth": {}})["clientCapabilities"]["auth"] == {"terminal": False}
    assert "auth" not in asked({"auth": None})["clientCapabilities"]


def test_what_a_v1_client_outside_of_all_said_of_itself_is_said_again() -> None:
    stage = Stage()
    kept = {"session": {"notices": {}}, "fs": {"readTextFile": True}, "plan": 5}
    params = {"protocolVersion": 2, "info": INFO, "_meta": {"acp.translate": kept}}
    stage.ask("initialize", params)
    said = stage.opened("initialize").params
    assert said["clientCapabilities"]["session"] == {"notices": {}}
    assert "plan" not in said["clientCapabilities"]
    assert said["clientCapabilities"]["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert said["_meta"] == {"acp.translate": {"fs": {"readTextFile": True}, "plan": 5}}


def test_the_answer_says_in_v2_what_the_agent_can_do() -> None:
    stage = Stage()
    methods = [
        {"id": "browser", "name": "Browser"},
        {"id": "tty", "name": "Terminal", "type": "terminal", "args": ["login"], "env": {"A": "1"}},
        {"id": "plain", "name": "Plain", "type": "terminal"},
    ]
    sessions = {**ABLE["sessionCapabilities"], "additionalDirectories": {}}
    said = stage.start(
        {**ABLE, "sessionCapabilities": sessions, "auth": {"logout": {}, "status": {}}},
        agentInfo={"name": "agent", "version": "3"},
        authMethods=methods,
    )
    assert said == {
        "protocolVersion": 2,
        "info": {"name": "agent", "version": "3"},
        "capabilities": {
            "session": {
                "delete": {},
                "additionalDirectories": {},
                "prompt": {"image": {}, "embeddedContext": {}},
                "mcp": {"stdio": {}, "http": {}},
            },
            "auth": {"status": {}},
        },
        "authMethods": [
            {"type": "agent", "methodId": "browser", "name": "Browser"},
            {
                "type": "terminal",
                "methodId": "tty",
                "name": "Terminal",
                "args": ["login"],
                "env": [{"name": "A", "value": "1"}],
            },
            {"type": "terminal", "methodId": "plain", "name": "Plain"},
        ],
        "_meta": {"acp.translate": {"mcpCapabilities": {"sse": True}}},
    }


def test_an_agent_that_says_nothing_can_do_what_we_make_up() -> None:
    stage = Stage()
    said = stage.start({})
    assert said["info"] == {"name": "unknown", "version": "unknown"}
    assert said["capabilities"] == {"session": {"mcp": {"stdio": {}}}}
    assert "authMethods" not in said


def test_what_is_attached_to_capabilities_stays_there() -> None:
    said = Stage().start({"promptCapabilities": {"_meta": {"k": 1}}, "_meta": {"j": 2}})
    assert said["capabilities"] == {
        "session": {"prompt": {"_meta": {"k": 1}}, "mcp": {"stdio": {}}},
        "_meta": {"j": 2},
    }


def test_what_an_adapter_kept_of_a_v2_agent_is_said_again() -> None:
    stage = Stage()
    other = {"type": "_key", "methodId": "k", "name": "Key"}
    kept = {"mcpCapabilities": {"stdio": False}, "authMethods": [other], "fork": {}}
    said = stage.start({}, authMethods=[], _meta={"acp.translate": kept})
    assert said["authMethods"] == [other]
    assert said["capabilities"]["session"] == {"mcp": {}}
    assert said["_meta"] == {"acp.translate": {"fork": {}}}


@pytest.mark.parametrize(
    "kept", ["x", [1], [{"type": "agent", "methodId": "k", "name": "K"}], [{"type": "_x"}]]
)
def test_ways_to_log_in_that_make_no_sense_stay_where_they_are(kept: Any) -> None:
    said = Stage().start({}, authMethods=[], _meta={"acp.translate": {"authMethods": kept}})
    assert said["authMethods"] == []
    assert said["_meta"] == {"acp.translate": {"authMethods": kept}}


def test_a_client_of_another_version_is_refused() -> None:
    stage = Stage()
    key = stage.ask("initialize", {"protocolVersion": 1, "clientInfo": INFO})
    error = stage.error(key)
    assert error.code == UNSUPPORTED_PROTOCOL_VERSION
    assert error.data == {"requested": 1, "supported": [2]}


def test_a_newer_client_without_info_is_served() -> None:
    stage = Stage()
    key = stage.ask("initialize", {"protocolVersion": 3})
    assert "clientInfo" not in stage.opened("initialize").params
    assert key not in stage.answers


def test_a_refusal_of_the_agent_is_passed_on() -> None:
    stage = Stage()
    key = stage.ask("initialize", {"protocolVersion": 2, "info": INFO})
    stage.fail("initialize", INTERNAL_ERROR, "no", {"a": 1})
    assert stage.error(key).data == {"a": 1}


def test_logging_in_and_out_have_other_names() -> None:
    stage = Stage()
    stage.start()
    key = stage.ask("auth/login", {"methodId": "browser"})
    stage.reply("authenticate", {"_meta": {"a": 1}})
    assert stage.answer(key) == {"_meta": {"a": 1}}
    key = stage.ask("auth/logout", {})
    stage.fail("logout", -32000, "not logged in")
    assert stage.error(key).code == -32000
    key = stage.ask("auth/status", {})
    stage.reply("auth/status", {"state": "unknown"})
    assert stage.answer(key) == {"state": "unknown"}


def test_an_agent_that_cannot_log_out_is_not_asked_to() -> None:
    """translate 2: v1 has a capability for it; without that there is no such method."""
    stage = Stage()
    stage.start({})
    error = stage.error(stage.ask("auth/logout", {}))
    assert (error.code, error.data) == (METHOD_NOT_FOUND, {"method": "auth/logout"})
    assert stage.to_agent == []


@pytest.mark.parametrize("auth", [{}, {"logout": None}, {"logout": {}}])
def test_a_client_can_know_that_the_agent_cannot_log_out(auth: Any) -> None:
    """Issue 13: in v2 a way to log in promises a way to log out."""
    methods = [{"id": "browser", "name": "Browser"}]
    said = Stage().start({"auth": auth}, authMethods=methods)["capabilities"]
    kept = {} if auth.get("logout") == {} else {"acp.translate": {"logout": False}}
    assert said.get("_meta", {}) == kept
    assert read_v2(said, has_auth_methods=True).logout is (auth.get("logout") == {})
