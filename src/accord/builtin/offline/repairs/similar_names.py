"""Names that are alike: which existing name was meant by a wrong one.  Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# How alike two names are that count as one with a slip.
NEARNESS_MIN = 0.7

SWAPPED = 0.85
"""How alike two names are at least that differ in two letters that changed places."""

NEAR_MAX = 3
"""Near names that are offered for one that is wrong."""


def near(wrong: str, *circles: Iterable[str]) -> list[tuple[str, float]]:
    """The names that may have been meant and how alike they are, the most alike first.

    It ends before two of one circle that are equally near.
    """
    ranks: dict[tuple[float, int], set[str]] = {}
    seen: set[str] = set()
    for index, circle in enumerate(circles):
        for name in set(circle) - seen:
            seen.add(name)
            if name == wrong or (name.startswith("__") and not wrong.startswith("_")):
                continue
            alike = likeness(wrong, name)
            if alike >= NEARNESS_MIN:
                ranks.setdefault((alike, -index), set()).add(name)
    found: list[tuple[str, float]] = []
    for rank in sorted(ranks, reverse=True):
        if len(ranks[rank]) > 1 or len(found) == NEAR_MAX:
            break
        found.append((ranks[rank].pop(), rank[0]))
    return found


def likeness(one: str, other: str) -> float:
    """How alike two names are, from 0 to 1."""
    if one.lower() == other.lower() or one.replace("_", "") == other.replace("_", ""):
        return 1.0
    ratio = difflib.SequenceMatcher(None, one.lower(), other.lower()).ratio()
    # Two letters that changed places, in a short name too.
    return max(ratio, SWAPPED) if _is_swapped(one.lower(), other.lower()) else ratio


def _is_swapped(one: str, other: str) -> bool:
    if len(one) != len(other) or len(one) < 3:
        return False
    places = [index for index in range(len(one)) if one[index] != other[index]]
    if len(places) != 2:
        return False
    first, second = places
    return second == first + 1 and one[first] == other[second] and one[second] == other[first]
