"""From results to figures, medians and tables.  Pure: rows in, text out."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.cases import MESSAGES
from benchmarks.floors import Floor, Medians, Verdict

Row = Mapping[str, Any]

# The columns of each scenario's table: metric, heading, digits after the point.
COLUMNS: dict[str, tuple[tuple[str, str, int], ...]] = {
    "stream": (
        ("messages_per_s", "messages/s", 0),
        ("client_cpu_us", "client µs/msg", 1),
        ("agent_cpu_us", "agent µs/msg", 1),
        ("peak_client_mb", "client MB", 0),
    ),
    "conc": (
        ("messages_per_s", "messages/s", 0),
        ("client_cpu_us", "client µs/msg", 1),
        ("agent_cpu_us", "agent µs/msg", 1),
        ("peak_client_mb", "client MB", 0),
    ),
    "replay": (
        ("messages_per_s", "updates/s", 0),
        ("client_cpu_us", "client µs/update", 1),
        ("agent_cpu_us", "agent µs/update", 1),
        ("peak_client_mb", "client MB", 0),
    ),
    "rpc": (("calls_per_s", "calls/s", 0), ("p50_us", "median µs", 0), ("p99_us", "p99 µs", 0)),
    "read": (("mb_per_s", "MB/s", 0), ("peak_client_mb", "client MB", 0)),
    "cold": (
        ("start_ms", "start ms", 0),
        ("memory_mb", "memory MB", 1),
        ("exit_ms", "exit ms", 0),
    ),
}


def figures(scenario: str, result: Row) -> dict[str, float]:
    """The metrics of one result.  A run that lost updates has none: it did not do the work."""
    if "error" in result or result.get("count", 0) < result.get("expected", 0):
        return {}
    agent: Row = result.get("agent", {})
    found = {
        key: source[key]
        for source in (result, agent)
        for metric in COLUMNS[scenario]
        for key in (metric[0],)
        if source.get(key) is not None
    }
    messages = MESSAGES[scenario]
    if messages and "elapsed_s" in result:
        found["messages_per_s"] = messages / result["elapsed_s"]
        found["client_cpu_us"] = result["cpu_client_s"] / messages * 1e6
        if "cpu_s" in agent:
            found["agent_cpu_us"] = agent["cpu_s"] / messages * 1e6
    if "read_s" in agent:
        found["mb_per_s"] = agent["bytes"] / (1 << 20) / agent["read_s"]
    return found


def medians(rows: Iterable[Row]) -> dict[tuple[str, str, str], float]:
    """The median of each metric over all rounds."""
    seen: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        for metric, value in figures(row["scenario"], row["result"]).items():
            seen[row["scenario"], row["label"], metric].append(value)
    return {key: statistics.median(values) for key, values in seen.items()}


def failures(rows: Iterable[Row]) -> list[str]:
    """A sentence for each result that does not count."""
    found = []
    for row in rows:
        result: Row = row["result"]
        where = f"{row['scenario']} {row['label']} round {row['round']}"
        if "error" in result:
            found.append(f"{where}: {result['error']}")
        elif result.get("count", 0) < result.get("expected", 0):
            found.append(f"{where}: {result['count']} of {result['expected']} updates arrived")
    return found


def tables(found: Medians) -> str:
    """One table of medians for each scenario, a line for each implementation or pair."""
    blocks = []
    for scenario, columns in COLUMNS.items():
        labels = list(dict.fromkeys(label for name, label, _ in found if name == scenario))
        if not labels:
            continue
        lines = ["".join([f"{scenario:<40}", *(f"{heading:>16}" for _, heading, _ in columns)])]
        for label in labels:
            cells = [_cell(found.get((scenario, label, m)), digits) for m, _, digits in columns]
            lines.append("".join([f"  {label:<38}", *(f"{cell:>16}" for cell in cells)]))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _cell(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def floor_table(verdicts: Iterable[Verdict]) -> str:
    """Each floor with the figure found and a mark."""
    marks = {True: "pass", False: "FAIL", None: "none"}
    lines = [f"{'floor':<40}{'against':<22}{'demanded':>16}{'measured':>12}  mark"]
    for verdict in verdicts:
        floor = verdict.floor
        measured = "-" if verdict.value is None else f"{verdict.value:.2f}"
        lines.append(
            f"  {floor.title:<38}{floor.against or '':<22}{_demand(floor):>16}"
            f"{measured:>12}  {marks[verdict.holds]}"
        )
    return "\n".join(lines)


def _demand(floor: Floor) -> str:
    if floor.comparison in ("faster", "sooner"):
        return f">= {floor.bound:g} times"
    return f"<= {floor.bound:g}"
