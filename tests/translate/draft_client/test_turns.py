"""Prompts of a draft client to a v1 agent, tool calls in strict order, permission, cancelling."""

from __future__ import annotations

from typing import Any

import pytest

from accord.translate.keeping import DRAFT
from accord.translate.message import AGENT, CLIENT, Notification, Request, Result
from tests.translate.draft_openings import DRAFT_CLIENT, V1_AGENT, Before, before

TEXT = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hm"}}
OPTIONS = [
    {"optionId": "yes", "kind": "allow_once", "name": "Yes"},
    {"optionId": "ever", "kind": "allow_always", "name": "Ever"},
    {"optionId": "no", "kind": "reject_once", "name": "No"},
]


def _call(status: str | None = None, **more: Any) -> Any:
    base = {"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Dig", "kind": "edit", **more}
    return base if status is None else {**base, "status": status}


def _change(status: str | None = None, **more: Any) -> Any:
    base = {"sessionUpdate": "tool_call_update", "toolCallId": "c", **more}
    return base if status is None else {**base, "status": status}


def _permission(scene: Before, **call: Any) -> int:
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c", **call}, "options": OPTIONS}
    return scene.wire.ask(AGENT, "session/request_permission", params)


def _story(outs: list[Any]) -> list[str]:
    """What the client was told, in short."""
    words = []
    for side, message in outs:
        if side is not CLIENT:
            words.append("answer")
        elif isinstance(message, Notification):
            data = message.params["data"]
            words.append(f"{message.params['type']} {data.get('status', '')}".strip())
        else:
            words.append(getattr(message, "method", "result"))
    return words


# ---- prompts


def test_a_prompt_with_blocks_and_attachments() -> None:
    """dialect.md 3.5, 6."""
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
    """dialect.md 6: instead of failing."""
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
    """dialect.md 3.5: the exact reason is kept."""
    scene = before()
    key, asked = scene.prompt()
    scene.wire.answer(AGENT, asked, {"stopReason": official})
    result = scene.wire.result(CLIENT, key)
    assert result["stopReason"] == word
    kept = {DRAFT: {"stopReason": official}} if official != word else None
    assert result.get("_meta") == kept


def test_what_a_turn_cost() -> None:
    """dialect.md 3.5."""
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
    """dialect.md 3.5."""
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
    """dialect.md 9."""
    scene = before()
    key, asked = scene.prompt()
    scene.wire.fail(AGENT, asked, -32800)
    assert scene.wire.result(CLIENT, key) == {"stopReason": "cancelled"}


@pytest.mark.rule("D26-15")
@pytest.mark.parametrize("end", ["cancelled", "failure", "death"])
def test_a_cancelled_turn_ends_its_calls_and_then_itself(end: str) -> None:
    """dialect.md 3.5, 5.1: never an error; the call first, then the result."""
    scene = before()
    key, asked = scene.prompt()
    scene.update(_call("pending"))
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
    """dialect.md 5.1."""
    scene = before()
    scene.prompt()
    scene.update(_call("pending"))
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    scene.wire.take()
    (update,) = scene.update(_change("failed"))
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
    for number, act in enumerate(
        (
            lambda: wire.ask(CLIENT, "initialize", {**params, "capabilities": {}}),
            scene.initialize,
            lambda: wire.ask(CLIENT, "session/new", {"workingDirectory": "/a"}),
            scene.open,
            lambda: wire.ask(CLIENT, "session/load", {"sessionId": "x"}),
            scene.prompt,
            lambda: scene.update(TEXT),
            lambda: scene.update(_call("in_progress")),
            lambda: _permission(scene),
        )
    ):
        wire.take()
        done = act()
        if number == 5:
            key = done[0]  # type: ignore[index]
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


# ---- tool calls in order


@pytest.mark.rule("D26-34")
def test_the_strict_order_of_a_call_with_permission() -> None:
    """dialect.md 5.1: the call, the question, in progress, the result."""
    scene = before()
    scene.prompt()
    wire = scene.wire
    wire.tell(AGENT, "session/update", {"sessionId": "s", "update": _call("in_progress")})
    _permission(scene)
    said = wire.take()
    assert _story(said) == [
        "tool_call pending",
        "tool_call_update awaiting_permission",
        "session/request_permission",
    ]
    asked = said[-1][1]
    assert isinstance(asked, Request)
    wire.answer(CLIENT, asked.key, {"granted": True})
    wire.ask(AGENT, "fs/write_text_file", {"sessionId": "s", "path": "/a", "content": ""})
    for status in ("in_progress", "completed"):
        wire.tell(AGENT, "session/update", {"sessionId": "s", "update": _change(status)})
    assert _story(wire.take()) == [
        "tool_call_update in_progress",
        "answer",
        "fs/write_text_file",
        "tool_call_update",
        "tool_call_update completed",
    ]


