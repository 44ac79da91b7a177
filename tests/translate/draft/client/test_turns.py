"""Prompts of a draft client to a v1 agent, tool calls in strict order, permission, cancelling."""

from collections.abc import Callable
from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT, Notification, Result
from accord.translate.meta_store import DRAFT
from tests.translate.draft.client.agent_messages import TEXT, ask_permission, call_change, tool_call
from tests.translate.draft.open_sessions import Before, before

# ---- prompts


def test_a_prompt_with_blocks_and_attachments() -> None:
    """The draft's table 3.5, 6."""
    scene = before()
    params = {
        "sessionId": "s",
        "content": [{"type": "text", "text": "look"}],
        "attachments": [{"path": "a.txt", "content": "text"}],
    }
    scene.wire.ask(CLIENT, "session/prompt", params)
    assert scene.wire.one(AGENT, "session/prompt").params == {
        "sessionId": "s",
        "prompt": [
            {"type": "text", "text": "look"},
            {
                "type": "resource",
                "resource": {"uri": "file:///srv/garden/a.txt", "text": "text"},
                "_meta": {DRAFT: {"attachment": {"path": "a.txt", "content": "text"}}},
            },
        ],
    }


def test_blocks_that_the_agent_cannot_read_are_replaced() -> None:
    """The draft's table 6: instead of failing."""
    scene = before(agent={})
    image = {"type": "base64", "mediaType": "image/png", "data": "AAAA"}
    content = [
        {"type": "image", "source": image, "_meta": {"x": 1}},
        {"type": "resource", "uri": "file:///a", "content": "text", "title": "A"},
        {"type": "resource", "uri": "file:///a", "content": "text"},
    ]
    scene.wire.ask(CLIENT, "session/prompt", {"sessionId": "s", "content": content})
    link, first, second = scene.wire.one(AGENT, "session/prompt").params["prompt"]
    assert (link["type"], link["uri"]) == ("resource_link", "data:image/png;base64,AAAA")
    assert link["_meta"] == {"x": 1, DRAFT: {"block": "image"}}
    assert first == {"type": "text", "text": "text", "_meta": {DRAFT: {"title": "A"}}}
    assert second == {"type": "text", "text": "text"}


@pytest.mark.rule("D26-08")
@pytest.mark.parametrize(
    ("official", "word"),
    [
        ("end_turn", "end_turn"),
        ("cancelled", "cancelled"),
        ("max_tokens", "max_tokens"),
        ("max_turn_requests", "max_tokens"),
        ("refusal", "end_turn"),
        ("odd", "end_turn"),
    ],
)
def test_how_a_turn_ends(official: str, word: str) -> None:
    """The draft's table 3.5: the exact reason is kept."""
    scene = before()
    key, asked = scene.prompt()
    scene.wire.answer(AGENT, asked, {"stopReason": official})
    result = scene.wire.result(CLIENT, key)
    assert result["stopReason"] == word
    kept = {DRAFT: {"stopReason": official}} if official != word else None
    assert result.get("_meta") == kept


def test_what_a_turn_cost() -> None:
    """The draft's table 3.5."""
    scene = before()
    key, asked = scene.prompt()
    scene.update({"sessionUpdate": "usage_update", "used": 1, "size": 2})
    usage = {"totalTokens": 9, "inputTokens": 3, "outputTokens": 4}
    scene.wire.answer(AGENT, asked, {"stopReason": "end_turn", "usage": usage})
    result = scene.wire.result(CLIENT, key)
    assert result["usage"] == {"inputTokens": 3, "outputTokens": 4}
    kept = {"wholeUsage": usage, "usageUpdate": {"used": 1, "size": 2}}
    assert result["_meta"] == {DRAFT: kept}
    for usage_kept in ({"inputTokens": 1, "outputTokens": 2}, 5):
        key, asked = scene.prompt()
        meta = {DRAFT: {"usage": usage_kept}}
        scene.wire.answer(AGENT, asked, {"stopReason": "end_turn", "_meta": meta})
        result = scene.wire.result(CLIENT, key)
        assert result.get("usage") == (None if usage_kept == 5 else usage_kept)


