"""Files and terminals of this machine for a v1 agent (the translation's table 10)."""

from typing import Any

import pytest

from accord.jsonrpc.error_codes import INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND
from accord.translate.message import AGENT, HOST, Notification
from tests.translate.v1_agent.agent_messages import tool
from tests.translate.v1_agent.scripted_peers import Stage

BOTH = frozenset({"fs", "terminal"})
SESSION = {"sessionId": "s1"}
TERMINAL = {**SESSION, "terminalId": "x1"}


def created(**more: Any) -> Stage:
    """A turn with one terminal, which the client has been told of."""
    stage = Stage(host=BOTH)
    stage.working()
    key = stage.ask("terminal/create", {**SESSION, "command": "make", **more}, AGENT)
    stage.decide("allow")
    assert stage.said() == ["requires_action", "running"]
    stage.reply("terminal/create", {"terminalId": "x1"}, HOST)
    assert stage.answer(key) == {"terminalId": "x1"}
    return stage


def test_without_a_host_there_are_no_files_and_terminals() -> None:
    stage = Stage()
    stage.working()
    for method in ("fs/read_text_file", "terminal/create"):
        assert stage.error(stage.ask(method, SESSION, AGENT)).code == METHOD_NOT_FOUND


def test_files_are_read_by_the_host_and_the_client_sees_nothing_of_it() -> None:
    stage = Stage(host=frozenset({"fs"}))
    stage.start()
    stage.new()
    prompt = stage.prompt()
    key = stage.ask("fs/read_text_file", {**SESSION, "path": "/somewhere/a"}, AGENT)
    assert stage.said() == ["user_message", "running"]
    assert "messageId" in stage.answer(prompt)
    stage.reply("fs/read_text_file", {"content": "text"}, HOST)
    assert stage.answer(key) == {"content": "text"}
    assert stage.updates() == []


def test_a_terminal_is_shown_as_one_of_the_agents_own() -> None:
    stage = created(args=["-j", "all of it"], cwd="/somewhere/sub")
    stage.tell("host/terminal_output", {"terminalId": "x1", "data": "aGk="}, HOST)
    stage.tell("host/terminal_exit", {"terminalId": "x1", "exitCode": 2, "signal": None}, HOST)
    assert stage.updates() == [
        {
            "sessionUpdate": "terminal_update",
            "terminalId": "x1",
            "command": "make -j 'all of it'",
            "cwd": "/somewhere/sub",
            "capabilities": {"cancel": {}},
        },
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "x1", "data": "aGk="},
        {
            "sessionUpdate": "terminal_update",
            "terminalId": "x1",
            "exitStatus": {"exitCode": 2},
            "capabilities": {},
        },
    ]
    stage.update(tool(title="Make", content=[{"type": "terminal", "terminalId": "x1"}]))
    (said,) = stage.updates()
    assert said["content"] == [{"type": "terminal", "terminalId": "x1"}]
    raw = {"acp.translate": {"raw": {"type": "terminal", "terminalId": "x1"}}}
    item = {"type": "content", "content": {"type": "text", "text": "x"}, "_meta": raw}
    stage.update(tool("tool_call_update", content=[item]))
    assert stage.updates()[0]["content"] == [{"type": "terminal", "terminalId": "x1"}]


def test_a_command_alone_is_shown_as_it_is_and_runs_in_the_session() -> None:
    stage = created(command="make -j")
    (said,) = stage.updates()
    assert (said["command"], said["cwd"]) == ("make -j", "/work")


def test_a_terminal_that_could_not_be_made_is_not_shown() -> None:
    stage = Stage(host=BOTH)
    stage.working()
    key = stage.ask("terminal/create", {**SESSION, "command": "nope"}, AGENT)
    stage.decide("allow")
    assert stage.said() == ["requires_action", "running"]
    stage.fail("terminal/create", -32603, "no such command", side=HOST)
    assert stage.error(key).message == "no such command"
    assert stage.updates() == []


def test_the_agent_may_look_wait_and_kill() -> None:
    stage = created()
    for method, result in (
        ("terminal/output", {"output": "hi", "truncated": False}),
        ("terminal/wait_for_exit", {"exitCode": 0}),
        ("terminal/kill", {}),
    ):
        key = stage.ask(method, TERMINAL, AGENT)
        stage.reply(method, result, HOST)
        assert stage.answer(key) == result
    waiting = stage.ask("terminal/wait_for_exit", TERMINAL, AGENT)
    inner = stage.opened("terminal/wait_for_exit", HOST)
    stage.tell("$/cancel_request", {"requestId": waiting}, AGENT)
    assert stage.to_host == [Notification("$/cancel_request", {"requestId": inner.key})]


def test_a_released_terminal_has_ended() -> None:
    stage = created()
    stage.updates()
    key = stage.ask("terminal/release", TERMINAL, AGENT)
    stage.fail("terminal/release", -32602, "what?", side=HOST)
    assert stage.error(key).code == -32602
    key = stage.ask("terminal/release", TERMINAL, AGENT)
    stage.reply("terminal/release", {}, HOST)
    assert stage.answer(key) == {}
    (said,) = stage.updates()
    assert said["exitStatus"] == {}
    stage.tell("host/terminal_output", {"terminalId": "x1", "data": ""}, HOST)
    stage.tell("host/terminal_exit", {"terminalId": "x1", "exitCode": 0, "signal": None}, HOST)
    assert stage.updates() == []


@pytest.mark.rule("V2-CANCEL-17", "V2-CANCEL-18")
def test_the_client_may_cancel_a_terminal_that_runs() -> None:
    stage = created()
    key = stage.ask("terminal/cancel", TERMINAL)
    assert stage.opened("terminal/kill", HOST).params == TERMINAL
    stage.ask("terminal/cancel", TERMINAL)
    stage.reply("terminal/kill", {}, HOST)
    assert key not in stage.answers
    for params in ({**TERMINAL, "sessionId": "other"}, {**TERMINAL, "terminalId": "other"}):
        assert stage.error(stage.ask("terminal/cancel", params)).code == INVALID_PARAMS
    stage.tell("host/terminal_exit", {"terminalId": "x1", "signal": "SIGTERM"}, HOST)
    assert stage.error(stage.ask("terminal/cancel", TERMINAL)).code == INVALID_PARAMS


def test_closing_a_session_ends_its_terminals() -> None:
    stage = created()
    stage.new("s2")
    stage.ask("session/close", SESSION)
    stage.end("cancelled")
    assert stage.updates()[-1]["exitStatus"] == {}
    assert stage.opened("terminal/release", HOST).params == TERMINAL
    stage.reply("session/close")
    for method in ("terminal/create", "terminal/output", "terminal/release"):
        key = stage.ask(method, {**TERMINAL, "command": "make"}, AGENT)
        assert stage.error(key).code == RESOURCE_NOT_FOUND


def test_what_the_host_says_to_an_ending_is_not_asked_for() -> None:
    stage = created()
    stage.ask("session/close", SESSION)
    stage.end("cancelled")
    stage.reply("terminal/release", {}, HOST)
    assert not stage.to_host