@pytest.mark.rule("D26-32", "D26-34")
def test_missing_steps_are_made_up() -> None:
    """dialect.md 5.1."""
    scene = before()
    scene.prompt()
    scene.wire.tell(AGENT, "session/update", {"sessionId": "s", "update": _change("completed")})
    assert _story(scene.wire.take()) == [
        "tool_call pending",
        "tool_call_update in_progress",
        "tool_call_update completed",
    ]


def test_a_status_that_is_held_goes_out_with_the_next_message_or_in_time() -> None:
    """Ours: a call that is never asked about is in progress a moment later."""
    scene = before()
    scene.prompt()
    assert _story([]) == []
    scene.update(_call("in_progress"))
    scene.wire.wait(0.2)
    assert _story(scene.wire.take()) == ["tool_call_update in_progress"]
    scene.update({**_call("in_progress"), "toolCallId": "d"})
    scene.wire.tell(AGENT, "session/update", {"sessionId": "s", "update": TEXT})
    assert _story(scene.wire.take()) == ["tool_call_update in_progress", "agent_message_chunk"]
    scene.update({**_call("in_progress"), "toolCallId": "e"})
    _permission(scene)
    story = _story(scene.wire.take())
    assert story == ["tool_call_update in_progress", "session/request_permission"]
    scene.update({**_call("in_progress"), "toolCallId": "f"})
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    assert _story(scene.wire.take()) == ["answer", "answer"]


@pytest.mark.rule("D26-32")
def test_nothing_leads_out_of_a_final_status_but_output_counts() -> None:
    """dialect.md 5.1."""
    scene = before()
    scene.prompt()
    scene.update(_call("completed"))
    assert scene.update(_change("completed")) != []
    content = [{"type": "content", "content": {"type": "text", "text": "late"}}]
    (update,) = scene.update(_change("failed", content=content))
    assert "status" not in update["data"]
    assert update["data"]["error"] == "late"
    (update,) = scene.update(_change("odd"))
    assert update["data"] == {"id": "c", "_meta": {DRAFT: {"status": "odd"}}}
    assert scene.update(_change()) == []


def test_a_word_of_the_draft_comes_back() -> None:
    """dialect.md 5.1."""
    scene = before()
    scene.prompt()
    scene.update(_call("pending"))
    (first, second) = scene.update(_change("failed", _meta={DRAFT: {"status": "denied"}}))
    assert first["data"]["status"] == "awaiting_permission"
    assert second["data"]["status"] == "denied"


# ---- permission


@pytest.mark.parametrize(
    ("call", "operation", "resource", "reason"),
    [
        ({"kind": "edit", "locations": [{"path": "/a"}]}, "file_write", "/a", None),
        ({"kind": "read", "title": "Read it"}, "file_read", "Read it", None),
        ({"kind": "execute", "rawInput": {"command": "ls"}}, "terminal_execute", "ls", None),
        ({"kind": "fetch", "rawInput": {"url": "u"}, "title": "T"}, "network_access", "u", "T"),
        ({"kind": "odd", "rawInput": {"command": 5}}, "mcp_tool", "c", None),
        ({"kind": "other", "rawInput": [1], "title": "Think"}, "mcp_tool", "Think", None),
        ({"kind": "delete", "title": "file_delete: /x", "locations": [{"path": "/x"}]},
         "file_delete", "/x", None),
    ],
)  # fmt: skip
def test_what_is_asked(call: Any, operation: str, resource: str, reason: str | None) -> None:
    """dialect.md 4.1."""
    scene = before()
    _permission(scene, **call)
    asked = scene.wire.request(CLIENT, "session/request_permission")
    assert asked.params["operation"] == operation
    assert asked.params["resource"] == resource
    assert asked.params["toolCallId"] == "c"
    if reason is not None:
        assert asked.params["reason"] == reason
    assert asked.params["_meta"] == {DRAFT: {"options": OPTIONS}}


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ({"type": "text", "text": "to plant"}, "to plant"),
        ({"type": "image", "mimeType": "image/png", "data": "AAAA"}, "[image image/png]"),
    ],
)
def test_the_reason_is_what_stands_there(block: Any, reason: str) -> None:
    """dialect.md 4.1."""
    scene = before()
    diff = {"type": "diff", "path": "/a", "newText": "x\n"}
    _permission(scene, content=[diff, {"type": "content", "content": block}])
    said = scene.wire.take()
    asked = said[-1][1]
    assert isinstance(asked, Request)
    assert asked.params["reason"] == reason
    outputs = [one.params["data"].get("output") for _, one in said if isinstance(one, Notification)]
    assert [one["type"] for one in outputs if one] == ["diff"]


