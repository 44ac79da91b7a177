"""The error codes of the 2026-02 draft and the official ones, row by row."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.schema.draft import errors as draft_errors
from accord.translate.draft.error_codes import from_draft_error, to_draft_error
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
