"""Opening, listing and ending sessions, and the MCP servers they bring."""

from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT, Failure, Notification, Result
from accord.translate.v2_agent import sessions as core_module
from tests.translate.v2_agent.scripted_peers import CWD, SESSION, World, X, started

COMMANDS = [
    {
        "type": "command",
        "name": "go",
        "description": "d",
        "input": {"type": "text", "hint": "where"},
    }
]
CHUNK = {
    "sessionUpdate": "agent_message_chunk",
    "messageId": "a",
    "content": {"type": "text", "text": "x"},
}


def _world(**options: Any) -> World:
    world = World(**options)
    world.initialize()
    return world


def test_commands_of_the_answer_follow_it_as_an_update() -> None:
    """translate 4: v1 has no field for them."""
    world = _world()
    result = world.new({"availableCommands": COMMANDS})
    assert result == {"sessionId": SESSION}
    assert isinstance(world.client[-2], Result)
    assert world.updates() == [
        {
            "sessionUpdate": "available_commands_update",
            "availableCommands": [{"name": "go", "description": "d", "input": {"hint": "where"}}],
        }
    ]


def test_a_session_is_loaded_by_resuming_it_from_the_start() -> None:
    """translate 4: the past is told, the closing state is not, then comes the answer."""
    world = started()
    world.update(CHUNK)
    key = world.ask(CLIENT, "session/load", {"sessionId": SESSION, "cwd": CWD, "mcpServers": []})
    request = world.last(AGENT)
    assert request.method == "session/resume"
    assert request.params["replayFrom"] == {"type": "start"}
    user = {
        "sessionUpdate": "user_message",
        "messageId": "u",
        "content": [{"type": "text", "text": "q"}],
    }
    assert world.update(user) == [
        {
            "sessionUpdate": "user_message_chunk",
            "messageId": "u",
            "content": {"type": "text", "text": "q"},
        }
    ]
    whole = {
        "sessionUpdate": "agent_message",
        "messageId": "a",
        "content": [{"type": "text", "text": "x"}],
    }
    assert world.update(whole) == [CHUNK]
    assert world.idle() == []
    world.answer(AGENT, request.key, {"availableCommands": []})
    assert world.answer_to(key) == Result(key, {})
    assert world.updates()[-1] == {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [],
    }


def test_a_session_is_resumed_without_its_past() -> None:
    """translate 4: the state is remembered and not told."""
    world = _world()
    key = world.ask(CLIENT, "session/resume", {"sessionId": SESSION, "cwd": CWD})
    request = world.last(AGENT)
    assert "replayFrom" not in request.params
    assert world.update({"sessionUpdate": "state_update", "state": "running"}) == []
    world.answer(AGENT, request.key, {})
    assert world.answer_to(key) == Result(key, {})


def test_a_refused_opening_is_refused() -> None:
    """translate 4: copied."""
    world = _world()
    for method in ("session/load", "session/resume"):
        key = world.ask(CLIENT, method, {"sessionId": "z", "cwd": CWD, "mcpServers": []})
        world.fail(AGENT, world.last(AGENT).key, -32002, {"sessionId": "z"})
        assert world.answer_to(key) == Failure(key, -32002, "no", {"sessionId": "z"})
    key = world.ask(CLIENT, "session/new", {"cwd": CWD, "mcpServers": []})
    world.fail(AGENT, world.last(AGENT).key, -32000)
    assert world.answer_to(key).code == -32000


def test_updates_that_come_before_the_answer_follow_it() -> None:
    """Ours: a v1 client cannot know the session before."""
    world = _world()
    key = world.ask(CLIENT, "session/new", {"cwd": CWD, "mcpServers": []})
    assert world.update(CHUNK) == []
    world.answer(AGENT, world.last(AGENT).key, {"sessionId": SESSION})
    assert world.answer_to(key) is world.client[-2]
    assert world.updates() == [CHUNK]


