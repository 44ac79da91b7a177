"""Tool calls and diffs of a v1 agent as v2's upserts (the translation's table 8 and 10)."""

from typing import Any

import pytest

from accord.translate.v1_agent.tool_calls import DIFF_CHARS_KEPT, DIFFS_KEPT
from tests.translate.v1_agent.agent_messages import tool
from tests.translate.v1_agent.scripted_peers import Stage

X = "acp.translate"
TEXT = {"type": "content", "content": {"type": "text", "text": "out"}}


def told(update: dict[str, Any], **how: Any) -> Any:
    stage = Stage(**how)
    stage.working()
    stage.update(update)
    (said,) = stage.updates()
    return said


def content(*items: Any) -> list[Any]:
    found: list[Any] = told(tool(title="T", content=list(items)))["content"]
    return found


@pytest.mark.rule("XL-02")
def test_both_updates_become_one_with_all_their_fields() -> None:
    fields = {
        "title": "Read",
        "name": "read_file",
        "kind": "read",
        "status": "pending",
        "content": [TEXT],
        "locations": [{"path": "/a", "line": 3}],
        "rawInput": {"path": "/a"},
        "rawOutput": [1],
        "_meta": {"k": 1},
    }
    expected = {"sessionUpdate": "tool_call_update", "toolCallId": "t1", **fields}
    assert told(tool(**fields)) == expected
    assert told(tool("tool_call_update", **fields)) == expected


def test_a_null_of_v1_says_nothing() -> None:
    names = ("title", "kind", "status", "name", "content", "locations", "rawInput", "rawOutput")
    nothing = dict.fromkeys((*names, "_meta"))
    said = told(tool("tool_call_update", **nothing))
    assert said == {"sessionUpdate": "tool_call_update", "toolCallId": "t1"}


def test_a_line_of_zero_is_no_line() -> None:
    said = told(tool(title="T", locations=[{"path": "/a", "line": 0}, {"path": "/b", "line": 1}]))
    assert said["locations"] == [
        {"path": "/a", "_meta": {X: {"line": 0}}},
        {"path": "/b", "line": 1},
    ]


def test_nobody_can_cancel_a_call_by_itself_whatever_the_agent_says() -> None:
    said = told({**tool(title="T"), "capabilities": {"cancel": {}}})
    assert "capabilities" not in said
    assert said["_meta"] == {X: {"capabilities": {"cancel": {}}}}


def test_what_v1_could_not_say_of_a_call_comes_back() -> None:
    kept = {"status": "paused", "kind": "_odd", "rawOutput": None, "name": None}
    said = told(
        tool("tool_call_update", status="in_progress", kind="other", _meta={X: kept, "k": 1})
    )
    assert said == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t1",
        **kept,
        "_meta": {"k": 1},
    }
    odd = {"status": 5, "rawInput": 1, "capabilities": {"cancel": {}}}
    assert told(tool("tool_call_update", _meta={X: odd}))["_meta"] == {X: odd}


@pytest.mark.parametrize("word", ["denied", "cancelled"])
def test_what_a_draft_agent_stopped_is_cancelled_in_v2(word: str) -> None:
    """Draft, 5.1: v1 has no word for it, v2 does, and the draft's own stays beside it."""
    kept = {"acp.draft/2026-02": {"status": word}}
    assert told(tool("tool_call_update", status="failed", _meta=kept)) == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t1",
        "status": "cancelled",
        "_meta": kept,
    }
    other = {"acp.draft/2026-02": {"status": "awaiting_permission"}}
    assert told(tool("tool_call_update", status="failed", _meta=other))["status"] == "failed"


