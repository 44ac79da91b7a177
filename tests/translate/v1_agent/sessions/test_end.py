"""How sessions end, and what else is asked about them (the translation's table 4)."""

import pytest

from accord.jsonrpc.error_codes import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    RESOURCE_NOT_FOUND,
)
from accord.translate.v1_agent.sessions.end import CLOSING_SECONDS
from tests.translate.v1_agent.agent_messages import chunk, permission
from tests.translate.v1_agent.scripted_peers import Stage

CLOSE = {"sessionId": "s1"}


@pytest.mark.rule("V2-SESS-15", "V2-SESS-16", "V2-SESS-17")
def test_closing_waits_for_the_turn_to_end_and_then_asks_the_agent() -> None:
    stage = Stage()
    stage.working()
    held = stage.prompt("later")
    asked = permission(stage)
    stage.updates()
    key = stage.ask("session/close", CLOSE)
    again = stage.ask("session/close", CLOSE)
    assert stage.error(held).code == REQUEST_CANCELLED
    assert stage.answer(asked) == {"outcome": {"outcome": "cancelled"}}
    assert stage.told_agent("session/cancel") == [CLOSE]
    assert stage.error(stage.prompt()).code == RESOURCE_NOT_FOUND
    assert (
        stage.error(stage.ask("session/resume", {**CLOSE, "cwd": "/"})).code == RESOURCE_NOT_FOUND
    )
    late = permission(stage)
    assert stage.answer(late) == {"outcome": {"outcome": "cancelled"}}
    stage.end("cancelled")
    assert stage.said() == ["tool t1 cancelled", "idle cancelled"]
    assert key not in stage.answers
    stage.reply("session/close", {"_meta": {"a": 1}})
    assert stage.answer(key) == stage.answer(again) == {"_meta": {"a": 1}}
    stage.update(chunk("late"))
    assert stage.updates() == []
    assert stage.error(stage.prompt()).code == RESOURCE_NOT_FOUND
    assert stage.adapter.wake_at is None


def test_an_agent_without_close_is_cancelled_and_its_session_can_be_resumed() -> None:
    stage = Stage()
    stage.working(agent={})
    key = stage.ask("session/close", CLOSE)
    stage.end("cancelled")
    assert stage.answer(key) == {}
    assert stage.answer(stage.ask("session/close", CLOSE)) == {}
    late = permission(stage)
    assert stage.answer(late) == {"outcome": {"outcome": "cancelled"}}
    stage.updates()
    resumed = stage.ask("session/resume", {**CLOSE, "cwd": "/work"})
    assert stage.answer(resumed) == {}
    stage.prompt()
    stage.end()
    assert stage.said() == ["idle", "user_message", "running", "idle end_turn"]


def test_an_agent_that_does_not_answer_is_not_waited_for_forever() -> None:
    stage = Stage()
    stage.working()
    key = stage.ask("session/close", CLOSE)
    stage.wait(CLOSING_SECONDS)
    assert stage.said() == ["idle cancelled"]
    stage.reply("session/close")
    assert stage.answer(key) == {}
    stage.end("cancelled")
    assert stage.updates() == []


def test_closing_a_session_that_works_on_its_own_ends_that() -> None:
    stage = Stage()
    stage.start({})
    stage.new()
    stage.update(chunk("hm"))
    key = stage.ask("session/close", CLOSE)
    assert stage.said() == ["running", "agent_message hm", "idle cancelled"]
    assert stage.answer(key) == {}


def test_a_prompt_that_is_not_inserted_yet_is_inserted_by_closing() -> None:
    stage = Stage()
    stage.start()
    stage.new()
    prompt = stage.prompt()
    stage.ask("session/close", CLOSE)
    stage.end("cancelled")
    assert "messageId" in stage.answer(prompt)
    assert stage.said() == ["user_message", "running", "idle cancelled"]


@pytest.mark.rule("V2-SESS-18")
def test_closing_what_is_not_open_succeeds() -> None:
    stage = Stage()
    stage.start({})
    assert stage.answer(stage.ask("session/close", CLOSE)) == {}
    stage = Stage()
    stage.start()
    key = stage.ask("session/close", CLOSE)
    stage.fail("session/close", -32603, "session not found")
    assert stage.answer(key) == {}
    key = stage.ask("session/close", CLOSE)
    stage.fail("session/close", -32603, "disk full")
    assert stage.error(key).message == "disk full"
    stage.new()
    for code in (RESOURCE_NOT_FOUND, None):
        key = stage.ask("session/close", CLOSE)
        if code is not None:
            stage.fail("session/close", code, "unknown")
        assert stage.answer(key) == {}


