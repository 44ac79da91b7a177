"""The tables between the 2026-02 draft and the official versions, row by row."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.schema.draft import errors as draft_errors
from accord.schema.draft.enumeration_openness import ENUMS
from accord.translate.draft import value_tables as tables
from accord.translate.draft.value_tables import from_draft_error, to_draft_error
from accord.translate.meta_store import DRAFT

ROWS = [
    (-32700, -32700, None),
    (-32600, -32600, None),
    (-32601, -32601, None),
    (-32602, -32602, None),
    (-32603, -32603, None),
    (-32000, -32002, {"sessionId": "s"}),
    (-32001, -32000, None),
    (-32002, -32052, {"reason": "permission_denied"}),
    (-32003, -32800, None),
    (-32004, -32002, {"uri": ""}),
    (-32005, -32055, {"reason": "access_denied"}),
    (-32006, -32056, {"reason": "invalid_session_state"}),
    (-32007, -32601, {"reason": "capability_not_supported"}),
    (-32008, -32058, {"reason": "rate_limited"}),
    (-32009, -32059, {"reason": "timeout"}),
]


@pytest.mark.rule("D26-33")
@pytest.mark.parametrize(("draft", "official", "data"), ROWS)
def test_every_code_of_the_draft_has_its_row(
    draft: int, official: int, data: dict[str, Any] | None
) -> None:
    """The draft's table 9."""
    assert from_draft_error(draft, None, "s") == (official, data)
    code, back = to_draft_error(official, data)
    assert code == draft
    assert back in (None, data)


@pytest.mark.rule("D26-33")
def test_no_code_of_the_draft_is_forgotten() -> None:
    """The draft's table 9."""
    assert {row[0] for row in ROWS} == set(draft_errors.CODES)


def test_members_of_the_data_survive_both_ways() -> None:
    """`retryAfter` and `suggestion` are kept (the draft's table 9)."""
    data = {"retryAfter": 3, "suggestion": "wait"}
    code, official = from_draft_error(-32008, data)
    assert official == {**data, "reason": "rate_limited"}
    assert to_draft_error(code, official) == (-32008, data)


def test_a_reason_of_its_own_is_not_replaced() -> None:
    """A session that expired keeps that word on both sides (the draft's table 3.4)."""
    assert from_draft_error(-32006, {"reason": "expired"}) == (-32056, {"reason": "expired"})
    assert to_draft_error(-32056, {"reason": "expired"}) == (-32006, {"reason": "expired"})


@pytest.mark.parametrize("code", [-32001, -32029, -32603, 429])
def test_the_reason_decides_before_the_number(code: int) -> None:
    """Rate limits are told by reason first (contradiction 47)."""
    assert to_draft_error(code, {"reason": "rate_limited"}) == (-32008, {"reason": "rate_limited"})


def test_not_found_is_a_session_or_a_resource() -> None:
    """The draft's table 9: `data.sessionId`, or the call named a session; others are resources."""
    assert to_draft_error(-32002, {"sessionId": "s"})[0] == -32000
    assert to_draft_error(-32002, None, True)[0] == -32000
    assert to_draft_error(-32002, {"uri": "file:///a"}, True)[0] == -32004
    assert to_draft_error(-32002, None)[0] == -32004


def test_a_missing_file_names_its_uri() -> None:
    """The draft's table 9: `data.uri`."""
    assert from_draft_error(-32004, {"path": "/a"}) == (-32002, {"path": "/a", "uri": "/a"})
    assert from_draft_error(-32004, {"uri": "x"}) == (-32002, {"uri": "x"})
    assert from_draft_error(-32004, "gone") == (-32002, {"uri": "", "details": "gone"})


