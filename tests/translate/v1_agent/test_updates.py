"""What a v1 agent reports, as v2 says it (the translation's table 7, 8, 9 and 13)."""

from typing import Any

import pytest

from accord.translate.message import AGENT, Notification
from tests.translate.v1_agent.agent_messages import chunk, tool
from tests.translate.v1_agent.scripted_peers import Stage

X = "acp.translate"


def told(update: dict[str, Any], **how: Any) -> Any:
    """What one update of a turn becomes; None if nothing."""
    stage = Stage(**how)
    stage.working()
    stage.update(update)
    said = stage.updates()
    assert len(said) < 2
    return said[0] if said else None


# ---- messages


def test_chunks_without_ids_are_one_message_until_something_else_comes() -> None:
    stage = Stage()
    stage.working()
    for update in (
        chunk("a"),
        chunk("b"),
        chunk("hm", "agent_thought_chunk"),
        chunk("c"),
        tool(title="T"),
        chunk("d"),
    ):
        stage.update(update)
    stage.end()
    stage.prompt()
    stage.update(chunk("e"))
    ids = [one["messageId"] for one in stage.updates() if "message_chunk" in one["sessionUpdate"]]
    a, b, c, d, e = ids
    assert a == b
    assert len({a, c, d, e}) == 4


def test_chunks_with_ids_keep_them_and_a_null_is_none() -> None:
    stage = Stage()
    stage.working()
    stage.update(chunk("a", messageId="own"))
    stage.update(chunk("b", messageId=None))
    assert [one["messageId"] for one in stage.updates()] == ["own", "own"]


def test_ids_that_are_made_up_differ_between_sessions_and_their_pasts() -> None:
    stage = Stage()
    stage.start()
    stage.new("s1")
    stage.new("s2")
    for session_id in ("s1", "s2"):
        stage.update(chunk("a"), session_id)
    first, second = [one["messageId"] for one in stage.updates() if "messageId" in one]
    assert first != second


def test_unknown_fields_big_numbers_and_meta_survive() -> None:
    stage = Stage(check=False)
    stage.working()
    update = {**chunk("a"), "_meta": {"n": 2**80}, "future": {"x": [1]}}
    stage.update(update, more=1)
    (message,) = stage.to_client
    assert isinstance(message, Notification)
    assert message.params["more"] == 1
    said = message.params["update"]
    assert (said["_meta"], said["future"]) == ({"n": 2**80}, {"x": [1]})


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (
            {"type": "text", "text": "a", "annotations": {"priority": 5}},
            {
                "type": "text",
                "text": "a",
                "annotations": {"priority": 1, "_meta": {X: {"priority": 5}}},
            },
        ),
        (
            {"type": "text", "text": "a", "annotations": {"priority": -0.5}},
            {
                "type": "text",
                "text": "a",
                "annotations": {"priority": 0, "_meta": {X: {"priority": -0.5}}},
            },
        ),
        (
            {"type": "resource_link", "name": "a", "uri": "u", "size": -1},
            {"type": "resource_link", "name": "a", "uri": "u", "_meta": {X: {"size": -1}}},
        ),
        (
            {"type": "resource_link", "name": "a", "uri": "u", "size": 7, "annotations": None},
            {"type": "resource_link", "name": "a", "uri": "u", "size": 7, "annotations": None},
        ),
        (
            {
                "type": "resource_link",
                "name": "a",
                "uri": "u",
                "_meta": {X: {"icons": [{"src": "s"}], "size": 2**63}, "k": 1},
            },
            {
                "type": "resource_link",
                "name": "a",
                "uri": "u",
                "icons": [{"src": "s"}],
                "size": 2**63,
                "_meta": {"k": 1},
            },
        ),
        (
            {"type": "resource_link", "name": "a", "uri": "u", "_meta": {X: {"icons": [5]}}},
            {"type": "resource_link", "name": "a", "uri": "u", "_meta": {X: {"icons": [5]}}},
        ),
        (
            {"type": "text", "text": "[_x]", "_meta": {X: {"raw": {"type": "_x", "y": 1}}}},
            {"type": "_x", "y": 1},
        ),
        (
            {"type": "text", "text": "a", "_meta": {X: {"raw": {"type": "text", "text": 5}}}},
            {"type": "text", "text": "a", "_meta": {X: {"raw": {"type": "text", "text": 5}}}},
        ),
        (
            {
                "type": "text",
                "text": "a",
                "annotations": {"audience": [], "_meta": {X: {"audience": ["_x"]}}},
            },
            {"type": "text", "text": "a", "annotations": {"audience": ["_x"]}},
        ),
    ],
)
def test_blocks_say_only_what_v2_allows_and_what_was_kept_comes_back(
    block: Any, expected: Any
) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": block}
    assert told(update)["content"] == expected


# ---- plans


