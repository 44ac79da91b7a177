"""What each mode allows, asks for and refuses."""

import pytest

from accord.builtin.modes import (
    DEFAULT_MODE,
    MODES,
    decision,
    refusal,
)

KINDS = ("read", "search", "think", "edit", "delete", "move", "execute", "fetch", "other")
# One letter for each kind above: allow, ask ("?"), refuse ("-").
TABLE = {
    "ask": "aaa??????",
    "read-only": "aaa----?-",
    "auto-edit": "aaaaaa???",
    "full-access": "aaaaaaaaa",
    "plan": "aaa----?-",
}
WORDS = {"a": "allow", "?": "ask", "-": "refuse"}


@pytest.mark.parametrize("mode", TABLE)
def test_the_table_is_what_the_modes_promise(mode: str) -> None:
    """Issue: modes change real policy."""
    assert [decision(mode, kind) for kind in KINDS] == [WORDS[one] for one in TABLE[mode]]


def test_sessions_begin_by_asking_and_every_mode_says_what_it_does() -> None:
    """Contract: the modes as data, ask is the default."""
    assert MODES[0].mode_id == DEFAULT_MODE == "ask"
    assert {mode.mode_id for mode in MODES} == set(TABLE)
    for mode in MODES:
        assert mode.description
        # The library's own table agrees with ours.
        allowed = {kind for kind in KINDS if decision(mode.mode_id, kind) == "allow"}
        assert mode.allow == allowed


@pytest.mark.parametrize("mode", [None, "nonsense"])
def test_a_mode_that_is_not_known_asks(mode: str | None) -> None:
    """What is not understood is never allowed."""
    assert decision(mode, "edit") == "ask"
    assert decision(mode, "no such kind") == "ask"


def test_auto_approval_allows_what_is_asked_and_nothing_that_is_refused() -> None:
    """Issue: config options include auto-approval."""
    assert decision("ask", "execute", auto_approve=True) == "allow"
    assert decision("read-only", "execute", auto_approve=True) == "refuse"
    assert decision("plan", "switch_mode", auto_approve=True) == "ask"


def test_a_refusal_says_how_to_change_it() -> None:
    """Brief: a sentence that says how to change."""
    assert "Choose another mode" in refusal("read-only", "Editing a.py")
    assert "Read only" in refusal("read-only", "Editing a.py")
    assert "plan" in refusal("plan", "Editing a.py")
    assert refusal(None, "X").startswith("X is not possible")