def test_of_too_many_early_updates_the_oldest_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: bounded and counted."""
    monkeypatch.setattr(core_module, "EARLY_KEPT", 1)
    world = _world()
    world.ask(CLIENT, "session/new", {"cwd": CWD, "mcpServers": []})
    for _ in range(3):
        world.update(CHUNK)
    world.answer(AGENT, world.last(AGENT).key, {"sessionId": SESSION})
    assert len(world.updates()) == 1
    assert world.losses == {"early update": 2}


def test_closing_answers_the_open_prompts_first() -> None:
    """translate 4: `cancelled`, then the answer to the close."""
    world = started()
    first, second = world.prompt(), world.prompt()
    world.update({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "T"})
    closing = world.ask(CLIENT, "session/close", {"sessionId": SESSION})
    assert world.answer_to(first) is None
    world.answer(AGENT, world.last(AGENT).key, {})
    assert world.client[-3:] == [
        Result(first, {"stopReason": "cancelled"}),
        Result(second, {"stopReason": "cancelled"}),
        Result(closing, {}),
    ]
    assert not world.open
    assert world.idle("cancelled") == []


def test_a_prompt_that_is_answered_after_its_session_was_closed_changes_nothing() -> None:
    """V2: held prompts get -32800, and that need not come before the close's answer."""
    world = started()
    key = world.ask(
        CLIENT,
        "session/prompt",
        {"sessionId": SESSION, "prompt": [{"type": "text", "text": "q"}]},
    )
    prompt = world.last(AGENT)
    world.ask(CLIENT, "session/close", {"sessionId": SESSION})
    world.answer(AGENT, world.last(AGENT).key, {})
    assert world.answer_to(key).result["stopReason"] == "cancelled"
    assert world.fail(AGENT, prompt.key, -32800) == []


def test_a_close_that_fails_leaves_the_prompt_open() -> None:
    """Ours: nothing has ended."""
    world = started()
    key = world.prompt()
    closing = world.ask(CLIENT, "session/close", {"sessionId": SESSION})
    world.fail(AGENT, world.last(AGENT).key, -32603)
    assert world.answer_to(closing).code == -32603
    assert world.answer_to(key) is None
    unknown = world.ask(CLIENT, "session/delete", {"sessionId": "z"})
    world.answer(AGENT, world.last(AGENT).key, {})
    assert world.answer_to(unknown) == Result(unknown, {})


def test_the_list_of_sessions_is_the_same() -> None:
    """translate 4: copied, with the times as a v1 agent said them."""
    world = _world()
    key = world.ask(CLIENT, "session/list", {"cwd": CWD, "cursor": ""})
    assert world.last(AGENT).params == {"cwd": CWD, "cursor": ""}
    info = {"sessionId": "s", "cwd": CWD, "updatedAt": "2026-01-01T00:00:00Z"}
    odd = {**info, "_meta": {X: {"updatedAt": "yesterday"}}}
    world.answer(AGENT, world.last(AGENT).key, {"sessions": [info, odd], "nextCursor": ""})
    assert world.answer_to(key).result == {
        "sessions": [info, {**info, "updatedAt": "yesterday"}],
        "nextCursor": "",
    }
    key = world.ask(CLIENT, "session/list", {})
    world.fail(AGENT, world.last(AGENT).key, -32603)
    assert world.answer_to(key).code == -32603


def test_the_state_of_a_session_is_kept_beside_its_status() -> None:
    """translate 4: v1 has no field for it."""
    world = _world(unstable=True)
    for state, kept in (({"state": {"state": "idle"}}, {X: {"state": {"state": "idle"}}}), ({}, 0)):
        key = world.ask(CLIENT, "session/status", {"sessionId": SESSION})
        world.answer(AGENT, world.last(AGENT).key, {"status": "open", **state})
        expected = {"status": "open", **({"_meta": kept} if kept else {})}
        assert world.answer_to(key) == Result(key, expected)


def test_a_fork_is_opened_like_a_new_session() -> None:
    """translate 4."""
    world = _world(unstable=True)
    key = world.ask(CLIENT, "session/fork", {"sessionId": "o", "cwd": CWD})
    world.answer(
        AGENT, world.last(AGENT).key, {"sessionId": SESSION, "availableCommands": COMMANDS}
    )
    assert world.answer_to(key).result == {"sessionId": SESSION}
    assert len(world.updates()) == 1


def test_a_system_prompt_is_passed_with_its_blocks() -> None:
    """translate 4."""
    world = _world(unstable=True)
    icons = [{"src": "data:,"}]
    link = {"type": "resource_link", "name": "n", "uri": "file:///a"}
    kept = {**link, "_meta": {X: {"icons": icons}}}
    world.ask(
        CLIENT,
        "session/new",
        {
            "cwd": CWD,
            "mcpServers": [],
            "systemPrompt": {"mode": "append", "content": [kept]},
        },
    )
    assert world.last(AGENT).params["systemPrompt"]["content"] == [{**link, "icons": icons}]


