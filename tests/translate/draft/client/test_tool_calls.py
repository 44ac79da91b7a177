"""Tool calls of a v1 agent in the strict order of the draft, and permission."""

from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT, Notification, Request, Result
from accord.translate.meta_store import DRAFT
from tests.translate.draft.client.agent_messages import (
    OPTIONS,
    TEXT,
    ask_permission,
    call_change,
    tool_call,
)
from tests.translate.draft.open_sessions import DRAFT_CLIENT, V1_AGENT, before


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


# ---- tool calls in order


@pytest.mark.rule("D26-34")
def test_the_strict_order_of_a_call_withpermission() -> None:
    """The draft's table 5.1: the call, the question, in progress, the result."""
    scene = before()
    scene.prompt()
    wire = scene.wire
    wire.tell(AGENT, "session/update", {"sessionId": "s", "update": tool_call("in_progress")})
    ask_permission(scene)
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
        wire.tell(AGENT, "session/update", {"sessionId": "s", "update": call_change(status)})
    assert _story(wire.take()) == [
        "tool_call_update in_progress",
        "answer",
        "fs/write_text_file",
        "tool_call_update",
        "tool_call_update completed",
    ]


@pytest.mark.rule("D26-32", "D26-34")
def test_missing_steps_are_made_up() -> None:
    """The draft's table 5.1."""
    scene = before()
    scene.prompt()
    scene.wire.tell(AGENT, "session/update", {"sessionId": "s", "update": call_change("completed")})
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
    scene.update(tool_call("in_progress"))
    scene.wire.wait(0.2)
    assert _story(scene.wire.take()) == ["tool_call_update in_progress"]
    scene.update({**tool_call("in_progress"), "toolCallId": "d"})
    scene.wire.tell(AGENT, "session/update", {"sessionId": "s", "update": TEXT})
    assert _story(scene.wire.take()) == ["tool_call_update in_progress", "agent_message_chunk"]
    scene.update({**tool_call("in_progress"), "toolCallId": "e"})
    ask_permission(scene)
    story = _story(scene.wire.take())
    assert story == ["tool_call_update in_progress", "session/request_permission"]
    scene.update({**tool_call("in_progress"), "toolCallId": "f"})
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    assert _story(scene.wire.take()) == ["answer", "answer"]


@pytest.mark.rule("D26-32")
def test_nothing_leads_out_of_a_final_status_but_output_counts() -> None:
    """The draft's table 5.1."""
    scene = before()
    scene.prompt()
    scene.update(tool_call("completed"))
    assert scene.update(call_change("completed")) != []
    content = [{"type": "content", "content": {"type": "text", "text": "late"}}]
    (update,) = scene.update(call_change("failed", content=content))
    assert "status" not in update["data"]
    assert update["data"]["error"] == "late"
    (update,) = scene.update(call_change("odd"))
    assert update["data"] == {"id": "c", "_meta": {DRAFT: {"status": "odd"}}}
    assert scene.update(call_change()) == []


def test_a_word_of_the_draft_comes_back() -> None:
    """The draft's table 5.1."""
    scene = before()
    scene.prompt()
    scene.update(tool_call("pending"))
    (first, second) = scene.update(call_change("failed", _meta={DRAFT: {"status": "denied"}}))
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
    """The draft's table 4.1."""
    scene = before()
    ask_permission(scene, **call)
    asked = scene.wire.request(CLIENT, "session/request_permission")
    assert asked.params["operation"] == operation
    assert asked.params["resource"] == resource
    assert asked.params["toolCallId"] == "c"
    if reason is not None:
        assert asked.params["reason"] == reason
    assert asked.params["_meta"] == {DRAFT: {"options": OPTIONS}}


