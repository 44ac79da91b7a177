"""Format sizes, counts, costs and the use of the context."""

from __future__ import annotations

import math

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
