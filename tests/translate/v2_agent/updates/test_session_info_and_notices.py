"""Commands, titles, usage, notices, compaction and child sessions."""

from typing import Any

import pytest

from accord.translate.v2_agent import sessions
from accord.translate.v2_agent.updates import session_info_and_notices
from tests.translate.v2_agent.scripted_peers import World, X, started

TEXT = {"type": "text", "text": "x"}
ODD = {"type": "_chart"}
ODD_SAID = {"type": "text", "text": "[_chart]", "_meta": {X: {"raw": ODD}}}


def _commands(*commands: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "sessionUpdate": "available_commands_update",
        "availableCommands": list(commands),
        **fields,
    }


def test_commands_lose_their_tags() -> None:
    """translate 9."""
    world = started()
    [said] = world.update(
        _commands(
            {"type": "command", "name": "a", "description": "d"},
            {"type": "command", "name": "b", "description": "d", "input": None},
            {
                "type": "command",
                "name": "c",
                "description": "d",
                "input": {"type": "text", "hint": "h"},
            },
            {"name": "e", "description": "d"},
        )
    )
    assert said["availableCommands"] == [
        {"name": "a", "description": "d"},
        {"name": "b", "description": "d", "input": None},
        {"name": "c", "description": "d", "input": {"hint": "h"}},
        {"name": "e", "description": "d"},
    ]


def test_commands_that_v1_has_not_are_plain_ones() -> None:
    """translate 9: unknown types and inputs are kept."""
    world = started()
    menu = {"type": "_menu", "name": "m", "description": "d", "items": [1]}
    wheel = {"type": "_wheel", "size": 2}
    [said] = world.update(
        _commands(menu, {"type": "command", "name": "c", "description": "d", "input": wheel})
    )
    assert said["availableCommands"] == [
        {"name": "m", "description": "d", "_meta": {X: {"raw": menu}}},
        {"name": "c", "description": "d", "_meta": {X: {"input": wheel}}},
    ]
    assert world.losses == {"command": 1, "command input": 1}


def test_commands_that_v2_could_not_have_come_back() -> None:
    """translate 9: with a slash, with a space."""
    world = started()
    command = {"type": "command", "name": "a", "description": "d", "_meta": {X: {"name": "/a"}}}
    dropped = {"name": "b c", "description": "d"}
    [said] = world.update(_commands(command, _meta={X: {"availableCommands": [dropped]}}))
    assert said == _commands({"name": "/a", "description": "d"}, dropped)
    odd = {X: {"availableCommands": [{"name": 1}]}}
    assert world.update(_commands(_meta=odd)) == [_commands(_meta=odd)]


def test_what_is_attached_to_a_session_is_told_as_a_whole() -> None:
    """translate 9: `_meta` patch as the merged object; v1's own time comes back."""
    world = started()
    update = {"sessionUpdate": "session_info_update", "title": "t"}
    assert world.update(update) == [update]
    assert world.update({**update, "_meta": {"a": 1}})[0]["_meta"] == {"a": 1}
    assert world.update({**update, "_meta": {"b": 2}})[0]["_meta"] == {"a": 1, "b": 2}
    [said] = world.update(
        {**update, "updatedAt": "2026-01-01T00:00:00Z", "_meta": {X: {"updatedAt": "today"}}}
    )
    assert said == {**update, "updatedAt": "today"}


def test_usage_passes() -> None:
    """translate 9."""
    world = started()
    update = {
        "sessionUpdate": "usage_update",
        "used": 1,
        "size": 2**64 - 1,
        "cost": {"amount": 1.5, "currency": "EUR"},
    }
    assert world.update(update) == [update]


def _notice(severity: str, **fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "notice", "severity": severity, "title": "T", **fields}


def test_notices_are_told_or_said_in_words() -> None:
    """translate 9: gated by `session.notices`; info is dropped, the rest is said."""
    world = started({"session": {"notices": {}}})
    assert world.update(_notice("info")) == [_notice("info")]
    world = started()
    assert world.update(_notice("info")) == []
    [said] = world.update(_notice("warning", description="D"))
    assert said["sessionUpdate"] == "agent_message_chunk"
    assert said["content"] == {"type": "text", "text": "T\nD"}
    assert said["_meta"] == {X: {"raw": _notice("warning", description="D")}}
    [said] = world.update(_notice("error"))
    assert said["content"]["text"] == "T"
    assert world.losses == {"notice": 3}


