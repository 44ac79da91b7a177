"""Prompts, states and cancelling: a v1 turn as a v2 client sees it (the translation's table 5)."""

from typing import Any

import pytest

from accord.jsonrpc.error_codes import (
    AUTH_REQUIRED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    RESOURCE_NOT_FOUND,
)
from accord.translate.message import CLIENT
from accord.translate.v1_agent.turns import HELD_PROMPTS_MAX, INSERTED_AFTER
from tests.translate.v1_agent.agent_messages import SELECTED, chunk, permission, tool
from tests.translate.v1_agent.scripted_peers import Stage

X = "acp.translate"


@pytest.mark.rule("V2-PROMPT-04", "V2-PROMPT-05", "V2-PROMPT-09", "V2-PROMPT-10", "XL-02")
def test_a_whole_turn_streams_runs_a_tool_asks_and_ends() -> None:
    stage = Stage()
    stage.start()
    stage.new()
    prompt = stage.prompt("fix it")
    asked = stage.opened("session/prompt")
    assert asked.params == {"sessionId": "s1", "prompt": [{"type": "text", "text": "fix it"}]}
    stage.to_agent.append(asked)
    assert stage.updates() == []

    stage.update(chunk("I "))
    message_id = stage.answer(prompt)["messageId"]
    echo, running, first = stage.updates()
    assert echo == {
        "sessionUpdate": "user_message",
        "messageId": message_id,
        "content": [{"type": "text", "text": "fix it"}],
    }
    assert running == {"sessionUpdate": "state_update", "state": "running"}
    stage.update(chunk("will"))
    (second,) = stage.updates()
    assert first["messageId"] == second["messageId"] != message_id

    stage.update(tool(title="Edit", kind="edit", status="pending"))
    key = permission(stage)
    assert stage.said() == ["tool t1 pending", "requires_action"]
    stage.reply("session/request_permission", {"outcome": {**SELECTED}}, CLIENT)
    assert stage.answer(key) == {"outcome": SELECTED}
    stage.update(tool("tool_call_update", status="in_progress"))
    stage.update(tool("tool_call_update", status="completed"))
    stage.update(chunk("Done"))
    stage.end()
    *said, last, idle = stage.updates()
    assert [one["state"] for one in said[:1]] == ["running"]
    assert last["messageId"] not in (message_id, first["messageId"])
    assert idle == {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}
    assert stage.adapter.wake_at is None


@pytest.mark.rule("V2-PROMPT-04")
def test_a_prompt_is_inserted_soon_when_the_agent_says_nothing() -> None:
    stage = Stage()
    stage.start()
    stage.new()
    key = stage.prompt()
    assert stage.adapter.wake_at == stage.around.time + INSERTED_AFTER
    stage.wait(INSERTED_AFTER)
    assert stage.said() == ["user_message", "running"]
    assert "messageId" in stage.answer(key)
    assert stage.adapter.wake() == []


@pytest.mark.rule("V2-PROMPT-07", "V2-PROMPT-19")
def test_an_immediate_refusal_is_the_prompts_own_error_and_shows_nothing() -> None:
    stage = Stage()
    stage.start()
    stage.new()
    key = stage.prompt()
    stage.fail("session/prompt", AUTH_REQUIRED, "log in", {"reason": "auth_required"})
    error = stage.error(key)
    assert (error.code, error.data) == (AUTH_REQUIRED, {"reason": "auth_required"})
    assert stage.updates() == []
    assert stage.adapter.wake_at is None
    stage.prompt()
    stage.end()
    assert stage.said() == ["user_message", "running", "idle end_turn"]


@pytest.mark.rule("V2-PROMPT-06", "V2-PROMPT-18", "V2-PROMPT-19")
def test_an_error_after_insertion_ends_the_work_and_not_the_prompt() -> None:
    stage = Stage()
    key = stage.working()
    stage.fail("session/prompt", -32001, "the model is gone", {"why": 1})
    (idle,) = stage.updates()
    assert idle["stopReason"] == "error"
    assert idle["error"] == {"code": -32001, "message": "the model is gone", "data": {"why": 1}}
    assert "messageId" in stage.answer(key)


def test_an_error_without_data_has_none() -> None:
    stage = Stage()
    stage.working()
    stage.fail("session/prompt", -32603, "gone")
    assert stage.updates()[0]["error"] == {"code": -32603, "message": "gone"}


@pytest.mark.rule("V2-PROMPT-20")
def test_prompts_wait_for_the_turn_before_them_in_their_order() -> None:
    stage = Stage()
    first = stage.working()
    second, third = stage.prompt("two"), stage.prompt("three")
    assert second not in stage.answers
    stage.end()
    asked = stage.opened("session/prompt")
    assert asked.params["prompt"][0]["text"] == "two"
    stage.to_agent.append(asked)
    stage.wait(1)
    assert stage.said() == ["idle end_turn", "user_message", "running"]
    assert stage.answer(second)["messageId"] != stage.answer(first)["messageId"]
    stage.fail("session/prompt", -32603, "no")
    stage.fail("session/prompt", -32602, "bad")
    assert stage.error(third).code == -32602


@pytest.mark.rule("LIM-04")
def test_only_so_many_prompts_wait() -> None:
    stage = Stage()
    stage.working()
    held = [stage.prompt(str(count)) for count in range(HELD_PROMPTS_MAX)]
    over = stage.prompt("too many")
    assert stage.error(over).code == INVALID_REQUEST
    assert not any(key in stage.answers for key in held)


