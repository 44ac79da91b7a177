"""Tool calls and turns of our own v1 agent as a draft client is told of them."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.translate.draft.client.tool_calls import HOLD_SECONDS, INPUT_SECONDS_MAX
from accord.translate.draft.tool_statuses import NEXT_STATUSES
from accord.translate.message import AGENT, CLIENT, UNREADABLE, Json, Notification
from tests.translate.draft.details import call, kept, meta, patch, scene_of, tell, text, told
from tests.translate.draft.open_sessions import (
    Before,
)
from tests.translate.draft.scripted_peers import STAMP

# ---- tool calls


def test_the_input_is_waited_for() -> None:
    """Issue 15: a model announces a call before it has written its input."""
    scene = scene_of()
    call(scene, name="Look")
    assert told(scene) == []
    scene.wire.wait(INPUT_SECONDS_MAX / 2)
    patch(scene, title="Read a", locations=[{"path": "/a"}])
    patch(scene, rawInput={"path": "/a"})
    assert told(scene) == []
    patch(scene, status="in_progress")
    scene.wire.wait(HOLD_SECONDS)
    announced, begun = told(scene)
    assert announced["input"] == {"path": "/a"}
    assert announced["location"] == {"path": "/a"}
    assert "requiresPermission" not in announced
    assert begun["status"] == "in_progress"


def test_a_model_s_call_is_announced_when_the_tool_has_said_what_it_will_do() -> None:
    """Issue 15: the built-in agent counts tokens and reads a file between input and title."""
    scene = scene_of()
    call(scene, name="Look", status="pending")
    patch(scene, title="Look", name="Look", status="pending", rawInput={"path": "a"})
    tell(scene, sessionUpdate="usage_update", used=1, size=2)
    scene.wire.ask(AGENT, "fs/read_text_file", {"sessionId": "s", "path": "/a"})
    assert told(scene) == []
    diff = {"type": "diff", "path": "/a", "newText": "x\n"}
    patch(
        scene,
        title="Edit a",
        status="pending",
        rawInput={"path": "/a"},
        locations=[{"path": "/a", "line": 2}],
        content=[diff],
    )
    params = {
        "sessionId": "s",
        "toolCall": {"toolCallId": "c", "content": [diff]},
        "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
    }
    scene.wire.ask(AGENT, "session/request_permission", params)
    announced, shown, waiting = told(scene)
    assert announced["input"] == {"path": "/a"}
    assert announced["location"] == {"path": "/a", "line": 2}
    assert announced["requiresPermission"] is True
    assert shown["output"]["type"] == "diff"
    assert waiting["status"] == "awaiting_permission"


@pytest.mark.parametrize(
    ("known", "seconds"),
    [({"name": "Look"}, INPUT_SECONDS_MAX), ({"rawInput": {}}, HOLD_SECONDS), ({}, HOLD_SECONDS)],
)
def test_an_announcement_waits_only_so_long(known: Json, seconds: float) -> None:
    scene = scene_of()
    call(scene, **known)
    scene.wire.wait(seconds / 2)
    assert told(scene) == []
    scene.wire.wait(seconds / 2)
    assert [one["input"] for one in told(scene)] == [{}]


def test_what_follows_an_announcement_comes_behind_it() -> None:
    scene = scene_of()
    call(scene, rawInput={"a": 1})
    tell(scene, sessionUpdate="agent_message_chunk", content={"type": "text", "text": "x"})
    assert [one["type"] for one in scene.wire.updates(CLIENT)] == [
        "tool_call",
        "agent_message_chunk",
    ]


@pytest.mark.parametrize("known", [True, False])
def test_a_question_shows_that_permission_is_required(known: bool) -> None:
    scene = scene_of()
    diff = {"type": "diff", "path": "/a", "newText": "x\n"}
    call(scene, content=[diff], **({"rawInput": {"path": "/a"}} if known else {}))
    params = {
        "sessionId": "s",
        "toolCall": {"toolCallId": "c", "content": [diff, text("Because")]},
        "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
    }
    scene.wire.ask(AGENT, "session/request_permission", params)
    announced, shown, waiting = scene.wire.updates(CLIENT)
    assert announced["data"]["requiresPermission"] is True
    assert shown["data"]["output"]["type"] == "diff"
    assert waiting["data"]["status"] == "awaiting_permission"


def test_an_answer_that_cannot_be_read_is_no() -> None:
    scene = scene_of()
    call(scene, rawInput={})
    params = {
        "sessionId": "s",
        "toolCall": {"toolCallId": "c"},
        "options": [{"optionId": "no", "name": "No", "kind": "reject_once"}],
    }
    key = scene.wire.ask(AGENT, "session/request_permission", params)
    asked = scene.wire.request(CLIENT, "session/request_permission")
    scene.wire.fail(CLIENT, asked.key, -32603, "?", {"reason": UNREADABLE, "answer": []})
    assert scene.wire.result(AGENT, key)["outcome"]["optionId"] == "no"
    patch(scene, status="failed")
    assert told(scene)[-1]["status"] == "denied"


@pytest.mark.parametrize(("granted", "last"), [(True, "cancelled"), (False, "denied")])
def test_a_call_that_was_cancelled_has_not_failed(granted: bool, last: str) -> None:
    scene = scene_of()
    call(scene, rawInput={})
    params = {
        "sessionId": "s",
        "toolCall": {"toolCallId": "c"},
        "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
    }
    scene.wire.ask(AGENT, "session/request_permission", params)
    asked = scene.wire.request(CLIENT, "session/request_permission")
    scene.wire.answer(CLIENT, asked.key, {"granted": granted})
    scene.wire.take()
    patch(scene, status="failed", **meta(status="cancelled"))
    assert told(scene)[-1]["status"] == last


def test_how_long_a_call_took_and_why_it_failed() -> None:
    scene = scene_of()
    call(scene, rawInput={}, status="in_progress", content=[text("it broke")])
    scene.wire.wait(HOLD_SECONDS)
    scene.wire.wait(2)
    scene.wire.take()
    patch(scene, status="failed")
    (ended,) = told(scene)
    assert (ended["error"], ended["duration"]) == ("it broke", 2000)
    # Said once more, which the draft has no step for.
    patch(scene, status="failed")
    assert told(scene) == []


def test_of_a_past_nobody_knows_how_long_it_took_or_when() -> None:
    scene = scene_of()
    scene.wire.ask(CLIENT, "session/load", {"sessionId": "s"})
    scene.wire.take()
    call(scene)
    patch(scene, status="completed")
    updates = scene.wire.updates(CLIENT)
    assert [one["data"]["status"] for one in updates] == ["pending", "in_progress", "completed"]
    assert not any("duration" in one["data"] or "timestamp" in one for one in updates)


def test_a_command_of_the_agents_own_is_a_terminal() -> None:
    scene = scene_of()
    about: Json = {"terminalId": "t", "command": "make", "exitCode": 0}
    for said in (about, {**about, "command": None}):
        call(scene, rawInput={}, content=[{**text("done\n"), **meta(terminal=said)}])
        scene.wire.wait(HOLD_SECONDS)
        output = told(scene, "tool_call_update")[0]["output"]
        assert (output["type"], output["stdout"], output["exitCode"]) == ("terminal", "done\n", 0)
        assert output.get("command") == said["command"]
    patch(scene, content=[{**text("x"), **meta(terminal={"terminalId": 3})}])
    assert told(scene)[0]["output"] == {"type": "text", "text": "x"}


STEPS = st.one_of(
    st.tuples(
        st.just("status"), st.sampled_from(["pending", "in_progress", "completed", "failed"])
    ),
    st.tuples(st.just("content"), st.just("x")),
    st.tuples(st.just("input"), st.just("y")),
    st.tuples(st.just("ask"), st.sampled_from([True, False])),
    st.tuples(st.just("wait"), st.sampled_from([0.05, 20.0])),
)


@pytest.mark.rule("D26-32")
@given(st.booleans(), st.lists(STEPS, max_size=12))
def test_whatever_an_agent_does_its_calls_go_by_the_drafts_steps(
    is_forming: bool, steps: list[Any]
) -> None:
    """One announcement, legal pairs, nothing after a final status."""
    scene = scene_of()
    updates: list[Json] = []
    call(scene, **({"name": "Look"} if is_forming else {}))
    for kind, value in steps:
        if kind == "status":
            patch(scene, status=value)
        elif kind == "content":
            patch(scene, content=[text(value)])
        elif kind == "input":
            patch(scene, rawInput={"path": value})
        elif kind == "wait":
            scene.wire.wait(value)
        else:
            params = {
                "sessionId": "s",
                "toolCall": {"toolCallId": "c"},
                "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
            }
            scene.wire.ask(AGENT, "session/request_permission", params)
            said = scene.wire.take()
            updates += [m.params for _, m in said if isinstance(m, Notification)]
            asked = next(m for to, m in said if to is CLIENT and not isinstance(m, Notification))
            scene.wire.answer(CLIENT, asked.key, {"granted": value})
        updates += scene.wire.updates(CLIENT)
    scene.wire.wait(INPUT_SECONDS_MAX)
    updates += scene.wire.updates(CLIENT)
    assert [one["type"] for one in updates].count("tool_call") == 1
    assert updates[0]["type"] == "tool_call"
    statuses = [one["data"]["status"] for one in updates if "status" in one["data"]]
    assert statuses[0] == "pending"
    for earlier, later in pairwise(statuses):
        assert later in NEXT_STATUSES[earlier]


# ---- turns


def prompt(scene: Before, *content: Json) -> tuple[Any, Any]:
    params = {"sessionId": "s", "content": list(content) or [{"type": "text", "text": "hi"}]}
    key = scene.wire.ask(CLIENT, "session/prompt", params)
    return key, scene.wire.request(AGENT, "session/prompt")


def test_a_turn_tells_the_prompt_ends_its_messages_and_says_when() -> None:
    """Issue 15: the live user echo, `final`, `timestamp`."""
    scene = scene_of()
    image = {
        "type": "image",
        "source": {"type": "base64", "mediaType": "image/png", "data": "aGk="},
    }
    _, asked = prompt(scene, {"type": "text", "text": "hi"}, image)
    for words in ("a", "b"):
        block = {"type": "text", "text": words}
        tell(scene, sessionUpdate="agent_message_chunk", content=block, messageId="m")
    thought = {"type": "text", "text": "hm"}
    tell(scene, sessionUpdate="agent_thought_chunk", content=thought, messageId="t")
    block = {"type": "text", "text": "whole"}
    tell(
        scene,
        sessionUpdate="agent_message_chunk",
        content=block,
        messageId="n",
        **meta(final=True),
    )
    tell(scene, sessionUpdate="agent_message_chunk", content=block, messageId="o")
    scene.wire.answer(AGENT, asked.key, {"stopReason": "end_turn"})
    updates = scene.wire.updates(CLIENT)
    assert {one["timestamp"] for one in updates} == {STAMP}
    assert [
        (one["type"].split("_")[0], one["data"]["content"], one["data"].get("final"))
        for one in updates
    ] == [
        ("user", "hi", None),
        ("user", "[image image/png]", True),
        ("agent", "a", None),
        ("agent", "b", None),
        ("agent", "", True),
        ("thought", "hm", None),
        ("agent", "whole", True),
        ("agent", "whole", None),
        ("agent", "", True),
    ]
    assert updates[5]["data"]["visible"] is True
    assert [one["data"]["index"] for one in updates[2:5]] == [0, 1, 2]


def test_prompts_behind_each_other_are_each_told() -> None:
    scene = scene_of()
    _, first = prompt(scene, {"type": "text", "text": "one"})
    _, second = prompt(scene, {"type": "text", "text": "two"})
    _, third = prompt(scene, {"type": "text", "text": "three"})
    # One that waits may be answered first.
    scene.wire.answer(AGENT, third.key, {"stopReason": "cancelled"})
    assert [one["content"] for one in told(scene)] == ["three"]
    scene.wire.answer(AGENT, first.key, {"stopReason": "end_turn"})
    assert [one["content"] for one in told(scene)] == ["one"]
    tell(scene, sessionUpdate="agent_message_chunk", content={"type": "text", "text": "x"})
    assert [one["content"] for one in told(scene)] == ["two", "x"]
    scene.wire.answer(AGENT, second.key, {"stopReason": "end_turn"})
    assert told(scene) == []


def test_a_turn_that_failed_says_why() -> None:
    """Issue 15: a visible reason when a turn ends in `error`."""
    scene = scene_of()
    for data in (None, {"sessionId": "s"}):
        key, asked = prompt(scene)
        error = {"code": -32002, "message": "it is gone", "data": data}
        scene.wire.answer(AGENT, asked.key, {"stopReason": "end_turn", **meta(error=error)})
        said = scene.wire.take()
        result = said[-1][1].result  # type: ignore[union-attr]
        assert result["stopReason"] == "error"
        assert kept(result)["error"]["code"] == -32000
        assert ("data" in kept(result)["error"]) == (data is not None)
        last = said[-2][1]
        assert isinstance(last, Notification)
        assert last.params["data"]["content"] == "The turn failed: it is gone"
    # What is not an error is not taken for one.
    key, asked = prompt(scene)
    scene.wire.answer(AGENT, asked.key, {"stopReason": "end_turn", **meta(error="no")})
    assert scene.wire.result(CLIENT, key)["stopReason"] == "end_turn"


def test_a_turn_that_was_refused_tells_nothing() -> None:
    scene = scene_of()
    _, asked = prompt(scene)
    scene.wire.fail(AGENT, asked.key, -32603)
    assert [type(one).__name__ for _, one in scene.wire.take()] == ["Failure"]


def test_calls_that_were_held_back_are_told_when_the_turn_ends() -> None:
    scene = scene_of()
    _, asked = prompt(scene)
    call(scene)
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    scene.wire.answer(AGENT, asked.key, {"stopReason": "cancelled"})
    statuses = [one["status"] for one in told(scene, "tool_call", "tool_call_update")]
    assert statuses == ["pending", "cancelled"]
    _, asked = prompt(scene)
    tell(scene, sessionUpdate="tool_call", toolCallId="d", title="Look")
    scene.wire.answer(AGENT, asked.key, {"stopReason": "end_turn"})
    assert [one["id"] for one in told(scene, "tool_call")] == ["d"]


def test_content_that_the_draft_does_not_have_is_refused() -> None:
    scene = scene_of()
    params = {"sessionId": "s", "content": [{"type": "hologram"}]}
    error = scene.wire.error(CLIENT, scene.wire.ask(CLIENT, "session/prompt", params))
    assert (error.code, error.data["path"]) == (-32602, "$.content[0]")


def test_a_request_can_be_taken_back_though_the_draft_has_no_word_for_it() -> None:
    scene = scene_of()
    key, asked = prompt(scene)
    ((side, message),) = scene.bridge.withdraw(CLIENT, key)
    assert side is AGENT
    assert isinstance(message, Notification)
    assert message.params == {"requestId": asked.key}
