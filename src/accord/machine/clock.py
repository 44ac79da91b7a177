"""The time of day, which may be wrong: a clock may never have been set, or be in the year 9926.

Always holds
    * No function here raises, whatever the system's clock says.
    * A time that a date cannot express becomes the nearest one that it can.
"""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECONDS_MIN = (datetime(1, 1, 2, tzinfo=UTC) - EPOCH).total_seconds()
SECONDS_MAX = (datetime(9999, 12, 30, tzinfo=UTC) - EPOCH).total_seconds()
"""A day away from the first and the last date, so that every time zone can express them."""

PYTHON_SECONDS_MAX = 2.0**63 / 1e9
"""Python counts nanoseconds in 64 bits: `time.time` fails after April 2262."""


def seconds() -> float:
    """Seconds since 1970, as far as a date can express them."""
    try:
        read = time.time()
    except (OverflowError, OSError):
        read = PYTHON_SECONDS_MAX
    return 0.0 if math.isnan(read) else min(max(read, SECONDS_MIN), SECONDS_MAX)


def now() -> datetime:
    """The date and time in UTC."""
    return EPOCH + timedelta(seconds=seconds())


def timestamp(timespec: str = "milliseconds", *, seconds_ago: float = 0.0) -> str:
    """The time in the form of RFC 3339, in UTC."""
    return timestamp_of(seconds() - seconds_ago, timespec)


def timestamp_of(when: float, timespec: str = "milliseconds") -> str:
    """The same for a time in seconds since 1970; the nearest that a date can express."""
    known = SECONDS_MIN if math.isnan(when) else min(max(when, SECONDS_MIN), SECONDS_MAX)
    text = (EPOCH + timedelta(seconds=known)).isoformat(timespec=timespec)
    return text.replace("+00:00", "Z")


def file_stamp() -> str:
    """The local time for the name of a file: `20260131-235959`."""
    return f"{_local():%Y%m%d-%H%M%S}"


def local_date() -> str:
    """The date where the user is: `2026-01-31`."""
    return f"{_local():%Y-%m-%d}"


def _local() -> datetime:
    when = now()
    try:
        return when.astimezone()
    except (OverflowError, OSError, ValueError):
        # The system has no local time for it.
        return when


def mend() -> None:
    """Make `time.time` return a result where it would fail; for programs that own their process.

    The standard library calls it in places such as `import logging`, and fails without it.
    """
    try:
        time.time()
    except (OverflowError, OSError):
        started = time.monotonic()
        # Ten years before the last representable time; it advances, so that differences are right.
        base = PYTHON_SECONDS_MAX - 10 * 365 * 86_400
        time.time = lambda: base + time.monotonic() - started