def test_a_session_that_the_agent_cannot_close_stays_open() -> None:
    stage = Stage()
    stage.start()
    stage.new()
    key = stage.ask("session/close", CLOSE)
    stage.fail("session/close", -32603, "busy")
    assert stage.error(key).code == -32603
    stage.prompt()
    stage.end()
    assert stage.said()[-1] == "idle end_turn"


def test_a_closed_session_that_nobody_can_open_again_is_forgotten() -> None:
    stage = Stage()
    stage.start({"sessionCapabilities": {"close": {}}})
    stage.new()
    stage.ask("session/close", CLOSE)
    stage.reply("session/close")
    assert stage.adapter.sessions == {}
    assert stage.answer(stage.ask("session/list", {})) == {"sessions": []}


@pytest.mark.parametrize("method", ["session/delete", "session/archive"])
def test_a_session_that_is_deleted_or_archived_is_not_open_any_more(method: str) -> None:
    stage = Stage()
    stage.start()
    stage.new()
    key = stage.ask(method, CLOSE)
    stage.fail(method, METHOD_NOT_FOUND, "no such method")
    assert stage.error(key).code == METHOD_NOT_FOUND
    stage.prompt()
    key = stage.ask(method, CLOSE)
    stage.reply(method)
    assert stage.answer(key) == {}
    stage.end()
    key = stage.ask(method, CLOSE)
    stage.reply(method)
    assert stage.error(stage.prompt()).code == RESOURCE_NOT_FOUND


def test_the_status_of_an_open_session_has_its_state() -> None:
    stage = Stage()
    stage.working()
    key = stage.ask("session/status", CLOSE)
    stage.reply("session/status", {"status": "open"})
    assert stage.answer(key) == {"status": "open", "state": {"state": "running"}}
    key = stage.ask("session/status", {"sessionId": "other"})
    stage.reply("session/status", {"status": "saved"})
    assert stage.answer(key) == {"status": "saved"}
    key = stage.ask("session/status", {"sessionId": "nope"})
    stage.fail("session/status", RESOURCE_NOT_FOUND, "what?")
    assert stage.error(key).data == {"sessionId": "nope"}


def test_a_title_is_what_the_agent_made_of_it() -> None:
    stage = Stage()
    stage.start({})
    stage.new()
    for session_id in ("s1", "other"):
        key = stage.ask("session/set_title", {"sessionId": session_id, "title": " Mine "})
        stage.reply("session/set_title", {"title": "Mine"})
        assert stage.answer(key) == {"title": "Mine"}
    assert stage.answer(stage.ask("session/list", {}))["sessions"][0]["title"] == "Mine"
    key = stage.ask("session/set_title", {"sessionId": "s1", "title": ""})
    stage.fail("session/set_title", INVALID_PARAMS, "empty")
    assert stage.error(key).code == INVALID_PARAMS


@pytest.mark.parametrize("method", ["session/unarchive", "providers/list"])
def test_what_is_alike_in_both_versions_is_passed_on(method: str) -> None:
    stage = Stage(check=False)
    stage.start()
    key = stage.ask(method, {"sessionId": "s1"})
    stage.reply(method, {"a": 1})
    assert stage.answer(key) == {"a": 1}
    key = stage.ask(method, {"sessionId": "s1"})
    stage.fail(method, RESOURCE_NOT_FOUND, "", {"more": 1})
    error = stage.error(key)
    assert (error.message, error.data) == ("Resource not found", {"more": 1, "sessionId": "s1"})


@pytest.mark.parametrize(
    ("code", "message", "data", "expected"),
    [
        (-32000, "unknown session", None, (-32000, None)),
        (-32002, "no file", {"uri": "file:///x"}, (-32002, {"uri": "file:///x"})),
        (-32603, "Session not found", {"sessionId": "x"}, (-32002, {"sessionId": "x"})),
        (-32603, "broken", None, (-32603, None)),
        (-32602, "No such session", "text", (-32002, {"sessionId": "s1"})),
    ],
)
def test_errors_about_sessions_have_v2s_number_and_others_keep_theirs(
    code: int, message: str, data: object, expected: tuple[int, object]
) -> None:
    stage = Stage()
    stage.start()
    key = stage.ask("session/delete", CLOSE)
    stage.fail("session/delete", code, message, data)
    assert (stage.error(key).code, stage.error(key).data) == expected


@pytest.mark.rule("V2-CANCEL-18")
def test_no_tool_call_of_a_v1_agent_can_be_cancelled_alone() -> None:
    stage = Stage()
    stage.working()
    key = stage.ask("tool_call/cancel", {"sessionId": "s1", "toolCallId": "t1"})
    assert stage.error(key).code == INVALID_PARAMS
