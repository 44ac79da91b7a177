"""Plans: one, several, and those that are text."""

from typing import Any

import pytest

from accord.translate.v2_agent.updates import plans as plans_module
from tests.translate.v2_agent.scripted_peers import World, X, started


def _entry(content: str, status: str = "pending", priority: str = "high") -> dict[str, Any]:
    return {"content": content, "status": status, "priority": priority}


def _plan(plan_id: str, *entries: dict[str, Any], **fields: Any) -> dict[str, Any]:
    plan = {"type": "items", "planId": plan_id, "entries": list(entries)}
    return {"sessionUpdate": "plan_update", "plan": plan, **fields}


def _text(plan_id: str, kind: str = "markdown", **fields: Any) -> dict[str, Any]:
    return {"sessionUpdate": "plan_update", "plan": {"type": kind, "planId": plan_id, **fields}}


def _one(world: World, update: dict[str, Any]) -> dict[str, Any]:
    [said] = world.update(update)
    assert said["sessionUpdate"] == "plan"
    return said


def test_one_plan_is_the_plan() -> None:
    """translate 8: its id is kept."""
    world = started()
    said = _one(world, _plan("p", _entry("1"), _entry("2", "completed", "low"), _meta={"k": 1}))
    assert said == {
        "sessionUpdate": "plan",
        "entries": [_entry("1"), _entry("2", "completed", "low")],
        "_meta": {"k": 1, X: {"planId": "p"}},
    }
    assert world.losses == {}


def test_a_plan_that_is_gone_is_empty() -> None:
    """translate 8: of the shown plan."""
    world = started()
    world.update(_plan("p", _entry("1")))
    assert world.update({"sessionUpdate": "plan_removed", "planId": "q"}) == []
    said = _one(world, {"sessionUpdate": "plan_removed", "planId": "p"})
    assert said["entries"] == []


def test_a_plan_that_is_text_is_said_once() -> None:
    """translate 8: to a client without `plan`."""
    world = started()
    [said] = world.update(_text("p", content="# Plan"))
    assert said["sessionUpdate"] == "agent_message_chunk"
    assert said["content"] == {"type": "text", "text": "# Plan"}
    assert said["_meta"][X]["raw"]["plan"]["planId"] == "p"
    assert world.update(_text("p", content="# Plan 2")) == []
    assert world.losses == {"plan": 1, "plan as text": 1}
    [said] = world.update(_text("q", "file", uri="file:///plan.md"))
    assert said["content"]["text"] == "The plan is in file:///plan.md"
    [said] = world.update(_text("r", "_drawing"))
    assert said["content"]["text"] == "[_drawing]"


def test_tasks_that_become_text_are_gone() -> None:
    """V2: an update replaces the plan, whatever its type."""
    world = started()
    world.update(_plan("p", _entry("1")))
    [plan, text] = world.update(_text("p", content="# Plan"))
    assert plan["entries"] == []
    assert text["content"]["text"] == "# Plan"


def test_a_client_with_plans_is_told_as_v2_tells() -> None:
    """translate 8: client `plan`."""
    world = started({"plan": {}})
    for update in (
        _plan("p", _entry("1")),
        _plan("q", _entry("2")),
        _text("r", content="# Plan"),
        _text("r", "file", uri="file:///p"),
        {"sessionUpdate": "plan_removed", "planId": "q"},
    ):
        assert world.update(update) == [update]
    [said] = world.update(_text("r", "_drawing", lines=[1]))
    assert said["plan"] == {
        "type": "items",
        "planId": "r",
        "entries": [],
        "_meta": {X: {"raw": {"type": "_drawing", "planId": "r", "lines": [1]}}},
    }


def test_v1s_own_words_for_plans_come_back() -> None:
    """translate 8: kept on tasks where v2 is stable only."""
    world = started({"plan": {}})
    raw = {"type": "markdown", "planId": "p", "content": "# Plan"}
    kept = _plan("p", _entry("# Plan"))
    kept["plan"]["_meta"] = {X: {"raw": raw}}
    assert world.update(kept) == [{"sessionUpdate": "plan_update", "plan": raw}]
    gone = {"sessionUpdate": "plan_removed", "planId": "p"}
    assert world.update(_plan("p", _meta={X: {"raw": gone}})) == [gone]
    for odd in (
        {"type": "markdown", "planId": "p"},
        {"planId": "x"},
        5,
        {"planId": "p", "type": 1},
    ):
        update = _plan("p", _meta={X: {"raw": odd}})
        update["plan"]["_meta"] = {X: {"raw": odd}}
        assert world.update(update) == [update]


def test_only_so_many_plans_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: memory is bounded."""
    monkeypatch.setattr(plans_module, "PLANS_KEPT", 1)
    world = started()
    world.update(_plan("p", _entry("1")))
    assert _one(world, _plan("q", _entry("2")))["entries"] == [_entry("2")]
    world.update(_text("p", content="a"))
    world.update(_text("r", content="b"))
    assert len(world.update(_text("p", content="a"))) == 1
