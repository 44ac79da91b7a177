"""The checks that all engines make before they store anything."""

import pytest

from accord.gateway.engine import limits
from accord.gateway.engine.interface import NewEvent


def test_a_group_of_events_has_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: in a log each event counts for more than its frame, so that their number is bounded."""
    group = [NewEvent("k", b"12345")] * 2
    size = 2 * (5 + limits.EVENT_OVERHEAD_BYTES)
    assert limits.size_of(group) == size
    monkeypatch.setattr(limits, "GROUP_BYTES_MAX", size - 1)
    with pytest.raises(ValueError, match=f"has {size} bytes; the limit is {size - 1}"):
        limits.size_of(group)


def test_text_is_what_can_be_encoded() -> None:
    """Ours: half of a surrogate pair would be an error deep in a storage."""
    assert [limits.is_text(one) for one in ("", "a", "ü😀", "\ud83d", b"a", None)] == [
        *(True, True, True),
        *(False, False, False),
    ]
