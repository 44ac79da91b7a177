"""The life of a tool call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.protocol.tool_status import FINAL, is_final, may_follow

STATUSES = st.sampled_from(
    ["pending", "in_progress", "paused", "completed", "failed", "cancelled", "_own", "of_tomorrow"]
)


@pytest.mark.parametrize("status", sorted(FINAL))
def test_a_final_status_stays(status: str) -> None:
    """Never back, and never over to another end."""
    assert is_final(status)
    assert may_follow(status, status)
    for following in ("pending", "in_progress", "paused", "_own", *(FINAL - {status})):
        assert not may_follow(status, following)


@pytest.mark.parametrize(
    ("status", "following", "may"),
    [
        ("pending", "pending", True),
        ("pending", "in_progress", True),
        ("pending", "paused", True),
        ("pending", "failed", True),
        ("in_progress", "pending", False),
        ("in_progress", "paused", True),
        ("paused", "in_progress", True),
        ("paused", "pending", False),
        ("_own", "pending", False),
        ("_own", "in_progress", True),
        ("_own", "completed", True),
        ("in_progress", "_own", True),
        ("_own", "of_tomorrow", True),
    ],
)
def test_a_status_moves_forward_only(status: str, following: str, may: bool) -> None:
    """A status that we do not know counts as in progress."""
    assert not is_final(status)
    assert may_follow(status, following) is may


@given(st.lists(STATUSES, max_size=20))
def test_whatever_is_tried_a_call_ends_once_and_never_returns_to_pending(tried: list[str]) -> None:
    """Ours: the order of a tool call's life cannot be broken."""
    status, life = "pending", ["pending"]
    for following in tried:
        if may_follow(status, following):
            status = following
            life.append(status)
    ends = [one for one in life if is_final(one)]
    assert len(set(ends)) <= 1
    assert life[len(life) - len(ends) :] == ends
    left = next((at for at, one in enumerate(life) if one != "pending"), len(life))
    assert "pending" not in life[left:]