@pytest.mark.parametrize("code", [-32001, -32003, -32004, -32009, -32022])
@pytest.mark.parametrize(
    "data",
    [None, {"a": 1}, "text", [1], {"_meta": {"vendor": 1}, "a": 1}, {"_meta": {DRAFT: {}}}],
)
def test_a_number_without_a_row_hides_and_comes_back(code: int, data: Any) -> None:
    """Numbers that the draft uses otherwise never reach it (the draft's table 9, collisions)."""
    draft, kept = to_draft_error(code, data)
    assert draft in (-32603, -32602)
    assert kept["_meta"][DRAFT]["code"] == code
    restored, back = from_draft_error(draft, kept)
    assert restored == code
    assert back == (None if data == {"_meta": {DRAFT: {}}} else data)


@given(st.integers(-33000, 1000), st.none() | st.dictionaries(st.text(max_size=3), st.integers()))
def test_no_official_meaning_of_the_drafts_numbers_gets_through(code: int, data: Any) -> None:
    """D26-33."""
    draft, _ = to_draft_error(code, data)
    if -32009 <= draft <= -32000:
        official, _ = from_draft_error(draft, data)
        assert to_draft_error(official, data, draft == -32000)[0] in (draft, -32601)
    else:
        assert draft == code or draft in (-32603, -32602)


def test_a_foreign_kept_code_is_not_believed() -> None:
    """Only a number that we hid ourselves is restored."""
    data = {"_meta": {DRAFT: {"code": 7}}}
    assert from_draft_error(-32603, data) == (-32603, data)


def test_stop_reasons() -> None:
    """The draft's table 3.5."""
    assert {to: tables.to_draft_stop(to) for to in tables.STOPS_TO_DRAFT} == {
        "end_turn": "end_turn",
        "cancelled": "cancelled",
        "max_tokens": "max_tokens",
        "max_turn_requests": "max_tokens",
        "refusal": "end_turn",
    }
    assert tables.to_draft_stop("made up") == "end_turn"
    words = {*tables.STOPS_FROM_DRAFT, tables.STOP_ERROR}
    assert words == set(ENUMS["StopReason"].values)


def test_operations_and_kinds() -> None:
    """The draft's table 4.1."""
    assert set(tables.OPERATION_KINDS) == set(ENUMS["PermissionOperation"].values)
    for operation in tables.OPERATION_KINDS:
        assert tables.operation_of_kind(tables.kind_of_operation(operation)) == operation
    assert tables.operation_of_kind("move") == "file_write"
    assert tables.operation_of_kind("search") == "file_read"
    assert tables.operation_of_kind("think") == "mcp_tool"
    assert tables.operation_of_kind("made up") == "mcp_tool"
    assert tables.kind_of_operation("made up") == "other"


def test_an_agent_that_says_a_kind_means_its_operation() -> None:
    """Issue 12: a rule that rejects `execute` was passed by the operation `execute`."""
    assert tables.known_operation("execute") == "terminal_execute"
    assert tables.known_operation("edit") == "file_write"
    for operation in (*tables.OPERATION_KINDS, "think", "made up"):
        assert tables.known_operation(operation) == operation


GRANTS = [
    ("once", {"granted": True, "scope": "once", "remember": False}),
    ("session", {"granted": True, "scope": "session", "remember": True}),
    ("workspace", {"granted": True, "scope": "workspace", "remember": True}),
    ("always", {"granted": True, "scope": "always", "remember": True}),
    ("deny", {"granted": False, "remember": False}),
    ("deny_always", {"granted": False, "remember": True}),
    (None, {"granted": False}),
    ("nobody offered this", {"granted": False}),
]


@pytest.mark.rule("D26-10")
@pytest.mark.parametrize(("option", "grant"), GRANTS)
def test_what_an_option_grants(option: str | None, grant: dict[str, Any]) -> None:
    """The draft's table 4.1."""
    assert tables.grant_of(option) == grant


ALL = [("a1", "allow_once"), ("aa", "allow_always"), ("r1", "reject_once"), ("ra", "reject_always")]