@pytest.mark.rule("D26-22")
def test_the_reason_is_what_the_call_was_called_before() -> None:
    """Agents of v1 often name nothing but the id when they ask."""
    scene = before()
    scene.update(tool_call("pending", locations=[{"path": "/a"}]))
    ask_permission(scene)
    asked = scene.wire.request(CLIENT, "session/request_permission")
    assert asked.params["reason"] == "Dig"


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ({"type": "text", "text": "to plant"}, "to plant"),
        ({"type": "image", "mimeType": "image/png", "data": "AAAA"}, "[image image/png]"),
    ],
)
def test_the_reason_is_what_stands_there(block: Any, reason: str) -> None:
    """The draft's table 4.1."""
    scene = before()
    diff = {"type": "diff", "path": "/a", "newText": "x\n"}
    ask_permission(scene, content=[diff, {"type": "content", "content": block}])
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
    """The draft's table 4.1: the exact word is kept."""
    scene = before()
    key = ask_permission(scene)
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
    """The draft's table 4.1."""
    scene = before()
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": OPTIONS[2:]}
    key = scene.wire.ask(AGENT, "session/request_permission", params)
    asked = scene.wire.request(CLIENT, "session/request_permission")
    scene.wire.answer(CLIENT, asked.key, {"granted": True})
    assert scene.wire.result(AGENT, key)["outcome"] == {"outcome": "cancelled"}


def test_a_call_that_failed_after_a_no_was_denied() -> None:
    """The draft's table 5.1."""
    scene = before()
    ask_permission(scene)
    asked = scene.wire.request(CLIENT, "session/request_permission")
    scene.wire.answer(CLIENT, asked.key, {"granted": False})
    scene.wire.take()
    (update,) = scene.update(call_change("failed"))
    assert update["data"]["status"] == "denied"


def test_a_client_that_fails_to_ask() -> None:
    """The draft's table 9."""
    scene = before()
    key = ask_permission(scene)
    asked = scene.wire.request(CLIENT, "session/request_permission")
    scene.wire.fail(CLIENT, asked.key, -32603)
    assert scene.wire.error(AGENT, key).code == -32603


@pytest.mark.parametrize("code", [-32002, -32003])
def test_an_error_that_says_no_is_no(code: int) -> None:
    """The draft's tables 4.1 and 9: permission denied, operation cancelled."""
    scene = before()
    key = ask_permission(scene)
    asked = scene.wire.request(CLIENT, "session/request_permission")
    scene.wire.fail(CLIENT, asked.key, code)
    assert scene.wire.result(AGENT, key) == {"outcome": {"outcome": "selected", "optionId": "no"}}


def test_a_client_without_dialogs_is_not_asked() -> None:
    """The draft's table 7: the answer is no."""
    scene = before(client={**DRAFT_CLIENT, "ui": {"permissionDialogs": False}})
    key = ask_permission(scene)
    assert scene.wire.result(AGENT, key) == {"outcome": {"outcome": "selected", "optionId": "no"}}


def test_a_cancel_answers_what_is_still_asked() -> None:
    """V1: a client answers open requests with `cancelled`; the call was denied."""
    scene = before(agent=V1_AGENT)
    key, asked = scene.prompt()
    question = ask_permission(scene)
    open_question = scene.wire.request(CLIENT, "session/request_permission")
    scene.wire.tell(CLIENT, "session/cancel", {"sessionId": "s"})
    said = scene.wire.take()
    assert said[1] == (AGENT, Result(question, {"outcome": {"outcome": "cancelled"}}))
    again = ask_permission(scene)
    assert scene.wire.result(AGENT, again) == {"outcome": {"outcome": "cancelled"}}
    scene.wire.answer(CLIENT, open_question.key, {"granted": True})
    assert scene.wire.take() == []
    scene.wire.answer(AGENT, asked, {"stopReason": "cancelled"})
    (_, update), (_, result) = scene.wire.take()
    assert update.params["data"]["status"] == "denied"  # type: ignore[union-attr]
    assert result == Result(key, {"stopReason": "cancelled"})


def test_a_status_that_was_held_is_the_agents_own_word() -> None:
    """The draft's table 5.1: what a bridge makes up says so, what the agent said does not."""
    scene = before()
    scene.prompt()
    scene.update(tool_call("pending"))
    assert scene.update(call_change("in_progress")) == []
    scene.wire.wait(0.2)
    (update,) = scene.wire.updates(CLIENT)
    assert update["data"] == {"id": "c", "status": "in_progress"}
    content = [{"type": "content", "content": {"type": "text", "text": "x"}}]
    call = {**tool_call("pending"), "toolCallId": "d"}
    scene.update(call)
    (update,) = scene.update({**call_change("in_progress", content=content), "toolCallId": "d"})
    assert update["data"]["output"] == {"type": "text", "text": "x"}
    assert "status" not in update["data"]
    scene.wire.wait(0.2)
    (update,) = scene.wire.updates(CLIENT)
    assert update["data"]["_meta"] == {DRAFT: {"made": True}}
