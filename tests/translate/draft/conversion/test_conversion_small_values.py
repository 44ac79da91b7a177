"""Plans, commands, options, capabilities, servers and timers."""

from typing import Any

import pytest

from accord.translate.draft.bridge import Timers
from accord.translate.draft.conversion import config_options as option_bounds
from accord.translate.draft.conversion.capabilities import client_to_draft, program_to_draft
from accord.translate.draft.conversion.config_options import (
    chosen_value,
    is_untold,
    made_option,
    meant_option,
    same,
    setting_for,
    value_of,
    with_value,
)
from accord.translate.draft.conversion.mcp_servers import server_from_draft, server_to_draft
from accord.translate.draft.conversion.meta_restore import fits, keep_all, restore
from accord.translate.draft.conversion.plans_and_commands import (
    commands_from_draft,
    commands_to_draft,
    plan_from_draft,
    plan_to_draft,
)
from accord.translate.message import AGENT, Notification
from accord.translate.meta_store import DRAFT


def _kept(**kept: Any) -> Any:
    return {"_meta": {DRAFT: kept}}


# ---- plans and commands


@pytest.mark.parametrize(
    ("status", "official"),
    [
        ("pending", "pending"),
        ("in_progress", "in_progress"),
        ("completed", "completed"),
        ("skipped", "pending"),
        ("cancelled", "pending"),
        ("failed", "pending"),
    ],
)
def test_a_plan_of_the_draft(status: str, official: str) -> None:
    """The draft's table 5."""
    data = {
        "planId": "p",
        "steps": [{"id": "x", "description": "dig", "status": status}],
        "_meta": {"y": 1},
    }
    made = plan_from_draft(data)
    kept: Any = {"id": "x"} if status == official else {"id": "x", "status": status}
    assert made == {
        "sessionUpdate": "plan",
        "entries": [{"content": "dig", "priority": "medium", "status": official, **_kept(**kept)}],
        "_meta": {"y": 1, DRAFT: {"planId": "p"}},
    }
    assert plan_to_draft(made) == data


def test_a_plan_of_v1_comes_back() -> None:
    """The draft's table 5."""
    entries = [
        {"content": "dig", "priority": "high", "status": "pending", "_meta": {"x": 1}},
        {"content": "sow", "priority": "medium", "status": "completed"},
    ]
    update = {"sessionUpdate": "plan", "entries": entries}
    assert plan_from_draft(plan_to_draft(update)) == update


def test_a_status_that_was_kept_of_another_time_is_not_believed() -> None:
    """Ours: the agent's word of now counts."""
    entry = {"content": "a", "priority": "low", "status": "completed", **_kept(status="failed")}
    made = plan_to_draft({"sessionUpdate": "plan", "entries": [entry]})
    assert made["steps"][0]["status"] == "completed"


def test_commands_of_v1_come_back() -> None:
    """The draft's table 5."""
    update = {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [
            {"name": "a", "description": "A", "input": {"hint": "h"}},
            {"name": "b", "description": "B", "_meta": {"x": 1}},
        ],
        "_meta": {"x": 1},
    }
    assert commands_from_draft(commands_to_draft(update)) == update


# ---- options


def test_true_is_not_one() -> None:
    """JSON."""
    assert not same(True, 1)
    assert same(1, 1.0)


def test_an_option_of_the_draft_offers_what_was_met(monkeypatch: pytest.MonkeyPatch) -> None:
    """The draft's table 7: the current value is the only one known."""
    monkeypatch.setattr(option_bounds, "VALUES_MAX", 2)
    options = with_value([made_option("depth")], "depth", "a", booleans=True)
    assert with_value(options, "depth", "a", booleans=True) == options
    options = [made_option("depth")]
    for value in ("a", 3, "", "a", [1]):
        options = with_value(options, "depth", value, booleans=False)
        assert value_of(options[0]) == value
    assert len(options[0]["options"]) == 2
    options = with_value(options, "depth", True, booleans=False)
    assert options[0]["currentValue"] == "true"
    options = with_value(options, "depth", True, booleans=True)
    assert options[0] == {"id": "depth", "name": "depth", "type": "boolean", "currentValue": True}
    options = with_value(options, "depth", False, booleans=False)
    assert options[0]["currentValue"] is False
    options = with_value(options, "depth", "x", booleans=True)
    assert options[0]["type"] == "select"