def _servers(agent: dict[str, Any], *servers: dict[str, Any]) -> Any:
    world = World(unstable=True, programs={"npx": "/usr/bin/npx", "odd": "./odd"})
    world.initialize(agent={"session": {"mcp": agent}})
    key = world.ask(CLIENT, "session/new", {"cwd": CWD, "mcpServers": list(servers)})
    answer = world.answer_to(key)
    return world.last(AGENT).params["mcpServers"] if answer is None else answer


def test_servers_have_a_type_in_v2() -> None:
    """translate 4: stdio has none in v1."""
    stdio = {"name": "a", "command": "/bin/a", "args": [], "env": []}
    http = {"type": "http", "name": "b", "url": "http://b", "headers": []}
    acp = {"type": "acp", "name": "c", "serverId": "c"}
    offer: dict[str, Any] = {"stdio": {}, "http": {}, "acp": {}}
    assert _servers(offer, stdio, http, acp) == [{"type": "stdio", **stdio}, http, acp]


@pytest.mark.parametrize(
    "server",
    [
        {"type": "sse", "name": "a", "url": "http://a", "headers": []},
        {"type": "http", "name": "a", "url": "http://a", "headers": []},
        {"name": "a", "command": "nowhere", "args": [], "env": []},
        {"name": "a", "command": "odd", "args": [], "env": []},
    ],
)
def test_servers_that_v2_or_the_agent_cannot_have_are_refused(server: dict[str, Any]) -> None:
    """translate 4: `sse` is gone, the agent must offer the transport, a command is absolute."""
    assert _servers({"stdio": {}}, server).code == -32602


def test_a_program_without_a_path_is_looked_for() -> None:
    """v2 wants a path; clients of v1 send `npx` every day."""
    npx = {"name": "a", "command": "npx", "args": ["-y", "x"], "env": []}
    assert _servers({"stdio": {}}, npx) == [{"type": "stdio", **npx, "command": "/usr/bin/npx"}]


@pytest.mark.rule("V1-MCP-06")
def test_a_program_without_a_path_is_warned_about() -> None:
    """Rule: a relative command is refused, or resolved with a warning."""
    world = World(programs={"npx": "/usr/bin/npx"})
    world.initialize(agent={"session": {"mcp": {"stdio": {}}}})
    npx = {"name": "a", "command": "npx", "args": [], "env": []}
    world.ask(CLIENT, "session/new", {"cwd": CWD, "mcpServers": [npx]})
    assert world.warnings == ["the command 'npx' of MCP server 'a' is not absolute"]


def test_stdio_servers_are_refused_where_the_agent_has_none() -> None:
    """translate 2: v1 cannot say so."""
    stdio = {"name": "a", "command": "/bin/a", "args": [], "env": []}
    assert _servers({"http": {}}, stdio).code == -32602


def test_of_sessions_that_rest_only_so_many_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: memory is bounded; a session with an open prompt is never forgotten."""
    monkeypatch.setattr(core_module, "SESSIONS_KEPT", 2)
    world = started()
    key = world.prompt()
    for name in ("a", "b", "c"):
        world.ask(CLIENT, "session/resume", {"sessionId": name, "cwd": CWD})
        world.answer(AGENT, world.last(AGENT).key, {})
    world.idle()
    assert world.answer_to(key).result == {"stopReason": "end_turn"}
    monkeypatch.setattr(core_module, "SESSIONS_KEPT", 1)
    world = started()
    key = world.prompt()
    world.ask(CLIENT, "session/resume", {"sessionId": "a", "cwd": CWD})
    world.idle()
    assert world.answer_to(key).result == {"stopReason": "end_turn"}


def test_cancel_for_a_session_that_is_not_known_is_passed_on() -> None:
    """translate 6: the agent may know it."""
    world = _world()
    world.tell(CLIENT, "session/cancel", {"sessionId": "z"})
    assert world.agent[-1] == Notification("session/cancel", {"sessionId": "z"})


def test_updates_of_child_sessions_are_dropped_for_clients_that_know_none() -> None:
    """translate 9: only with `subagents`."""
    world = started()
    world.update({"sessionUpdate": "subagent_update", "sessionId": "child"})
    outs = world.tell(AGENT, "session/update", {"sessionId": "child", "update": CHUNK})
    assert outs == []
    assert world.losses == {"subagent": 1, "update of a child session": 1}
    outs = world.tell(AGENT, "session/update", {"sessionId": "other", "update": CHUNK})
    assert len(outs) == 1
