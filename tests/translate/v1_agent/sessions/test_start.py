"""How sessions begin, and how old ones are found again (the translation's table 2 and 4)."""

from typing import Any

import pytest

from accord.jsonrpc.error_codes import INVALID_PARAMS, RESOURCE_NOT_FOUND
from accord.translate.v1_agent.session_replay import LOG_BYTES_MAX
from accord.translate.v1_agent.session_state import SESSIONS_KEPT
from accord.translate.v1_agent.sessions.start import ANSWERED_AFTER, EARLY_UPDATES_MAX
from tests.translate.v1_agent.agent_messages import chunk, permission, tool
from tests.translate.v1_agent.scripted_peers import Stage

START = {"type": "start"}
COMMANDS = {"sessionUpdate": "available_commands_update", "availableCommands": []}


def resume(stage: Stage, session_id: str = "s1", **more: Any) -> int:
    return stage.ask("session/resume", {"sessionId": session_id, "cwd": "/work", **more})


# ---- new


def test_a_new_session_has_what_v1_wants() -> None:
    stage = Stage()
    stage.start()
    servers = [
        {"type": "stdio", "name": "a", "command": "/bin/a"},
        {"type": "http", "name": "b", "url": "https://b", "headers": [{"name": "x", "value": "y"}]},
    ]
    key = stage.ask("session/new", {"cwd": "/work", "mcpServers": servers, "_meta": {"k": 1}})
    asked = stage.opened("session/new")
    assert asked.params == {
        "cwd": "/work",
        "mcpServers": [
            {"name": "a", "command": "/bin/a", "args": [], "env": []},
            servers[1],
        ],
        "_meta": {"k": 1},
    }
    stage.to_agent.append(asked)
    stage.reply("session/new", {"sessionId": "s1", "configOptions": None, "_meta": {"r": 1}})
    assert stage.answer(key) == {"sessionId": "s1", "_meta": {"r": 1}}
    stage.ask("session/new", {"cwd": "/work"})
    assert stage.opened("session/new").params["mcpServers"] == []


@pytest.mark.rule("V2-SESS-24")
@pytest.mark.parametrize(
    "servers",
    [
        [{"type": "sse", "name": "a", "url": "https://a"}],
        [{"type": "acp", "name": "a", "serverId": "a"}],
        [
            {"type": "stdio", "name": "a", "command": "/a"},
            {"type": "stdio", "name": "a", "command": "/b"},
        ],
    ],
)
def test_servers_that_the_agent_cannot_reach_are_refused(servers: list[Any]) -> None:
    stage = Stage()
    stage.start()
    key = stage.ask("session/new", {"cwd": "/work", "mcpServers": servers})
    assert stage.error(key).code == INVALID_PARAMS
    assert stage.to_agent == []


def test_a_server_behind_the_client_is_passed_on_where_the_agent_can_reach_it() -> None:
    stage = Stage()
    stage.start({"mcpCapabilities": {"acp": True}})
    server = {"type": "acp", "name": "a", "serverId": "a"}
    stage.ask("session/new", {"cwd": "/work", "mcpServers": [server]})
    assert stage.opened("session/new").params["mcpServers"] == [server]


def test_a_system_prompt_is_passed_on_in_v1s_blocks() -> None:
    stage = Stage()
    stage.start()
    link = {"type": "resource_link", "name": "a", "uri": "u", "icons": []}
    system = {"mode": "append", "content": [link]}
    stage.ask("session/new", {"cwd": "/work", "systemPrompt": system})
    (block,) = stage.opened("session/new").params["systemPrompt"]["content"]
    assert block["_meta"] == {"acp.translate": {"icons": []}}


def test_a_refused_session_is_refused() -> None:
    stage = Stage()
    stage.start()
    key = stage.ask("session/new", {"cwd": "/work"})
    stage.fail("session/new", -32000, "log in")
    assert stage.error(key).code == -32000


def test_commands_that_come_early_stand_in_the_answer_and_the_rest_follows_it() -> None:
    stage = Stage()
    stage.start()
    key = stage.ask("session/new", {"cwd": "/work"})
    command = {"name": "web", "description": "Search", "input": {"hint": "what"}}
    stage.update({**COMMANDS, "availableCommands": [command]})
    stage.update({"sessionUpdate": "usage_update", "used": 1, "size": 2})
    stage.update(chunk("of another"), "other")
    assert stage.to_client == []
    stage.reply("session/new", {"sessionId": "s1", "availableCommands": "odd"})
    assert stage.answer(key) == {
        "sessionId": "s1",
        "availableCommands": [
            {
                "type": "command",
                "name": "web",
                "description": "Search",
                "input": {"type": "text", "hint": "what"},
            }
        ],
        "_meta": {"acp.translate": {"availableCommands": "odd"}},
    }
    assert stage.said() == ["usage_update"]


def test_of_what_comes_early_only_so_much_is_held() -> None:
    stage = Stage()
    stage.start()
    stage.ask("session/new", {"cwd": "/work"})
    for count in range(EARLY_UPDATES_MAX + 1):
        stage.update({"sessionUpdate": "usage_update", "used": count, "size": 2})
    stage.reply("session/new", {"sessionId": "s1"})
    assert len(stage.updates()) == EARLY_UPDATES_MAX
    assert stage.adapter.losses == {"early update": 1}


