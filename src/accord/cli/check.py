"""`accord check`: judges an agent or a client rule by rule.

What always holds: nothing that the judged program sent reaches the terminal unescaped, and the
exit code is 0 only when the program is conformant.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio

from accord.cli.console import complain, say, show, show_progress
from accord.conformance import rules
from accord.conformance.agent_stage import agent_stages, speaks
from accord.conformance.check import Role
from accord.conformance.judging import NoSuchRule, Wishes, judge
from accord.conformance.program import NotStarted
from accord.conformance.reports.terminal import table
from accord.conformance.rule import Version
from accord.conformance.running import CHECK_SECONDS_MAX, CheckRun, OpenStage
from accord.conformance.scenario import BadScenario, Scenario, load_scenario
from accord.conformance.verdicts import Report

if TYPE_CHECKING:
    from accord.conformance.client.launching import Way

DESCRIPTION = """\
Starts an agent again and again, plays a client to it, and says for each rule of the protocol
whether the agent keeps it; with --client it plays an agent and judges a client.

Most rules need the agent to do something.  A scenario has the prompts that make it do so; without
one those rules are `not exercised`.  Known are `builtin` (for `accord agent`), `generic` (for
agents with a model) and any FILE.

exit codes: 0 conformant, 1 not conformant, 2 wrong usage, 3 the program could not be started
"""
EPILOG = """\
examples:
  accord check -- my-agent --stdio
  accord check --protocol all --scenario builtin -- accord agent
  accord check --only V1-INIT-11 -- my-agent
  accord check --client -- my-client
