"""Format durations and ages."""

from __future__ import annotations

import math
from datetime import UTC, datetime

_COUNTED = 10
"""Longer durations are shown in whole seconds."""
_MINUTE, _HOUR, _DAY, _WEEK = 60, 3600, 86_400, 7 * 86_400


def span(seconds: float) -> str:
    """A running time in whole seconds: `7 s`, `3 m 05 s`, `2 h 14 m`."""
    return f"{max(int(seconds), 0)} s" if seconds < _COUNTED else duration_words(int(seconds))


def ago(when: str | None, now: datetime) -> str:
    """Return the age of a time of the protocol; empty if it is invalid.

    After a week it is the date.
    """
    if not when:
        return ""
    try:
        then = datetime.fromisoformat(when)
        if then.tzinfo is None:
            then = then.replace(tzinfo=UTC)
        seconds = (now - then).total_seconds()
    except (ValueError, OverflowError):
        return ""
    if seconds < _MINUTE:
        return "just now"
    if seconds < _HOUR:
        return f"{int(seconds) // _MINUTE} min ago"
    if seconds < _DAY:
        return f"{int(seconds) // _HOUR} h ago"
    if seconds < 2 * _DAY:
        return "yesterday"
    if seconds < _WEEK:
        return f"{int(seconds) // _DAY} days ago"
    return f"{then:%Y-%m-%d}"


def duration_words(seconds: float) -> str:
    """A time that something takes: "0.4 s", "12 s", "3 m 05 s", "1 h 02 m"."""
    if not math.isfinite(seconds) or seconds < 0:
        return "0.0 s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} m"