@pytest.mark.rule("D26-08")
def test_a_failure_before_the_turn_began_is_an_error_and_after_it_an_end() -> None:
    """The draft's table 3.5."""
    scene = before()
    key, asked = scene.prompt()
    scene.wire.fail(AGENT, asked, -32002)
    assert scene.wire.error(CLIENT, key).code == -32000
    key, asked = scene.prompt()
    scene.update(TEXT)
    scene.wire.fail(AGENT, asked, -32058, "slow", {"retryAfter": 1})
    error = {"code": -32058, "message": "slow", "data": {"retryAfter": 1}}
    assert scene.wire.result(CLIENT, key) == {
        "stopReason": "error",
        "_meta": {DRAFT: {"error": error}},
    }
    key, asked = scene.prompt()
    scene.update(TEXT)
    scene.wire.fail(AGENT, asked, -32603, "broken")
    kept = scene.wire.result(CLIENT, key)["_meta"][DRAFT]
    assert kept == {"error": {"code": -32603, "message": "broken"}}


def test_a_cancelled_request_is_a_cancelled_turn() -> None:
    """The draft's table 9."""
    scene = before()
    key, asked = scene.prompt()
    scene.wire.fail(AGENT, asked, -32800)
    assert scene.wire.result(CLIENT, key) == {"stopReason": "cancelled"}


@pytest.mark.rule("D26-15")
@pytest.mark.parametrize("end", ["cancelled", "failure", "death"])
def test_a_cancelled_turn_ends_its_calls_and_then_itself(end: str) -> None:
    """The draft's table 3.5, 5.1: never an error; the call first, then the result."""
    scene = before()
    key, asked = scene.prompt()
    scene.update(tool_call("pending"))
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s", "reason": "user_requested"})
    kept = {"_meta": {DRAFT: {"reason": "user_requested"}}}
    assert scene.wire.take() == [
        (AGENT, Notification("session/cancel", {"sessionId": "s", **kept}))
    ]
    if end == "failure":
        scene.wire.fail(AGENT, asked, -32603)
    elif end == "death":
        scene.wire.agent_dies()
    else:
        scene.wire.answer(AGENT, asked, {"stopReason": "cancelled"})
    (_, update), (_, result) = scene.wire.take()
    assert update.params["data"]["status"] == "cancelled"  # type: ignore[union-attr]
    assert result == Result(key, {"stopReason": "cancelled"})


def test_a_call_that_failed_because_of_the_cancel_is_cancelled() -> None:
    """The draft's table 5.1."""
    scene = before()
    scene.prompt()
    scene.update(tool_call("pending"))
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    scene.wire.take()
    (update,) = scene.update(call_change("failed"))
    assert update["data"]["status"] == "cancelled"
    assert update["data"]["_meta"] == {DRAFT: {"status": "failed"}}


def test_a_cancel_without_a_turn_is_passed_on() -> None:
    """Ours."""
    scene = before()
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    assert len(scene.wire.took(AGENT)) == 1


def test_a_second_prompt_during_a_turn_is_the_agents_to_judge() -> None:
    """Ours."""
    scene = before()
    first, asked = scene.prompt()
    second, asked_too = scene.prompt()
    scene.wire.fail(AGENT, asked_too, -32056)
    assert scene.wire.error(CLIENT, second).code == -32006
    scene.wire.answer(AGENT, asked, {"stopReason": "end_turn"})
    assert scene.wire.result(CLIENT, first) == {"stopReason": "end_turn"}


@pytest.mark.parametrize("step", range(9))
def test_an_agent_that_dies_leaves_no_request_open(step: int) -> None:
    """Issue 5: every request is answered exactly once; a turn that began ends as `error`."""
    scene = Before()
    wire = scene.wire
    params = {"protocolVersion": 1, "clientInfo": {"name": "p", "version": "1"}}
    key = 0
    acts: list[Callable[[], Any]] = [
        lambda: wire.ask(CLIENT, "initialize", {**params, "capabilities": {}}),
        scene.initialize,
        lambda: wire.ask(CLIENT, "session/new", {"workingDirectory": "/a"}),
        scene.open,
        lambda: wire.ask(CLIENT, "session/load", {"sessionId": "x"}),
        scene.prompt,
        lambda: scene.update(TEXT),
        lambda: scene.update(tool_call("in_progress")),
        lambda: ask_permission(scene),
    ]
    for number, act in enumerate(acts):
        wire.take()
        done = act()
        if number == 5:
            key = done[0]
        if number == step:
            break
    wire.take()
    wire.agent_dies()
    assert [one for one in wire.open if one[0] is CLIENT] == []
    answers = {one.key: one for one in wire.took(CLIENT) if hasattr(one, "key")}
    if step >= 6:
        assert answers[key].result["stopReason"] == "error"
        reason = answers[key].result["_meta"][DRAFT]["error"]["data"]["reason"]
        assert reason == "agent_gone"
    elif step == 5:
        assert answers[key].code == -32603
    wire.wait(10)
    assert wire.take() == []