@pytest.mark.rule("V2-PROMPT-02", "V2-PROMPT-03")
def test_a_prompt_of_nothing_or_of_unknown_blocks_is_refused() -> None:
    stage = Stage()
    stage.start()
    stage.new()
    for blocks in ([], [{"type": "_x"}]):
        key = stage.ask("session/prompt", {"sessionId": "s1", "prompt": blocks})
        assert stage.error(key).code == INVALID_PARAMS
    assert stage.to_agent == []


@pytest.mark.rule("V2-SESS-05")
def test_a_prompt_for_a_session_that_is_not_open_names_it() -> None:
    stage = Stage()
    stage.start()
    error = stage.error(stage.prompt(session_id="nope"))
    assert (error.code, error.data) == (RESOURCE_NOT_FOUND, {"sessionId": "nope"})


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (
            {"type": "resource_link", "name": "a", "uri": "u", "icons": [{"src": "s"}]},
            {"name": "a", "uri": "u", "_meta": {X: {"icons": [{"src": "s"}]}}},
        ),
        (
            {"type": "resource_link", "name": "a", "uri": "u", "size": 2**63},
            {"name": "a", "uri": "u", "_meta": {X: {"size": 2**63}}},
        ),
        (
            {"type": "resource_link", "name": "a", "uri": "u", "_meta": {X: {"size": -1}}},
            {"name": "a", "uri": "u", "size": -1},
        ),
        (
            {"type": "resource_link", "name": "a", "uri": "u", "size": 3},
            {"name": "a", "uri": "u", "size": 3},
        ),
        (
            {"type": "text", "text": "a", "annotations": {"audience": ["user", "_x"]}},
            {
                "text": "a",
                "annotations": {"audience": ["user"], "_meta": {X: {"audience": ["user", "_x"]}}},
            },
        ),
        (
            {
                "type": "text",
                "text": "a",
                "annotations": {"priority": 1, "_meta": {X: {"priority": 5}}},
            },
            {"text": "a", "annotations": {"priority": 5}},
        ),
        (
            {"type": "text", "text": "a", "annotations": {"audience": ["user"]}},
            {"text": "a", "annotations": {"audience": ["user"]}},
        ),
        ({"type": "text", "text": "a", "annotations": None}, {"text": "a", "annotations": None}),
    ],
)
def test_blocks_of_a_prompt_say_only_what_v1_has(block: Any, expected: Any) -> None:
    """Lossy point 13: icons; the client's own echo has them."""
    stage = Stage()
    stage.start()
    stage.new()
    stage.ask("session/prompt", {"sessionId": "s1", "prompt": [block]})
    assert stage.opened("session/prompt").params["prompt"] == [{"type": block["type"], **expected}]
    stage.wait(1)
    assert stage.updates()[0]["content"] == [block]


def test_in_strict_mode_a_prompt_that_loses_something_is_refused() -> None:
    stage = Stage(strict=True)
    stage.start()
    stage.new()
    link = {"type": "resource_link", "name": "a", "uri": "u", "icons": []}
    key = stage.ask("session/prompt", {"sessionId": "s1", "prompt": [link]})
    assert stage.error(key).data == {"loss": "icons"}
    assert stage.to_agent == []


def test_an_agent_that_echoes_its_prompt_is_not_heard_twice() -> None:
    """The translation's table 5: equal chunks are dropped, also when they come in pieces."""
    stage = Stage()
    stage.start()
    stage.new()
    link = {"type": "resource_link", "name": "a", "uri": "file:///a"}
    blocks = [{"type": "text", "text": "look at"}, link]
    stage.ask("session/prompt", {"sessionId": "s1", "prompt": blocks})
    stage.update(chunk("look", "user_message_chunk"))
    stage.update(chunk(" at", "user_message_chunk"))
    stage.update({"sessionUpdate": "user_message_chunk", "content": link})
    assert stage.said() == ["user_message", "running"]
    stage.update(chunk("more", "user_message_chunk"))
    assert stage.said() == ["user_message more"]


def test_what_the_user_did_not_say_is_no_echo() -> None:
    stage = Stage()
    stage.working()
    stage.update(chunk("something else", "user_message_chunk"))
    stage.update(chunk("hello", "user_message_chunk"))
    assert stage.said() == ["user_message something else", "user_message hello"]


def test_usage_at_the_end_says_that_it_counts_the_session() -> None:
    stage = Stage()
    stage.working()
    usage = {"totalTokens": 3, "inputTokens": 2, "outputTokens": 1}
    stage.end(usage=usage, _meta={"own": 1})
    (idle,) = stage.updates()
    assert idle["usage"] == usage
    assert idle["_meta"] == {"own": 1, "acp.translate": {"scope": "session"}}


def test_a_reason_that_was_kept_comes_back() -> None:
    """What V2Agent made `end_turn` of is itself again."""
    stage = Stage()
    stage.working()
    stage.end(_meta={"acp.translate": {"stopReason": "_paused"}})
    (idle,) = stage.updates()
    assert (idle["stopReason"], "_meta" in idle) == ("_paused", False)
    stage.prompt()
    stage.end(_meta={"acp.translate": {"stopReason": None}})
    assert "stopReason" not in stage.updates()[-1]


def test_what_a_result_says_in_names_of_v2_is_kept_apart() -> None:
    stage = Stage(check=False)
    stage.working()
    stage.end(background=[1], error="x", other=2, _meta=None)
    (idle,) = stage.updates()
    assert idle == {
        "sessionUpdate": "state_update",
        "state": "idle",
        "stopReason": "end_turn",
        "other": 2,
        "_meta": {"acp.translate": {"background": [1], "error": "x"}},
    }