"""
TURNS_IN_A_CHECK = 8
CONFORMANT, NOT_CONFORMANT, USAGE, NOT_STARTED = 0, 1, 2, 3
PROTOCOLS: dict[str, tuple[Version, ...]] = {
    "1": ("1",),
    "2": ("2",),
    "draft": ("draft",),
    "all": ("1", "2", "draft"),
}


class Usage(Exception):
    """What was asked for cannot be done; says why."""


def add_arguments(parser: ArgumentParser) -> None:
    """What `accord check` takes."""
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.usage = "accord check [options] -- COMMAND"
    add = parser.add_argument
    add("--client", action="store_true", help="judge a client instead of an agent")
    add("--client-stdio", action="store_true", help="the client speaks on its own stdio")
    add("--protocol", choices=sorted(PROTOCOLS), default="1", help="the version (default: 1)")
    add("--scenario", metavar="FILE", default="none", help="prompts that make the program work")
    add("--only", metavar="RULE", action="append", default=[], help="a rule, or V1-INIT-*")
    add("--faults", action="store_true", help="noise, wrong types, huge lines, death as well")
    add("--report-json", metavar="FILE", help="write what was found as JSON")
    add("--report-junit", metavar="FILE", help="write what was found as JUnit XML")
    add("--report-html", metavar="FILE", help="write one page with every transcript")
    add("--baseline", metavar="FILE", help="known failures: a report, or one rule per line")
    add("--require-all", action="store_true", help="what is not exercised counts as a failure")
    add("--verbose", action="store_true", help="list also what was not judged")
    add("--quiet", action="store_true", help="the last line only")
    add("--jobs", metavar="N", type=int, default=4, help="programs at a time (default: 4)")
    add("--timeout", metavar="SECONDS", type=float, default=10, help="how long answers may take")


def run(parsed: Namespace) -> int:
    """Judge the command after `--`."""
    try:
        reports = _judge(parsed)
    except (Usage, BadScenario) as error:
        complain(f"accord check: {error}")
        return USAGE
    except NotStarted as error:
        complain(f"accord check: cannot start {error}")
        return NOT_STARTED
    _write(parsed, reports)
    return CONFORMANT if all(report.conformant for report in reports) else NOT_CONFORMANT


def _judge(parsed: Namespace) -> list[Report]:
    command: list[str] = parsed.after or []
    if not command:
        raise Usage("which program?  accord check [options] -- COMMAND")
    if parsed.jobs < 1 or parsed.timeout <= 0:
        raise Usage("--jobs and --timeout are above zero")
    scenario = load_scenario(parsed.scenario)
    wishes = Wishes(
        only=tuple(parsed.only),
        faults=parsed.faults,
        baseline=_baseline(parsed.baseline),
        require_all=parsed.require_all,
        at_once=parsed.jobs,
        # A check has a few turns in it.
        seconds_max=max(CHECK_SECONDS_MAX, TURNS_IN_A_CHECK * scenario.seconds),
        options=_options(parsed),
    )
    parsed.client = parsed.client or parsed.client_stdio
    role: Role = "client" if parsed.client else "agent"
    reports: list[Report] = []
    missing: list[str] = []
    spoken = _spoken(parsed, command, scenario)
    for version in PROTOCOLS[parsed.protocol]:
        if version not in spoken:
            say(f"{role}, version {version}: not spoken.")
            continue
        try:
            reports.append(_one(parsed, command, role, version, scenario, wishes))
        except NoSuchRule as error:
            missing.append(f"no check of version {version} judges {error}{_why(wishes.only, role)}")
            continue
        _show(parsed, reports[-1])
    if not reports:
        raise Usage("; ".join(missing))
    return reports


def _why(only: Sequence[str], role: Role) -> str:
    """Where a rule is judged instead of here, for the first that is known."""
    for rule in filter(None, map(rules.load().get, only)):
        if not rule.binds(role):
            return f": it is a rule for another side ({rule.side})"
        if (version := rules.part(rule.id)) in PROTOCOLS:
            return f": see --protocol {version}"
    return ""


def _spoken(parsed: Namespace, command: Sequence[str], scenario: Scenario) -> tuple[Version, ...]:
    """Of all versions those that the program speaks, the first if that is none."""
    wanted = PROTOCOLS[parsed.protocol]
    if parsed.protocol != "all":
        return wanted
    asks = speaks
    if parsed.client:
        from accord.conformance.client.stage import client_speaks as asks
    stages = _stages(parsed, command, scenario)
    return tuple(one for one in wanted if anyio.run(asks, stages, one)) or wanted[:1]


def _one(
    parsed: Namespace,
    command: Sequence[str],
    role: Role,
    version: Version,
    scenario: Scenario,
    wishes: Wishes,
) -> Report:
    progress = _Progress(sys.stderr.isatty() and not parsed.quiet)

    async def judged() -> Report:
        stages = _stages(parsed, command, scenario)
        return await judge(command, role, version, stages, scenario, wishes, done=progress.done)

    try:
        return anyio.run(judged)
    finally:
        progress.end()


def _stages(parsed: Namespace, command: Sequence[str], scenario: Scenario) -> OpenStage:
    if not parsed.client:
        return agent_stages(command, scenario, patience=parsed.timeout)
    from accord.conformance.client import scenario as of_clients
    from accord.conformance.client.stage import client_stages

    path = None if parsed.scenario == "none" else parsed.scenario
    try:
        read = of_clients.read_scenario(path, command)
    except of_clients.BadScenario as error:
        raise Usage(str(error)) from None
    way: Way = "stdio" if parsed.client_stdio else "spawn"
    return cast("OpenStage", client_stages(read, way=way, patience=parsed.timeout))


def _options(parsed: Namespace) -> tuple[str, ...]:
    """What has to be said again to see a failure again."""
    said = [] if parsed.scenario == "none" else ["--scenario", parsed.scenario]
    flags = {"--faults": parsed.faults, "--client-stdio": parsed.client_stdio}
    return (*said, *(name for name, given in flags.items() if given))


def _baseline(name: str | None) -> frozenset[str]:
    """The rules that may fail: those of a report of an earlier run, or of a list."""
    if name is None:
        return frozenset()
    try:
        text = Path(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"{name}: {error}") from None
    if text.lstrip().startswith("{"):
        try:
            results = json.loads(text)["results"]
            return frozenset(str(one["id"]) for one in results if one["verdict"] == "fail")
        except (ValueError, KeyError, TypeError):
            raise Usage(f"{name} is not a report of accord check") from None
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    return frozenset(line for line in lines if line)


class _Progress:
    """One line on a terminal that says how far the run is."""

    def __init__(self, shown: bool) -> None:
        self.shown = shown
        self.count = 0

    def done(self, run: CheckRun) -> None:
        self.count += 1
        if self.shown:
            show_progress(f"{self.count} checks done: {run.check.name}")

    def end(self) -> None:
        if self.shown:
            show_progress("")


def _show(parsed: Namespace, report: Report) -> None:
    lines = list(table(report, colour=sys.stdout.isatty(), everything=parsed.verbose))
    for line in lines[-1:] if parsed.quiet else lines:
        show(line)


def _write(parsed: Namespace, reports: Sequence[Report]) -> None:
    from accord.conformance.reports.documents import as_json, as_junit
    from accord.conformance.reports.page import as_html

    made = (
        (parsed.report_json, as_json),
        (parsed.report_junit, as_junit),
        (parsed.report_html, as_html),
    )
    for name, render in made:
        if name is not None:
            Path(name).write_text(render(reports), "utf-8")