@pytest.mark.parametrize(
    ("granted", "scope", "remember", "chosen"),
    [
        (True, "once", False, "a1"),
        (True, None, False, "a1"),
        (True, None, True, "aa"),
        (True, "once", True, "aa"),
        (True, "session", False, "aa"),
        (True, "workspace", False, "aa"),
        (True, "always", True, "aa"),
        (False, None, False, "r1"),
        (False, None, True, "ra"),
    ],
)
def test_the_option_that_says_what_the_user_said(
    granted: bool, scope: str | None, remember: bool, chosen: str
) -> None:
    """The draft's table 4.1."""
    assert tables.choose_option(granted, scope, remember, ALL) == chosen


def test_a_missing_option_falls_back_and_never_turns_a_no_into_a_yes() -> None:
    """The draft's table 4.1."""
    assert tables.choose_option(True, "always", True, ALL[:1]) == "a1"
    assert tables.choose_option(False, None, True, ALL[2:3]) == "r1"
    assert tables.choose_option(True, "once", False, ALL[1:]) is None
    assert tables.choose_option(False, None, False, ALL[:2]) is None


STATUSES = sorted(ENUMS["ToolCallStatus"].values)


@pytest.mark.rule("D26-32")
@pytest.mark.parametrize("now", STATUSES)
@pytest.mark.parametrize("wanted", STATUSES)
def test_every_way_between_statuses_is_made_of_legal_steps(now: str, wanted: str) -> None:
    """The draft's table 5.1."""
    steps = tables.steps_to(now, wanted)
    for before, after in zip([now, *steps], steps, strict=False):
        assert after in tables.NEXT_STATUSES[before]
    if wanted in tables.FINAL_STATUSES and now not in tables.FINAL_STATUSES:
        assert steps[-1] in tables.FINAL_STATUSES
    if now in tables.FINAL_STATUSES:
        assert steps == ()


@pytest.mark.rule("D26-32")
def test_a_cancelled_permission_is_a_denial() -> None:
    """The draft's table 5.1."""
    assert tables.steps_to("awaiting_permission", "cancelled") == ("denied",)
    assert tables.steps_to("in_progress", "denied") == ("failed",)
    assert set(tables.STATUSES_FROM_DRAFT) == set(STATUSES)


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("fs/read_text_file", "read"),
        ("fs/write_text_file", "edit"),
        ("fs/delete", "delete"),
        ("terminal/create", "execute"),
        ("web/fetch", "fetch"),
        ("http_get", "fetch"),
        ("search_files", "search"),
        ("grep", "search"),
        ("ponder", "other"),
    ],
)
def test_the_kind_of_a_tool(tool: str, kind: str) -> None:
    """The draft's table 5.1."""
    assert tables.kind_of_tool(tool) == kind


def test_the_title_of_a_tool() -> None:
    """The draft's table 5.1."""
    assert tables.title_of_tool("fs/read", {"path": "/a"}) == "fs/read /a"
    assert tables.title_of_tool("terminal/create", {"path": 1, "command": "ls"}) == (
        "terminal/create ls"
    )
    assert tables.title_of_tool("think", [1]) == "think"


@pytest.mark.parametrize(
    ("draft", "official"),
    [
        ("pending", "pending"),
        ("in_progress", "in_progress"),
        ("completed", "completed"),
        ("skipped", "pending"),
        ("cancelled", "pending"),
        ("failed", "pending"),
        ("made up", "pending"),
    ],
)
def test_the_status_of_a_plan_step(draft: str, official: str) -> None:
    """The draft's table 5."""
    assert tables.from_draft_plan_status(draft) == official


def test_the_exit_code_that_the_draft_demands() -> None:
    """The draft's table 4.3."""
    assert tables.exit_code_of(3, "SIGTERM") == 3
    assert tables.exit_code_of(None, "SIGTERM") == 143
    assert tables.exit_code_of(None, "kill") == 137
    assert tables.exit_code_of(None, "SIGODD") == -1
    assert tables.exit_code_of(None, None) == -1
