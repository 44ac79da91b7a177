"""`accord check`: judges an agent or a client rule by rule.

What always holds: nothing that the judged program sent reaches the terminal unescaped, and the
exit code is 0 only when the program is conformant: every rule that applies to it was judged.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio

from accord.cli.check_progress import CheckProgress
from accord.cli.console import complain, say, show
from accord.conformance import rules
from accord.conformance.agent.scenario import DEFAULT, BadScenario, Scenario, load_scenario
from accord.conformance.agent.stage import agent_stages, speaks
from accord.conformance.check import Role
from accord.conformance.reports.terminal_table import summary, table
from accord.conformance.rule import Version
from accord.conformance.run.check_run import CHECK_SECONDS_MAX, RUN_SECONDS_MAX, OpenStage
from accord.conformance.run.kit_run import NoSuchRule, Wishes, judge, select
from accord.conformance.run.program import NotStarted
from accord.conformance.run.verdicts import Conclusion, Report

if TYPE_CHECKING:
    from accord.conformance.client.launch import Way

DESCRIPTION = """\
Starts an agent again and again, plays a client to it, and says for each rule of the protocol
whether the agent keeps it; with --client it plays an agent and judges a client.

Most rules need the agent to do something.  A scenario has the prompts that make it do so: `generic`
(the default) has some that any coding agent understands, `builtin` those for `accord agent`, `none`
has none, and a FILE of yours has what your agent understands.  The agent works in a folder that is
made for it; what it asks permission for there is allowed, rejected and cancelled in turn.

exit codes: 0 conformant, 1 not conformant, 2 wrong usage, 3 the program could not be started,
4 incomplete: no rule failed, but not every rule that applies could be judged
"""
EPILOG = """\
examples:
  accord check -- my-agent --stdio
  accord check --protocol all --scenario builtin -- accord agent
  accord check --only V1-INIT-11 -- my-agent
  accord check --client -- my-client
"""
TURNS_IN_A_CHECK = 8
# What one check may take, however slow the turns of its scenario.
CHECK_SECONDS_LIMIT = 240.0
USAGE, NOT_STARTED = 2, 3
# The worst of several runs counts, the first here.
EXIT_CODES: dict[Conclusion, int] = {"not conformant": 1, "incomplete": 4, "conformant": 0}
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
    add("--scenario", metavar="FILE", help="prompts that make the program work")
    add("--only", metavar="RULE", action="append", default=[], help="a rule, or V1-INIT-*")
    add("--faults", action="store_true", help="noise, wrong types, huge lines, death as well")
    add("--report-json", metavar="FILE", help="write what was found as JSON")
    add("--report-junit", metavar="FILE", help="write what was found as JUnit XML")
    add("--report-html", metavar="FILE", help="write one page with every transcript")
    add("--baseline", metavar="FILE", help="known failures: a report, or one rule per line")
    add("--require-all", action="store_true", help="what is not exercised counts as a failure")
    add("--verbose", action="store_true", help="list every rule, also those not judged")
    add("--quiet", action="store_true", help="the verdict only, and no progress")
    add("--jobs", metavar="N", type=int, default=4, help="programs at a time (default: 4)")
    add("--timeout", metavar="SECONDS", type=float, default=10, help="how long answers may take")
    limit = f"begin no check after this time (default: {RUN_SECONDS_MAX:g})"
    add("--time-limit", metavar="SECONDS", type=float, default=RUN_SECONDS_MAX, help=limit)


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
    found = {report.conclusion for report in reports}
    return next(code for conclusion, code in EXIT_CODES.items() if conclusion in found)


def _judge(parsed: Namespace) -> list[Report]:
    command: list[str] = parsed.after or []
    if not command:
        raise Usage("which program?  accord check [options] -- COMMAND")
    if parsed.jobs < 1 or min(parsed.timeout, parsed.time_limit) <= 0:
        raise Usage("--jobs, --timeout and --time-limit are above zero")
    parsed.client = parsed.client or parsed.client_stdio
    parsed.scenario = parsed.scenario or ("none" if parsed.client else DEFAULT)
    scenario = load_scenario(parsed.scenario)
    wishes = Wishes(
        only=tuple(parsed.only),
        faults=parsed.faults,
        baseline=_baseline(parsed.baseline),
        require_all=parsed.require_all,
        at_once=parsed.jobs,
        # A check has a few turns in it.
        seconds_max=max(
            CHECK_SECONDS_MAX, min(TURNS_IN_A_CHECK * scenario.seconds, CHECK_SECONDS_LIMIT)
        ),
        run_seconds_max=parsed.time_limit,
        options=_options(parsed),
    )
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
    if not parsed.quiet:
        complain("accord check: finding out which versions the program speaks")
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
    checks, _ = select(role, version, wishes)
    able = sum(1 for one in checks if one.needs is None or scenario.prompt(one.needs))
    progress = CheckProgress(role, version, able, shown=not parsed.quiet)

    async def judged() -> Report:
        stages = _stages(parsed, command, scenario)
        async with progress:
            return await judge(
                command,
                role,
                version,
                stages,
                scenario,
                wishes,
                began=progress.began,
                done=progress.done,
            )

    return anyio.run(judged)


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
    usual = "none" if parsed.client else DEFAULT
    said = [] if parsed.scenario == usual else ["--scenario", parsed.scenario]
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


def _show(parsed: Namespace, report: Report) -> None:
    colour = sys.stdout.isatty()
    lines = list(summary(report, colour=colour))
    if parsed.verbose:
        lines += ["", *table(report, colour=colour)]
    for line in lines[:1] if parsed.quiet else lines:
        show(line)


def _write(parsed: Namespace, reports: Sequence[Report]) -> None:
    from accord.conformance.reports.html_page import as_html
    from accord.conformance.reports.json_and_junit import as_json, as_junit

    made = (
        (parsed.report_json, as_json),
        (parsed.report_junit, as_junit),
        (parsed.report_html, as_html),
    )
    for name, render in made:
        if name is not None:
            Path(name).write_text(render(reports), "utf-8")