@pytest.mark.rule("XL-04")
def test_the_plan_is_the_main_plan() -> None:
    entries = [{"content": "do", "priority": "high", "status": "pending"}]
    said = told({"sessionUpdate": "plan", "entries": entries, "_meta": {"k": 1}})
    assert said == {
        "sessionUpdate": "plan_update",
        "plan": {"type": "items", "planId": "main", "entries": entries},
        "_meta": {"k": 1},
    }


def test_a_plan_that_was_kept_has_its_id_and_words_again() -> None:
    entry = {"content": "do", "priority": "medium", "status": "completed"}
    kept = {"status": "cancelled", "priority": "_odd"}
    said = told(
        {
            "sessionUpdate": "plan",
            "entries": [{**entry, "_meta": {X: kept}}],
            "_meta": {X: {"planId": "two"}},
        }
    )
    assert said["plan"] == {"type": "items", "planId": "two", "entries": [{**entry, **kept}]}
    other = {"type": "_tree", "planId": "p"}
    plan: dict[str, Any] = {"type": "items", "planId": "p", "entries": []}
    plan["_meta"] = {X: {"raw": other}}
    assert told({"sessionUpdate": "plan_update", "plan": plan})["plan"] == other
    for odd in (5, {"type": "items", "planId": "p"}, {"type": "_x"}, {"type": [1]}):
        plan["_meta"] = {X: {"raw": odd}}
        assert told({"sessionUpdate": "plan_update", "plan": plan})["plan"] == plan


def test_plans_with_ids_are_the_same_in_both() -> None:
    entry = {"content": "do", "priority": "high", "status": "pending"}
    update = {
        "sessionUpdate": "plan_update",
        "plan": {"type": "items", "planId": "p", "entries": [entry]},
    }
    assert told(update) == update
    markdown = {"type": "markdown", "planId": "p", "content": "# Do"}
    update = {"sessionUpdate": "plan_update", "plan": markdown}
    assert told(update, unstable=True) == update
    removed = {"sessionUpdate": "plan_removed", "planId": "p"}
    assert told(removed, unstable=True) == removed


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        ({"type": "markdown", "planId": "p", "content": "# Do"}, "# Do"),
        ({"type": "file", "planId": "p", "uri": "file:///plan"}, "file:///plan"),
        ({"type": "markdown", "planId": "p", "content": ""}, "markdown"),
    ],
)
def test_plans_that_only_unstable_v2_has_are_shown_as_one_task(plan: Any, text: str) -> None:
    said = told({"sessionUpdate": "plan_update", "plan": plan})["plan"]
    assert said["entries"][0]["content"] == text
    assert said["_meta"] == {X: {"raw": plan}}


def test_a_plan_that_is_gone_is_empty_where_v2_cannot_say_so() -> None:
    removed = {"sessionUpdate": "plan_removed", "planId": "p"}
    said = told(removed)
    assert said["plan"] == {"type": "items", "planId": "p", "entries": []}
    assert said["_meta"] == {X: {"raw": removed}}


# ---- the session


def test_commands_have_tags_and_clean_names() -> None:
    hint = {"hint": "what"}
    commands = [
        {"name": "/plan", "description": "Plan", "input": hint},
        {"name": "plan", "description": "Twice"},
        {"name": "two words", "description": "No"},
        {"name": "/", "description": "No"},
        {"name": "go", "description": "Go", "input": None},
    ]
    said = told({"sessionUpdate": "available_commands_update", "availableCommands": commands})
    assert said["availableCommands"] == [
        {
            "type": "command",
            "name": "plan",
            "description": "Plan",
            "input": {"type": "text", **hint},
            "_meta": {X: {"name": "/plan"}},
        },
        {"type": "command", "name": "go", "description": "Go", "input": None},
    ]
    assert said["_meta"] == {X: {"availableCommands": commands[1:4]}}


def test_commands_that_were_kept_come_back() -> None:
    other = {"type": "_menu", "name": "m", "description": "Menu"}
    fields = {"type": "_form", "fields": []}
    commands = [
        {"name": "m", "description": "Menu", "_meta": {X: {"raw": other}}},
        {"name": "n", "description": "Not m", "_meta": {X: {"raw": other}}},
        {"name": "f", "description": "Form", "_meta": {X: {"input": fields}}},
        {"name": "g", "description": "Odd", "_meta": {X: {"input": 5, "raw": 5}}},
        {"name": "h", "description": "Odd", "_meta": {X: {"raw": {"type": "command"}}}},
    ]
    said = told({"sessionUpdate": "available_commands_update", "availableCommands": commands})
    assert said["availableCommands"] == [
        other,
        {"type": "command", "name": "n", "description": "Not m"},
        {"type": "command", "name": "f", "description": "Form", "input": fields},
        {"type": "command", **commands[3]},
        {"type": "command", **commands[4]},
    ]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("2026-02-04T10:00:00Z", "2026-02-04T10:00:00Z"),
        ("2026-02-04", "2026-02-04T00:00:00Z"),
        ("2026-02-04 10:00", "2026-02-04T10:00:00Z"),
        ("2026-02-04t10:00:01,5z", "2026-02-04T10:00:01.5Z"),
        ("2026-02-04T10:00:00+0130", "2026-02-04T10:00:00+01:30"),
        ("2026-02-04T10:00:00-02", "2026-02-04T10:00:00-02:00"),
    ],
)
def test_times_are_written_as_v2_wants_them(said: str, expected: str) -> None:
    update = told({"sessionUpdate": "session_info_update", "title": None, "updatedAt": said})
    assert (update["title"], update["updatedAt"]) == (None, expected)
    assert update.get("_meta") == (None if said == expected else {X: {"updatedAt": said}})