def _compaction(status: str, **fields: Any) -> dict[str, Any]:
    return {
        "sessionUpdate": "compaction_update",
        "compactionId": "c",
        "status": status,
        **fields,
    }


SUMMARY = {"sessionUpdate": "compaction_summary_chunk", "compactionId": "c", "content": TEXT}


def test_compaction_is_told_to_clients_that_understand_it() -> None:
    """translate 9: gated copy."""
    world = started({"session": {"compaction": {}}})
    for update in (_compaction("in_progress", _meta={"a": 1}), SUMMARY, _compaction("_odd")):
        assert world.update(update) == [update]
    [said] = world.update(_compaction("completed", summary=[TEXT, ODD], _meta={"b": 2}))
    assert said["summary"] == [TEXT, ODD_SAID]
    assert said["_meta"] == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("status", "fields", "line"),
    [
        ("completed", {}, "The context was compacted."),
        ("cancelled", {}, "Compacting the context was cancelled."),
        ("failed", {}, "The context could not be compacted."),
        ("failed", {"error": "E"}, "The context could not be compacted: E"),
    ],
)
def test_compaction_is_a_line_at_its_start_and_end_otherwise(
    status: str, fields: Any, line: str
) -> None:
    """translate 9."""
    world = started()
    [start] = world.update(_compaction("in_progress"))
    assert start["content"]["text"] == "Compacting the context."
    assert world.update(_compaction("in_progress")) == []
    assert world.update(SUMMARY) == []
    [end] = world.update(_compaction(status, **fields))
    assert end["content"]["text"] == line
    assert world.losses == {"compaction": 2, "compaction summary": 1}


def _subagent(**fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "subagent_update", "sessionId": "child", **fields}


MESSAGE = {"sessionUpdate": "session_message", "messageId": "m", "senderSessionId": "child"}
PIECE = {"sessionUpdate": "session_message_chunk", "messageId": "m", "content": TEXT}


def test_child_sessions_are_told_to_clients_that_know_them() -> None:
    """translate 9: `background` is removed."""
    world = started({"subagents": {}})
    same = _subagent(title="T", state={"state": "idle", "stopReason": "_odd"}, _meta={"a": 1})
    assert world.update(same) == [same]
    assert world.update(_subagent(state=None)) == [_subagent(state=None)]
    [said] = world.update(_subagent(state={"state": "running", "background": []}))
    assert said["state"] == {"state": "running", "_meta": {X: {"background": []}}}
    [said] = world.update(_subagent(state={"state": "_asleep"}))
    assert said["state"] == {"state": "unknown", "_meta": {X: {"state": "_asleep"}}}
    assert world.update(MESSAGE) == [MESSAGE]
    assert world.update({**MESSAGE, "content": [ODD]}) == [{**MESSAGE, "content": [ODD_SAID]}]
    assert world.update(PIECE) == [PIECE]


def test_child_sessions_are_nothing_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """translate 9: only with client `subagents`."""
    world = started()
    for update in (_subagent(), MESSAGE, PIECE):
        assert world.update(update) == []
    assert world.losses == {"subagent": 1, "session message": 2}
    monkeypatch.setattr(sessions, "CHILDREN_KEPT", 1)
    world.update({**_subagent(), "sessionId": "other"})
    assert list(_children(world)) == ["other"]


def _children(world: World) -> dict[str, None]:
    children: dict[str, None] = world.translator._children
    return children


def test_an_update_that_nobody_knows_is_dropped_and_counted() -> None:
    """translate 13: v1's typed decoders refuse it."""
    world = started()
    assert world.update({"sessionUpdate": "_weather", "rain": True}) == []
    assert world.losses == {"_weather": 1}
    assert len(world.logged) == 1


def test_only_of_so_many_it_is_known_what_is_attached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: memory is bounded."""
    monkeypatch.setattr(session_info_and_notices, "ENTITIES_KEPT", 1)
    world = started({"subagents": {}})
    world.update(_subagent(_meta={"a": 1}))
    world.update({**_subagent(_meta={"b": 1}), "sessionId": "other"})
    assert world.update(_subagent(_meta={"c": 1}))[0]["_meta"] == {"c": 1}