@pytest.mark.rule("D26-10")
@pytest.mark.parametrize(
    ("grant", "outcome"),
    [
        ({"granted": True}, "yes"),
        ({"granted": True, "scope": "once", "remember": False}, "yes"),
        ({"granted": True, "scope": "session"}, "ever"),
        ({"granted": True, "remember": True}, "ever"),
        ({"granted": False}, "no"),
        ({"granted": False, "remember": True}, "no"),
    ],
)
def test_the_users_word_as_an_option(grant: Any, outcome: str) -> None:
    """dialect.md 4.1: the exact word is kept."""
    scene = before()
    key = _permission(scene)
    asked = scene.wire.request(CLIENT, "session/request_permission")
    scene.wire.answer(CLIENT, asked.key, {**grant, "_meta": {"x": 1}})
    said = scene.wire.take()
    assert said[-1] == (
        AGENT,
        Result(
            key,
            {
                "outcome": {"outcome": "selected", "optionId": outcome},
                "_meta": {"x": 1, DRAFT: grant},
            },
        ),
    )
    assert (len(said) == 2) == grant["granted"]


def test_a_word_that_no_option_says_is_no_consent() -> None:
    """dialect.md 4.1."""
    scene = before()
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": OPTIONS[2:]}
    key = scene.wire.ask(AGENT, "session/request_permission", params)
    asked = scene.wire.request(CLIENT, "session/request_permission")
    scene.wire.answer(CLIENT, asked.key, {"granted": True})
    assert scene.wire.result(AGENT, key)["outcome"] == {"outcome": "cancelled"}


def test_a_call_that_failed_after_a_no_was_denied() -> None:
    """dialect.md 5.1."""
    scene = before()
    _permission(scene)
    asked = scene.wire.request(CLIENT, "session/request_permission")
    scene.wire.answer(CLIENT, asked.key, {"granted": False})
    scene.wire.take()
    (update,) = scene.update(_change("failed"))
    assert update["data"]["status"] == "denied"


def test_a_client_that_fails_to_ask() -> None:
    """dialect.md 9."""
    scene = before()
    key = _permission(scene)
    asked = scene.wire.request(CLIENT, "session/request_permission")
    scene.wire.fail(CLIENT, asked.key, -32002)
    assert scene.wire.error(AGENT, key).code == -32052


def test_a_client_without_dialogs_is_not_asked() -> None:
    """dialect.md 7: the answer is no."""
    scene = before(client={**DRAFT_CLIENT, "ui": {"permissionDialogs": False}})
    key = _permission(scene)
    assert scene.wire.result(AGENT, key) == {"outcome": {"outcome": "selected", "optionId": "no"}}


def test_a_cancel_answers_what_is_still_asked() -> None:
    """V1: a client answers open requests with `cancelled`; the call was denied."""
    scene = before(agent=V1_AGENT)
    key, asked = scene.prompt()
    question = _permission(scene)
    open_question = scene.wire.request(CLIENT, "session/request_permission")
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    said = scene.wire.take()
    assert said[1] == (AGENT, Result(question, {"outcome": {"outcome": "cancelled"}}))
    again = _permission(scene)
    assert scene.wire.result(AGENT, again) == {"outcome": {"outcome": "cancelled"}}
    scene.wire.answer(CLIENT, open_question.key, {"granted": True})
    assert scene.wire.take() == []
    scene.wire.answer(AGENT, asked, {"stopReason": "cancelled"})
    (_, update), (_, result) = scene.wire.take()
    assert update.params["data"]["status"] == "denied"  # type: ignore[union-attr]
    assert result == Result(key, {"stopReason": "cancelled"})