def test_what_is_no_time_is_kept_and_not_said() -> None:
    update = told({"sessionUpdate": "session_info_update", "updatedAt": "yesterday"})
    assert update == {
        "sessionUpdate": "session_info_update",
        "_meta": {X: {"updatedAt": "yesterday"}},
    }
    cleared = {"sessionUpdate": "session_info_update", "updatedAt": None}
    assert told(cleared) == cleared


def test_a_cost_of_null_says_nothing_unless_it_was_kept() -> None:
    usage = {"sessionUpdate": "usage_update", "used": 1, "size": 2}
    assert told({**usage, "cost": None}) == usage
    cost = {"amount": 1.5, "currency": "EUR"}
    assert told({**usage, "cost": cost}) == {**usage, "cost": cost}
    assert told({**usage, "_meta": {X: {"cost": None}}}) == {**usage, "cost": None}
    assert told({**usage, "_meta": {X: {"cost": 5}}})["_meta"] == {X: {"cost": 5}}


@pytest.mark.parametrize(
    "update",
    [
        {"sessionUpdate": "notice", "severity": "warning", "title": "Careful"},
        {"sessionUpdate": "compaction_update", "compactionId": "c", "status": "in_progress"},
        {
            "sessionUpdate": "compaction_update",
            "compactionId": "c",
            "status": "completed",
            "summary": [{"type": "text", "text": "short"}],
        },
        {
            "sessionUpdate": "compaction_summary_chunk",
            "compactionId": "c",
            "content": {"type": "text", "text": "short"},
        },
    ],
)
def test_notices_and_compactions_are_the_same_in_both(update: Any) -> None:
    assert told(update) == update


def test_an_update_that_v2_has_no_form_for_is_dropped_and_counted() -> None:
    stage = Stage()
    stage.working()
    stage.update({"sessionUpdate": "state_update", "state": "idle"})
    stage.update({"sessionUpdate": "subagent_update", "sessionId": "child"})
    assert stage.updates() == []
    assert stage.adapter.losses == {"update state_update": 1, "update subagent_update": 1}


def test_in_strict_mode_an_update_without_form_is_not_sent_but_the_prompt_is_inserted() -> None:
    stage = Stage(strict=True)
    stage.start()
    stage.new()
    key = stage.prompt()
    stage.update({"sessionUpdate": "_odd"})
    assert stage.said() == ["user_message", "running"]
    assert "messageId" in stage.answer(key)


def test_child_sessions_are_watched_where_unstable_is_on() -> None:
    stage = Stage(unstable=True)
    stage.working()
    update = {
        "sessionUpdate": "subagent_update",
        "sessionId": "child",
        "state": {"state": "unknown", "_meta": {X: {"state": "_waits"}}},
    }
    stage.update(update)
    assert stage.updates() == [{**update, "state": {"state": "_waits"}}]
    stage.update({"sessionUpdate": "subagent_update", "sessionId": "child", "title": "Again"})
    stage.update(chunk("from the child"), "child")
    message = {
        "sessionUpdate": "session_message",
        "messageId": "m",
        "content": [{"type": "text", "text": "do"}],
    }
    stage.update(message)
    stage.update({"sessionUpdate": "session_message", "messageId": "m"})
    more = {
        "sessionUpdate": "session_message_chunk",
        "messageId": "m",
        "content": {"type": "text", "text": "it"},
    }
    stage.update(more)
    assert stage.said() == [
        "subagent_update",
        "agent_message from the child",
        "session_message",
        "session_message",
        "session_message it",
    ]
    asked = {"sessionId": "child", "toolCall": {"toolCallId": "t"}, "options": []}
    key = stage.ask("session/request_permission", asked, AGENT)
    stage.tell("session/cancel", {"sessionId": "child"})
    assert stage.told_agent("session/cancel") == [{"sessionId": "child"}]
    assert stage.answer(key) == {"outcome": {"outcome": "cancelled"}}
    assert stage.updates() == []