def test_early_updates_go_with_the_session_that_is_refused() -> None:
    stage = Stage()
    stage.start()
    stage.ask("session/new", {"cwd": "/work"})
    second = stage.ask("session/new", {"cwd": "/work"})
    stage.update(chunk("early"))
    stage.fail("session/new")
    stage.update(chunk("earlier"))
    stage.reply("session/new", {"sessionId": "s1"})
    assert stage.answer(second) == {"sessionId": "s1"}
    assert stage.said() == ["running", "agent_message early", "agent_message earlier"]


def test_updates_of_sessions_that_nobody_knows_are_dropped_and_counted() -> None:
    stage = Stage()
    stage.start()
    stage.update(chunk("who?"))
    assert stage.updates() == []
    assert stage.adapter.losses == {"update of an unknown session": 1}
    assert len(stage.around.said) == 1


def test_only_so_many_sessions_are_known() -> None:
    stage = Stage()
    stage.start({})
    for count in range(SESSIONS_KEPT):
        stage.new(f"s{count}")
    key = stage.ask("session/new", {"cwd": "/work"})
    stage.reply("session/new", {"sessionId": "over"})
    assert stage.error(key).data == {"reason": "too_many_sessions"}
    stage.ask("session/close", {"sessionId": "s1"})
    stage.new("over")
    assert len(stage.adapter.sessions) == SESSIONS_KEPT
    assert "s1" not in stage.adapter.sessions


def test_a_fork_has_the_past_of_its_source() -> None:
    stage = Stage()
    stage.start({})
    stage.new()
    stage.prompt("so far")
    stage.end()
    stage.updates()
    key = stage.ask("session/fork", {"sessionId": "s1", "cwd": "/work"})
    stage.reply("session/fork", {"sessionId": "s2"})
    assert stage.answer(key) == {"sessionId": "s2"}
    resume(stage, "s2", replayFrom=START)
    assert stage.said() == ["user_message", "idle"]
    key = stage.ask("session/fork", {"sessionId": "nope", "cwd": "/work"})
    stage.fail("session/fork", -32602, "Unknown session nope")
    assert stage.error(key).data == {"sessionId": "nope"}


# ---- resuming


@pytest.mark.rule("V2-SESS-10", "V2-SESS-11")
def test_the_past_is_loaded_and_told_with_ids_before_the_state_and_the_answer() -> None:
    stage = Stage()
    stage.start()
    key = resume(stage, replayFrom=START)
    assert stage.opened("session/load").params == {
        "sessionId": "s1",
        "cwd": "/work",
        "mcpServers": [],
    }
    stage.ask("session/resume", {"sessionId": "s1", "cwd": "/work", "replayFrom": START})
    stage.update(chunk("do it", "user_message_chunk"))
    stage.update(tool(title="Did", status="completed"))
    stage.update(chunk("done"))
    stage.update(COMMANDS)
    assert stage.said() == [
        "user_message",
        "tool t1 completed",
        "agent_message",
        "agent_message done",
        "available_commands_update",
    ]
    assert key not in stage.answers
    stage.reply("session/load", {})
    assert stage.said() == ["idle"]
    assert stage.adapter.wake_at is None
    stage.prompt()


@pytest.mark.rule("V2-SESS-09", "V2-SESS-11")
def test_a_session_is_resumed_without_its_past() -> None:
    stage = Stage()
    stage.start()
    key = resume(stage, additionalDirectories=["/more"])
    modes = {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}]}
    stage.reply("session/resume", {"modes": modes})
    stage.wait(ANSWERED_AFTER)
    assert stage.said() == ["idle"]
    assert stage.answer(key)["configOptions"][0]["currentValue"] == "a"
    stage.prompt()
    stage.end()


def test_where_the_agent_can_only_load_the_past_is_left_out() -> None:
    stage = Stage()
    stage.start({"loadSession": True})
    key = resume(stage)
    for update in (chunk("old", "user_message_chunk"), tool(title="Old"), COMMANDS):
        stage.update(update)
    stage.reply("session/load", {})
    assert stage.said() == ["available_commands_update", "idle"]
    assert stage.answer(key) == {"availableCommands": []}
    stage.update(chunk("new"))
    assert stage.said() == ["running", "agent_message new"]


@pytest.mark.rule("V2-SESS-12")
@pytest.mark.parametrize("cursor", [{"type": "_x"}, {"type": "end"}])
def test_an_unknown_cursor_is_refused(cursor: Any) -> None:
    stage = Stage()
    stage.start()
    assert stage.error(resume(stage, replayFrom=cursor)).code == INVALID_PARAMS


@pytest.mark.rule("V2-SESS-05")
@pytest.mark.parametrize("more", [{}, {"replayFrom": START}])
def test_a_session_that_nobody_can_open_is_not_found(more: Any) -> None:
    stage = Stage()
    stage.start({})
    error = stage.error(resume(stage, "nope", **more))
    assert (error.code, error.data) == (RESOURCE_NOT_FOUND, {"sessionId": "nope"})


