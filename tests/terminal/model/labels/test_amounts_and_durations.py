"""Times for display."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from accord.terminal.model.labels.amounts_and_durations import ago, span

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-1, "0 s"), (0.9, "0 s"), (7.6, "7 s"), (59, "59 s"), (65, "1 m 05 s"), (8040, "2 h 14 m")],
)
def test_a_time_that_goes_on_is_counted_whole(seconds: float, said: str) -> None:
    """Ours: nothing moves faster than the seconds."""
    assert span(seconds) == said


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(seconds=40), "just now"),
        (timedelta(minutes=3), "3 min ago"),
        (timedelta(hours=5), "5 h ago"),
        (timedelta(hours=30), "yesterday"),
        (timedelta(days=4), "4 days ago"),
        (timedelta(days=40), "2026-03-25"),
    ],
)
def test_how_long_ago_something_was(before: timedelta, said: str) -> None:
    """Issue: the session list says when."""
    assert ago((NOW - before).isoformat(), NOW) == said
    assert ago((NOW - before).replace(tzinfo=None).isoformat(), NOW) == said


@pytest.mark.parametrize("when", [None, "", "yesterday", "9999-99-99", "\x1b[31m"])
def test_what_is_no_time_is_nothing(when: str | None) -> None:
    """An agent may send anything."""
    assert ago(when, NOW) == ""
