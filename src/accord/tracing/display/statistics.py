"""Statistics of a recording per method: counts, errors and durations.

Must not know how they are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from accord.tracing.display.row import Row


@dataclass(frozen=True, slots=True)
class MethodFigures:
    """One method of one side; times in seconds, None without an answer."""

    method: str
    speaker: str
    count: int
    errors: int
    unanswered: int
    p50: float | None
    p99: float | None
    longest: float | None


def percentile(sorted_values: Sequence[float], share: float) -> float | None:
    """Return the percentile of sorted values; None for an empty list."""
    if not sorted_values:
        return None
    rank = -(-len(sorted_values) * share // 1)
    return sorted_values[max(0, min(len(sorted_values), int(rank)) - 1)]


def figures_of(rows: Iterable[Row]) -> list[MethodFigures]:
    """Return the statistics per method, ordered by total time."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.method is not None and row.speaker is not None:
            groups.setdefault((row.method, row.speaker), []).append(row)
    figures = [_figures(method, speaker, group) for (method, speaker), group in groups.items()]
    return sorted(figures, key=lambda one: -(one.longest or 0.0) * one.count)


def _figures(method: str, speaker: str, rows: list[Row]) -> MethodFigures:
    calls = [row for row in rows if row.kind in ("call", "permission", "turn")]
    times = sorted(row.seconds for row in calls if row.seconds is not None)
    # For streams and updates, count each frame on the wire.
    count = len(calls) or sum(len(row.frames) for row in rows)
    return MethodFigures(
        method,
        speaker,
        count,
        errors=sum(row.status.startswith("error") or row.status == "failed" for row in rows),
        unanswered=len(calls) - len(times),
        p50=percentile(times, 0.5),
        p99=percentile(times, 0.99),
        longest=times[-1] if times else None,
    )