def test_a_past_that_nobody_knows_is_not_made_up() -> None:
    stage = Stage()
    stage.start({"sessionCapabilities": {"resume": {}}})
    assert stage.error(resume(stage, replayFrom=START)).code == INVALID_PARAMS


def test_a_failed_load_leaves_nothing_behind() -> None:
    stage = Stage()
    stage.start()
    key = resume(stage, "nope", replayFrom=START)
    stage.fail("session/load", -32602, "Session not found: nope")
    error = stage.error(key)
    assert (error.code, error.data) == (RESOURCE_NOT_FOUND, {"sessionId": "nope"})
    assert stage.error(stage.prompt(session_id="nope")).code == RESOURCE_NOT_FOUND


def test_a_session_that_fails_to_load_again_stays_open() -> None:
    stage = Stage()
    stage.start()
    stage.new()
    resume(stage, replayFrom=START)
    stage.fail("session/load", -32603, "busy")
    stage.prompt()
    stage.end()
    assert stage.said() == ["user_message", "running", "idle end_turn"]


def test_an_open_session_of_an_agent_that_can_nothing_is_resumed_from_the_table() -> None:
    """Lossy point 12: only the adapter's own memory."""
    stage = Stage()
    stage.start({})
    modes = {"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}]}
    stage.new(modes=modes)
    stage.update(COMMANDS)
    stage.prompt("first")
    stage.update(chunk("yes"))
    permission(stage)
    stage.update({"sessionUpdate": "notice", "severity": "info", "title": "psst"})
    stage.updates()
    key = resume(stage, replayFrom=START)
    assert stage.said() == [
        "user_message",
        "agent_message",
        "agent_message yes",
        "tool t1 None",
        "requires_action",
    ]
    assert set(stage.answer(key)) == {"configOptions", "availableCommands"}
    stage.new("plain")
    assert stage.answer(resume(stage, "plain")) == {}


def test_a_session_that_was_closed_inside_is_resumed_with_its_own_log() -> None:
    stage = Stage()
    stage.start({"sessionCapabilities": {"resume": {}, "close": {}}})
    stage.new()
    stage.prompt("first")
    stage.end()
    stage.ask("session/close", {"sessionId": "s1"})
    stage.reply("session/close")
    stage.updates()
    key = resume(stage, replayFrom=START)
    stage.reply("session/resume")
    stage.wait(ANSWERED_AFTER)
    assert stage.said() == ["user_message", "idle"]
    assert stage.answer(key) == {}


def test_a_busy_session_is_resumed_without_asking_the_agent() -> None:
    stage = Stage()
    stage.working()
    resume(stage)
    assert stage.said() == ["running"]


def test_the_log_has_a_bound_and_loses_its_beginning() -> None:
    stage = Stage()
    stage.start({})
    stage.new()
    text = "x" * 1000
    for _ in range(LOG_BYTES_MAX // 1000 + 10):
        stage.update(chunk(text))
    stage.updates()
    resume(stage, replayFrom=START)
    said = stage.said()
    assert LOG_BYTES_MAX // 1000 - 200 < len(said) < LOG_BYTES_MAX // 1000


# ---- lists


@pytest.mark.rule("V2-SESS-19")
def test_the_list_is_the_agents_own_where_it_has_one() -> None:
    stage = Stage()
    stage.start()
    key = stage.ask("session/list", {"cwd": "/work"})
    session = {"sessionId": "s1", "cwd": "/work", "updatedAt": "2026-02-04 10:00"}
    stage.reply("session/list", {"sessions": [session], "nextCursor": None})
    (info,) = stage.answer(key)["sessions"]
    assert info["updatedAt"] == "2026-02-04T10:00:00Z"
    key = stage.ask("session/list", {})
    stage.fail("session/list", -32602, "bad cursor")
    assert stage.error(key).code == -32602


@pytest.mark.rule("V2-SESS-19")
def test_an_agent_without_a_list_has_the_sessions_of_this_connection() -> None:
    """Lossy point 12."""
    stage = Stage()
    stage.start({})
    stage.new("s1")
    key = stage.ask("session/new", {"cwd": "/else", "additionalDirectories": ["/more"]})
    stage.reply("session/new", {"sessionId": "s2"})
    stage.update({"sessionUpdate": "session_info_update", "title": "Mine"})
    both = stage.answer(stage.ask("session/list", {}))["sessions"]
    stamp = "2026-02-04T10:00:00Z"
    assert both == [
        {"sessionId": "s2", "cwd": "/else", "additionalDirectories": ["/more"], "updatedAt": stamp},
        {"sessionId": "s1", "cwd": "/work", "title": "Mine", "updatedAt": stamp},
    ]
    one = stage.answer(stage.ask("session/list", {"cwd": "/else"}))["sessions"]
    assert one == both[:1]
    assert stage.error(stage.ask("session/list", {"cursor": ""})).code == INVALID_PARAMS
    assert key in stage.answers
