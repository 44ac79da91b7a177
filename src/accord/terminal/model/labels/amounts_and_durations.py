"""Format sizes, counts, costs, durations, ages and the use of the context."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from accord.terminal.model.text.display_text import one_line
from accord.transcript import Cost, Usage


def size_words(size: int) -> str:
    """A number of bytes: "512 bytes", "1.2 kB", "12 kB"."""
    if abs(size) < 1000:
        return counted(size, "byte")
    return _scaled(size, ("kB", "MB", "GB", "TB", "PB", "EB"), " ")


def count_words(number: int) -> str:
    """A number of tokens and the like: "950", "1.2k", "12k", "2.0M"."""
    return (
        str(number) if abs(number) < 1000 else _scaled(number, ("k", "M", "G", "T", "P", "E"), "")
    )


def _scaled(number: float, units: tuple[str, ...], gap: str) -> str:
    power = 1
    # A value that would be rounded to a thousand is shown in the next unit.
    while abs(number) / 1000**power >= 999.5 and power < len(units):
        power += 1
    number /= 1000**power
    said = f"{number:.1f}" if abs(number) < 9.95 else f"{number:.0f}"
    return f"{said}{gap}{units[power - 1]}"


def counted(number: int, thing: str) -> str:
    """Return a count with its noun in the singular or plural."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


_CURRENCIES = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}


def cost_words(cost: Cost) -> str:
    """Return the cost: "$0.12", "3.50 credits"."""
    amount = cost.amount if math.isfinite(cost.amount) else 0.0
    said = f"{amount:.2f}" if abs(amount) < 1e12 else f"{amount:.3g}"
    unit = one_line(cost.currency, 12)
    sign = _CURRENCIES.get(unit.upper())
    return f"{sign}{said}" if sign else f"{said} {unit}".rstrip()


def usage_words(usage: Usage) -> str:
    """How full the context is: "12k of 200k tokens (6 %)"; empty if nothing is known."""
    if usage.used is None or usage.size is None:
        return ""
    if usage.size <= 0:
        return f"{count_words(usage.used)} tokens"
    share = round(100 * usage.used / usage.size)
    return f"{count_words(usage.used)} of {count_words(usage.size)} tokens ({share} %)"


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
