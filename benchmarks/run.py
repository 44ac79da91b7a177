"""The benchmark: the same work by Accord and by the official SDKs, in turn, on this machine.

    python benchmarks/run.py                     everything, eleven rounds, judged by the floors
    python benchmarks/run.py --only stream,rpc --impls accord,official-python --rounds 1

Exit code 1: a floor is missed, or a run failed.  What could not be measured is said and is no
failure.  Every result is a line of JSON in benchmarks/results/; `--read FILE` judges one again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if __package__ in (None, ""):
    # Started as a file: the package that this file belongs to is not on the path yet.
    sys.path.insert(0, str(ROOT))

from benchmarks.cases import (  # noqa: E402
    BUILT_IN,
    HELLO,
    OFFICIAL_PYTHON,
    OFFICIAL_TYPESCRIPT,
    OURS,
    REPLAY_MESSAGES,
    SCENARIOS,
    Case,
    Implementation,
    cases,
    implementations,
    limit_cases,
)
from benchmarks.floors import judge  # noqa: E402
from benchmarks.report import failures, figures, floor_table, medians, tables  # noqa: E402

CASE_SECONDS_MAX = 60.0
IDLE_SECONDS_MAX = 12.0
# Fewer rounds say nothing about floors; they are for trying things out.
ROUNDS_FOR_FLOORS = 5
# What is over in a twentieth of a second is slowed by any neighbour: many rounds, one median.
ROUNDS = 11


def main() -> int:
    options = parse_arguments()
    if options.read is not None:
        rows = [json.loads(line) for line in options.read.read_text().splitlines()]
        return conclude(rows)
    chosen = available(options.impls)
    names = [scenario.name for scenario in SCENARIOS]
    wanted = options.only.split(",") if options.only else names
    if unknown := set(wanted) - set(names):
        raise SystemExit(f"no such scenario: {', '.join(sorted(unknown))}")
    plan = cases(chosen, wanted, cross=options.cross)
    if options.limits:
        plan += limit_cases(wanted)
    results = ROOT / "benchmarks" / "results"
    results.mkdir(exist_ok=True)
    path = results / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}.jsonl"
    rows = []
    with path.open("w") as file:
        for row in run(plan, options.rounds, options.max_busy):
            file.write(json.dumps(row) + "\n")
            file.flush()
            rows.append(row)
    print(f"\n{path.relative_to(ROOT)}")
    return conclude(rows)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", help="scenarios, separated by commas")
    parser.add_argument("--impls", help="implementations, separated by commas")
    parser.add_argument("--cross", action="store_true", help="also client of one, agent of another")
    parser.add_argument("--limits", action="store_true", help="also what the machine allows")
    parser.add_argument(
        "--max-busy",
        type=float,
        default=0.0,
        metavar="SHARE",
        help=f"wait up to {IDLE_SECONDS_MAX:.0f} s before each case until others use less CPU",
    )
    parser.add_argument("--read", type=Path, metavar="FILE", help="judge earlier results")
    return parser.parse_args()


def available(names: str | None) -> list[Implementation]:
    """The implementations that were asked for and can run here; says which cannot."""
    known = implementations()
    wanted = (
        names.split(",") if names else [OURS, BUILT_IN, HELLO, OFFICIAL_PYTHON, OFFICIAL_TYPESCRIPT]
    )
    if unknown := set(wanted) - set(known):
        raise SystemExit(f"no such implementation: {', '.join(sorted(unknown))}")
    chosen = []
    for name in wanted:
        missing = known[name].missing()
        if missing is None:
            chosen.append(known[name])
        else:
            print(f"{name} is left out: {missing} does not exist")
    return chosen


def run(plan: list[Case], rounds: int, max_busy: float) -> Iterator[dict[str, Any]]:
    """Run every case once per round; in each round another one comes first."""
    for number in range(rounds):
        shift = number % len(plan) if plan else 0
        for case in plan[shift:] + plan[:shift]:
            busy = wait_until_idle(max_busy)
            result = execute(case)
            print(
                f"{number} {case.scenario:<8}{case.label:<44}{headline(case, result)}", flush=True
            )
            yield {
                "scenario": case.scenario,
                "label": case.label,
                "round": number,
                "others_busy": busy,
                "result": result,
            }


def execute(case: Case) -> dict[str, Any]:
    """The line that the case printed, or what went wrong with it."""
    environment = {
        # Both would make Python programs slower than their users see them.
        key: value
        for key, value in os.environ.items()
        if key not in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
    }
    environment.update(case.environment)
    environment["BENCH_REPLAY_N"] = str(REPLAY_MESSAGES)
    try:
        done = subprocess.run(
            case.command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=CASE_SECONDS_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {CASE_SECONDS_MAX:.0f} s"}
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        return {"error": f"exit code {done.returncode}: {last_words(done.stderr)}"}
    result: dict[str, Any] = json.loads(lines[-1])
    return result


def last_words(stderr: str) -> str:
    """The line that names an error: the last one that is more than a frame around others."""
    lines = [line.strip(" |+-") for line in stderr.splitlines()]
    return next((line for line in reversed(lines) if line), "nothing on stderr")


def headline(case: Case, result: dict[str, Any]) -> str:
    """The main figure of a result, for whoever watches."""
    found = figures(case.scenario, result)
    for metric in ("messages_per_s", "calls_per_s", "mb_per_s", "start_ms"):
        if metric in found:
            return f"{found[metric]:>12,.1f} {metric}"
    return str(result.get("error", "updates were lost"))


def wait_until_idle(max_busy: float) -> float:
    """Wait, for a while at most, until the machine is free; return the CPU share in use."""
    waited_until = time.monotonic() + IDLE_SECONDS_MAX
    busy = busy_share()
    while max_busy and busy > max_busy and time.monotonic() < waited_until:
        time.sleep(1)
        busy = busy_share()
    return busy


def busy_share(seconds: float = 0.3) -> float:
    """The share of all CPU time that was used during a moment."""
    total, idle = _cpu_times()
    time.sleep(seconds)
    total_after, idle_after = _cpu_times()
    return round(1 - (idle_after - idle) / max(1, total_after - total), 2)


def _cpu_times() -> tuple[int, int]:
    with Path("/proc/stat").open() as file:
        times = [int(field) for field in file.readline().split()[1:]]
    return sum(times), times[3] + times[4]


def conclude(rows: list[dict[str, Any]]) -> int:
    """Print tables and judgement; return the exit code."""
    found = medians(rows)
    verdicts = judge(found)
    rounds = len({row["round"] for row in rows})
    print(f"\nMedians of {rounds} rounds\n\n{tables(found)}\n\n{floor_table(verdicts)}")
    if rounds < ROUNDS_FOR_FLOORS:
        print(f"(fewer than {ROUNDS_FOR_FLOORS} rounds: for trying things out only)")
    failed = failures(rows)
    for failure in failed:
        print(f"failed: {failure}")
    return 1 if failed or any(verdict.holds is False for verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