def test_two_texts_become_a_patch_and_are_kept() -> None:
    """Lossy point 3: v2 has no field for the texts; they are kept."""
    (said,) = content({"type": "diff", "path": "/a", "oldText": "x\n", "newText": "y\n"})
    assert said["changes"] == [{"operation": "modify", "path": "/a"}]
    assert said["patch"] == {
        "format": "git_patch",
        "text": "diff --git /a /a\n--- /a\n+++ /a\n@@ -1 +1 @@\n-x\n+y\n",
    }
    assert said["_meta"] == {X: {"oldText": "x\n", "newText": "y\n"}}


@pytest.mark.parametrize("old", [{}, {"oldText": None}])
def test_a_file_without_an_old_text_is_added(old: dict[str, None]) -> None:
    (said,) = content({"type": "diff", "path": "/a", "newText": "y\n", **old})
    assert said["changes"] == [{"operation": "add", "path": "/a"}]
    assert said["_meta"] == {X: {**old, "newText": "y\n"}}


def test_a_diff_that_is_sent_again_is_not_made_again() -> None:
    stage = Stage()
    stage.working()
    small = {"type": "diff", "path": "/a", "oldText": "x\n", "newText": "y\n"}
    large = {**small, "newText": "y\n" * DIFF_CHARS_KEPT}
    for _ in range(2):
        stage.update(tool(title="T", content=[small, large]))
    first, second = stage.updates()
    assert first == second
    for count in range(2 * DIFFS_KEPT):
        stage.update(tool(title="T", content=[{**small, "newText": str(count)}]))
    assert len({one["content"][0]["patch"]["text"] for one in stage.updates()}) == 2 * DIFFS_KEPT


def test_changes_that_were_kept_come_back_as_one_diff() -> None:
    changes = [{"operation": "modify", "path": "/a"}, {"operation": "delete", "path": "/b"}]
    patch = {"format": "git_patch", "text": "diff"}
    first = {"type": "diff", "path": "/a", "oldText": "x", "newText": "y"}
    second = {"type": "diff", "path": "/b", "oldText": "x", "newText": ""}
    said = content(
        {**first, "_meta": {X: {"changes": changes, "patch": patch}}},
        {**second, "_meta": {X: {"continues": True}}},
        TEXT,
        {**TEXT, "_meta": {X: {"continues": True}}},
    )
    assert said == [
        {"type": "diff", "changes": changes, "patch": patch},
        TEXT,
        {**TEXT, "_meta": {X: {"continues": True}}},
    ]
    (odd,) = content({**first, "_meta": {X: {"changes": [5]}}})
    assert odd["changes"] == [{"operation": "modify", "path": "/a"}]


def test_content_that_was_replaced_by_a_line_comes_back() -> None:
    moved = {"type": "diff", "changes": [{"operation": "move", "oldPath": "/a", "path": "/b"}]}
    own = {"type": "_chart", "points": [1]}
    said = content(*({**TEXT, "_meta": {X: {"raw": raw}}} for raw in (moved, own)))
    assert said == [moved, own]
    for raw in (
        {"type": "diff"},
        {"type": "content"},
        {"type": "terminal", "terminalId": "other"},
        {"type": "terminal", "terminalId": ["x"]},
        {"type": 5},
        {"type": ["diff"]},
        "x",
    ):
        item = {**TEXT, "_meta": {X: {"raw": raw}}}
        assert content(item) == [item]


@pytest.mark.rule("XL-01")
def test_a_terminal_that_nobody_runs_here_is_not_shown_as_one() -> None:
    """Lossy point 10: terminals of the client."""
    stage = Stage()
    stage.working()
    item = {"type": "terminal", "terminalId": "x1"}
    stage.update(tool(title="T", content=[item]))
    (said,) = stage.updates()
    assert said["content"] == [
        {
            "type": "content",
            "content": {"type": "text", "text": "[terminal x1]"},
            "_meta": {X: {"raw": item}},
        }
    ]
    assert stage.adapter.losses == {"terminal content": 1}
    strict = Stage(strict=True)
    strict.working()
    strict.update(tool(title="T", content=[item]))
    assert strict.updates() == []
    assert "terminal content" in strict.around.said[-1]