def test_options_are_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: no peer can fill our memory."""
    monkeypatch.setattr(option_bounds, "OPTIONS_MAX", 2)
    options: list[Any] = []
    for key in "abc":
        options = with_value(options, key, 1, booleans=True)
    assert [one["id"] for one in options] == ["b", "c"]


def test_a_value_outside_of_all_groups_gets_one() -> None:
    """V1: a list of values or of groups, never both."""
    groups = [{"group": "g", "name": "G", "options": [{"value": "a", "name": "A"}]}]
    option = {"id": "o", "name": "O", "type": "select", "currentValue": "a", "options": groups}
    (made,) = with_value([option], "o", "b", booleans=True)
    assert made["options"][1]["options"] == [{"value": "b", "name": "b"}]
    assert value_of(made) == "b"


def test_values_that_were_kept_are_set_by_what_they_are() -> None:
    """The draft's table 3.7."""
    (option,) = with_value([made_option("o")], "o", {"a": 1}, booleans=True)
    assert setting_for(option, {"a": 1}) == {"value": '{"a":1}'}
    assert chosen_value(option, "other") == "other"
    assert chosen_value(option, True) is True
    assert chosen_value(None, "x") == "x"
    assert not is_untold(option, "default")
    assert value_of({"currentValue": "gone", "options": []}) == "gone"


# ---- the rest


def test_what_a_draft_client_had_said_of_itself_comes_back() -> None:
    """The draft's table 7."""
    capabilities = {
        "fs": {"readTextFile": True},
        "_meta": {DRAFT: {"fs": {"watch": True}, "ui": {"diffViewer": True}, "terminal": 5}},
    }
    made = client_to_draft(capabilities)
    assert made["fs"] == {"watch": True, "read": True, "write": False}
    assert made["ui"] == {"diffViewer": True, "permissionDialogs": True}
    assert made["terminal"] == {"create": False}
    odd = {"_meta": {DRAFT: {"fs": {"watch": 5}}}}
    assert client_to_draft(odd)["fs"] == {"read": False, "write": False}
    assert program_to_draft(None) == {"name": "unknown", "version": "0"}


def test_a_server_reached_over_acp_keeps_its_address() -> None:
    """The draft's table 8."""
    transport = {"type": "acp", "agentUrl": "acp://x", "mcpServerName": "m"}
    server = {"name": "n", "transport": transport}
    assert server_to_draft(server_from_draft(server)) == server
    remote = {"name": "n", "type": "http", "url": "u", "headers": []}
    assert server_to_draft(remote) == {"name": "n", "transport": {"type": "http", "url": "u"}}


def test_what_was_kept_is_used_only_where_it_fits() -> None:
    """contradiction 46: malformed is as if nothing had been kept."""
    kept = {"a": 5, "b": 6}
    assert restore({"x": 1}, kept, ("a",), dict[str, int]) == {"x": 1, "a": 5}
    assert kept == {"b": 6}
    assert restore({"x": 1}, kept, ("b",), dict[str, str]) == {"x": 1}
    assert not fits(int, object())
    holder: Any = {"_meta": {DRAFT: 5}}
    keep_all(holder, {"a": 1})
    assert holder == _kept(a=1)
    keep_all(holder, {"b": 2})
    assert holder == _kept(a=1, b=2)


def test_timers_come_up_in_order_and_never_when_cancelled() -> None:
    """Ours."""
    timers = Timers()
    out = (AGENT, Notification("x", {}))
    first = timers.start(2.0, lambda: [out])
    second = timers.start(1.0, list)
    timers.start(3.0, list)
    timers.cancel(None)
    assert timers.next_at == 1.0
    timers.cancel(second)
    assert timers.next_at == 2.0
    middle = timers.start(2.5, list)
    timers.cancel(middle)
    assert timers.due(2.6) == [out]
    timers.cancel(first)
    assert timers.next_at == 3.0
    assert timers.due(9.0) == []
    assert timers.next_at is None


@pytest.mark.parametrize(
    ("known", "key", "meant"),
    [
        (("auto_approve",), "autoApprove", "auto_approve"),
        (("auto_approve", "autoApprove"), "autoApprove", "autoApprove"),
        ((), "maxTokens", "maxTokens"),
        (("token_limit",), "depth", "depth"),
    ],
)
def test_the_common_options_of_the_draft_stand_for_ours(
    known: tuple[str, ...], key: str, meant: str
) -> None:
    """Issue 15: where the agent calls them otherwise."""
    assert meant_option(known, key) == meant
