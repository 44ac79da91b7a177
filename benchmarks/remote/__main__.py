"""Remote agents: `python -m benchmarks.remote`.

Accord and the official SDKs stream the same messages over WebSocket and over HTTP, in turn, on this
machine: a server in a process of its own, and a client that counts.  Then, ours alone: the time of
a request beside 100 idle streams, and the memory of 10,000 idle connections.  The exit code is 1
when a floor is missed or an SDK is missing.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections import defaultdict

from benchmarks.cases import OFFICIAL_PYTHON, OFFICIAL_TYPESCRIPT, OURS
from benchmarks.floors import REMOTE_FLOORS, judge
from benchmarks.remote.measurements import Figures, idle, post, sides, stream

PARTS = ("ws", "http", "post", "idle")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join(PARTS), help="of ws, http, post, idle")
    given = parser.parse_args()
    parts = given.only.split(",")
    found = sides()
    runs: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the start")

    def add(scenario: str, label: str, figures: Figures) -> None:
        for metric, value in figures.items():
            runs[scenario, label, metric].append(value)

    for _ in range(given.rounds):
        for scheme in ("ws", "http"):
            if scheme in parts:
                for side in found:
                    add(f"remote {scheme}", side.name, stream(side, scheme))
        if "post" in parts:
            add("remote post", OURS, post(found[0]))
    if "idle" in parts:
        add("remote idle", OURS, idle(found[0]))
    medians = {key: statistics.median(values) for key, values in runs.items()}
    for (scenario, label, metric), value in medians.items():
        print(f"{scenario:12} {label:20} {metric:15} {value:12,.1f}")
    missed = 0
    for verdict in judge(medians, REMOTE_FLOORS):
        if verdict.value is not None:
            missed += not verdict.holds
            word = "holds" if verdict.holds else "MISSED"
            bound = f"{verdict.floor.comparison} {verdict.floor.bound:g}"
            print(f"{word:7} {verdict.floor.title}: {verdict.value:.1f} ({bound})")
    missing = {OFFICIAL_PYTHON, OFFICIAL_TYPESCRIPT} - {side.name for side in found}
    for name in sorted(missing):
        print(f"{name} is not installed; `make peers-setup` installs it")
    print(f"load {os.getloadavg()[0]:.1f} at the end")
    return int(missed > 0 or bool(missing))


if __name__ == "__main__":
    sys.exit(main())
