"""Runs the kit on every program of the tables `broken*.tsv`, and tells what it named.

    python -m tests.kit_accuracy [--only RULE] [--jobs N] [--table FILE] [--accord COMMAND]

The tables have a purpose for each program.  A client that breaks its rule while it cancels, lists
or logs in, say, is run twice: as the others are, and with a scenario that says how it does that.
A rule that is broken in a second way has a letter behind its number.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from string import ascii_lowercase
from typing import Any

HERE = Path(__file__).resolve().parent
TABLES = ("broken.tsv", "broken_again.tsv", "broken_third.tsv")
RUN_SECONDS_MAX = 900
# How many of the broken programs have to be named by the rule that they break.
RIGHT_SHARE_MIN = 0.9


@dataclass(frozen=True)
class Case:
    """A program, and the rule that it breaks; no rule: it breaks none."""

    rule: str
    side: str
    version: str
    purpose: str
    wrong: str

    @property
    def rule_id(self) -> str:
        """The rule as the kit names it, without the letter of a second way to break it."""
        return self.rule.rstrip(ascii_lowercase)

    @property
    def command(self) -> list[str]:
        program = HERE / ("agents.py" if self.side == "agent" else "clients.py")
        command = [sys.executable, str(program), "--protocol", self.version]
        return [*command, "--break", self.rule] if self.rule else command


@dataclass(frozen=True)
class Outcome:
    """What the kit said of a program."""

    case: Case
    verdict: str
    named: tuple[str, ...]
    seconds: float
    last: str


def cases() -> Iterator[Case]:
    for side, version in (
        ("agent", "1"),
        ("agent", "2"),
        ("agent", "draft"),
        ("client", "1"),
        ("client", "2"),
    ):
        yield Case("", side, version, "prompt", "nothing")
    lines = [line for name in TABLES for line in (HERE / name).read_text().splitlines()[1:]]
    for line in lines:
        case = Case(*line.split("\t"))
        if case.purpose != "prompt":
            yield Case(case.rule, case.side, case.version, "prompt", case.wrong)
        yield case


def run(case: Case, accord: str, reports: Path) -> Outcome:
    name = f"{case.side}-{case.version}-{case.rule or 'none'}-{case.purpose}"
    report = reports / f"{name}.json"
    command = [accord, "check", "--protocol", case.version, "--report-json", str(report)]
    command += ["--report-html", str(reports / f"{name}.html")]
    if case.side == "client":
        command.append("--client")
    if case.purpose != "prompt":
        scenario = reports / f"{name}.toml"
        words = [*case.command, "--purpose", case.purpose, "{agent}"]
        scenario.write_text(f"[client]\n{case.purpose} = {json.dumps(words)}\n")
        command += ["--scenario", str(scenario)]
    began = time.monotonic()
    try:
        done = subprocess.run(
            [*command, "--", *case.command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=RUN_SECONDS_MAX,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return Outcome(case, "incomplete", (), time.monotonic() - began, "it did not end")
    (reports / f"{name}.out").write_text(done.stdout)
    seconds = time.monotonic() - began
    last = (done.stdout.strip().splitlines() or [""])[-1]
    if not report.exists():
        return Outcome(case, "incomplete", (), seconds, last)
    return judge(case, json.loads(report.read_text()), done.returncode, seconds, last)


def judge(case: Case, report: Any, code: int, seconds: float, last: str) -> Outcome:
    """Compare the binding rules that failed with the one that is broken."""
    binding = ("mandatory", "capability")
    named = []
    own = "not listed"
    for result in report["results"]:
        if result["verdict"] == "fail" and result["tier"] in binding:
            named.append(result["id"])
        if result["id"] == case.rule_id:
            own = result["verdict"]
    named = sorted(set(named))
    if not case.rule:
        verdict = "false alarm" if named else "conformant" if code == 0 else f"exit code {code}"
    elif case.rule_id in named or own == "fail":
        verdict = "right rule"
    elif named:
        verdict = "another rule only"
    else:
        verdict = "passed" if code == 0 and own == "pass" else f"incomplete ({own}, exit {code})"
    return Outcome(case, verdict, tuple(named), seconds, last)


def table(outcomes: list[Outcome]) -> str:
    lines = ["| rule | side | version | purpose | does | verdict | named | s |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for each in outcomes:
        case = each.case
        cells = [case.rule or "none", case.side, case.version, case.purpose, case.wrong]
        cells += [each.verdict, ", ".join(each.named), f"{each.seconds:.0f}"]
        lines.append("| " + " | ".join(cells) + " |")
    for side in ("agent", "client"):
        broken = [each for each in outcomes if each.case.side == side and each.case.rule]
        rules = {each.case.rule for each in broken}
        right = {each.case.rule for each in broken if each.verdict == "right rule"}
        lines.append(f"\n{side}s: {len(right)} of {len(rules)} named by the right rule")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kit_accuracy")
    parser.add_argument("--only", action="append", metavar="RULE", help="a rule or a pattern")
    parser.add_argument("--jobs", type=int, default=2, help="runs of the kit at a time")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the table there")
    parser.add_argument("--reports", type=Path, metavar="FOLDER", help="keep the reports there")
    parser.add_argument("--accord", default=str(Path(sys.executable).with_name("accord")))
    options = parser.parse_args()
    chosen = [
        case
        for case in cases()
        if not options.only or any(fnmatch(case.rule or "none", each) for each in options.only)
    ]
    reports = options.reports or Path(tempfile.mkdtemp(prefix="strangers-"))
    reports.mkdir(parents=True, exist_ok=True)
    outcomes = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(lambda case: run(case, options.accord, reports), chosen):
            outcomes.append(outcome)
            case = outcome.case
            name = f"{case.rule or 'none':<13} {case.side} {case.version} {case.purpose}"
            print(
                f"{name:<32} {outcome.seconds:4.0f} s  {outcome.verdict}",
                *outcome.named,
                flush=True,
            )
    if options.table:
        options.table.write_text(table(outcomes))
    else:
        print(table(outcomes))
    right = sum(1 for each in outcomes if each.verdict == "right rule")
    broken = sum(1 for each in outcomes if each.case.rule)
    alarmed = any(each.verdict == "false alarm" for each in outcomes)
    return 1 if alarmed or right < RIGHT_SHARE_MIN * broken else 0


if __name__ == "__main__":
    sys.exit(main())
