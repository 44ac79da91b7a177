"""What a v1 agent tells, as updates of the draft."""

from typing import Any

import pytest

from accord.translate.message import AGENT, CLIENT, Notification
from accord.translate.meta_store import DRAFT
from tests.translate.draft.open_sessions import DRAFT_CLIENT, before


def _chunk(kind: str = "agent_message_chunk", text: str = "hi", **more: Any) -> Any:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **more}


@pytest.mark.rule("D26-14")
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("agent_message_chunk", "agent_message_chunk"),
        ("user_message_chunk", "user_message_chunk"),
        ("agent_thought_chunk", "thought_message_chunk"),
    ],
)
def test_a_chunk_of_text(kind: str, name: str) -> None:
    """The draft's table 5."""
    (params,) = before().update(_chunk(kind))
    assert params == {"sessionId": "s", "type": name, "data": {"content": "hi"}}


def test_messages_with_ids_get_an_index() -> None:
    """The draft's table 5: index 0 starts a message, others go on with it."""
    scene = before()
    told = []
    for message_id in ("m", "m", None, "m", "n", "n"):
        more = {} if message_id is None else {"messageId": message_id}
        (params,) = scene.update(_chunk(**more))
        told.append((params["data"].get("index"), params["data"].get("_meta")))
    assert [index for index, _ in told] == [0, 1, None, 2, 0, 1]
    assert told[0][1] == {DRAFT: {"messageId": "m"}}
    (params,) = scene.update(_chunk("agent_thought_chunk", messageId="m"))
    assert params["data"]["index"] == 0
    (params,) = scene.update(_chunk(messageId=None))
    assert params["data"] == {"content": "hi"}


def test_what_a_draft_agent_behind_had_said_of_a_chunk_comes_back() -> None:
    """The draft's table 5: index, final, visible; the id was made of them."""
    kept = {"index": 3, "final": True, "y": 1}
    (params,) = before().update(_chunk(messageId="d26-message-1", _meta={DRAFT: kept}))
    assert params["data"] == {
        "content": "hi",
        "index": 3,
        "final": True,
        "_meta": {DRAFT: {"y": 1}},
    }
    shown = _chunk("agent_thought_chunk", _meta={DRAFT: {"visible": True, "final": True}})
    (params,) = before().update(shown)
    assert params["data"] == {"content": "hi", "visible": True}
    (params,) = before().update(_chunk(_meta={DRAFT: {"index": -1}}))
    assert params["data"] == {"content": "hi"}


def test_thoughts_for_the_assistant_alone_are_not_visible() -> None:
    """The draft's table 5."""
    update = _chunk("agent_thought_chunk")
    update["content"]["annotations"] = {"audience": ["assistant"]}
    (params,) = before().update(update)
    assert params["data"] == {"content": "hi", "visible": False}


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "text", "text": "hi", "annotations": {"priority": 1.0}}, "hi"),
        ({"type": "image", "mimeType": "image/png", "data": "AAAA"}, "[image image/png]"),
        ({"type": "resource_link", "uri": "file:///a", "name": "a"}, "[a](file:///a)"),
        ({"type": "resource", "resource": {"uri": "file:///a", "text": "whole"}}, "whole"),
        ({"type": "resource", "resource": {"uri": "f:///a", "blob": "AAAA"}}, "[resource f:///a]"),
        ({"type": "hologram", "x": 1}, "[hologram]"),
    ],
)
def test_other_blocks_are_readable_and_kept(block: Any, text: str) -> None:
    """The draft's table 5."""
    update = {"sessionUpdate": "agent_message_chunk", "content": block}
    (params,) = before().update(update)
    assert params["data"] == {"content": text, "_meta": {DRAFT: {"block": block}}}


def test_the_time_comes_back_and_what_stood_beside_it_stays() -> None:
    """The draft's table 5."""
    scene = before()
    params = {"sessionId": "s", "update": _chunk(), "_meta": {DRAFT: {"timestamp": "t"}, "x": 1}}
    scene.wire.tell(AGENT, "session/update", params)
    (told,) = scene.wire.updates(CLIENT)
    assert told["timestamp"] == "t"
    assert told["_meta"] == {"x": 1}
    params = {"sessionId": "s", "update": _chunk(), "_meta": {"x": 1}}
    scene.wire.tell(AGENT, "session/update", params)
    assert scene.wire.updates(CLIENT)[0]["_meta"] == {"x": 1}
    params = {"sessionId": "s", "update": {"sessionUpdate": "usage_update", "used": 1, "size": 2}}
    scene.wire.tell(AGENT, "session/update", {**params, "_meta": {}})
    assert scene.wire.take() == []


OFFICIAL_ONLY: list[Any] = [
    {"sessionUpdate": "session_info_update", "title": "T"},
    {"sessionUpdate": "usage_update", "used": 1, "size": 2},
    {"sessionUpdate": "notice", "severity": "info", "title": "T"},
    {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "in_progress"},
    {"sessionUpdate": "plan_removed", "planId": "p"},
    {"sessionUpdate": "made_up", "x": 1},
]


@pytest.mark.parametrize("update", OFFICIAL_ONLY, ids=lambda one: one["sessionUpdate"])
def test_updates_that_the_draft_has_no_type_for(update: Any) -> None:
    """Draft, 5: dropped and counted, or under a name of their own where that was announced."""
    scene = before()
    assert scene.update(dict(update)) == []
    assert scene.bridge.losses == {update["sessionUpdate"]: 1}
    scene = before(client={**DRAFT_CLIENT, "_custom": {"acpUpdates": True}})
    params = {"sessionId": "s", "update": update, "_meta": {"x": 1}}
    scene.wire.tell(AGENT, "session/update", params)
    assert scene.wire.take() == [(CLIENT, Notification("_acp/session_update", params))]


def test_a_plan_and_commands() -> None:
    """The draft's table 5."""
    scene = before()
    entries = [
        {"content": "dig", "priority": "high", "status": "completed"},
        {"content": "sow", "priority": "medium", "status": "pending"},
    ]
    (params,) = scene.update({"sessionUpdate": "plan", "entries": entries})
    data = params["data"]
    assert (params["type"], data["planId"]) == ("plan", "main")
    assert [(one["id"], one["description"], one["status"]) for one in data["steps"]] == [
        ("step_1", "dig", "completed"),
        ("step_2", "sow", "pending"),
    ]
    commands = [{"name": "water", "description": "Waters"}]
    update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
    (params,) = scene.update(update)
    assert params["type"] == "available_commands"
    assert params["data"] == {"commands": commands}
