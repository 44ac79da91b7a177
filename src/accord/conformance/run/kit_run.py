"""A run of the kit over one program and one version: its checks, their order, the report.

Must not know: how results are shown.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from accord.conformance import optional_behaviour as occasions
from accord.conformance import rules
from accord.conformance.agent.scenario import Scenario
from accord.conformance.agent.seen_prompts import seen_prompts, try_prompts
from accord.conformance.check_definition import Check, Finding, Role
from accord.conformance.checks import NOT_OVER, gather
from accord.conformance.network.address import Transport
from accord.conformance.reports.untrusted_text import without_secrets
from accord.conformance.rule_definition import Rule, Version
from accord.conformance.run.check_runner import AT_ONCE, CheckRun, OpenStage, run_checks
from accord.conformance.run.program import NotStarted
from accord.conformance.run.verdicts import JUDGED, Report, covered, results
from accord.conformance.time_limits import CHECK_SECONDS_MAX, RUN_SECONDS_MAX
from accord.machine.redaction.redactor import Redactor


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run.

    `only` has ids of rules or patterns such as `V1-INIT-*`; empty means every rule.
    """

    only: tuple[str, ...] = ()
    transport: Transport = "stdio"
    faults: bool = False
    baseline: frozenset[str] = frozenset()
    require_all: bool = False
    at_once: int = AT_ONCE
    seconds_max: float = CHECK_SECONDS_MAX
    run_seconds_max: float = RUN_SECONDS_MAX
    options: tuple[str, ...] = ()


class NoSuchRule(Exception):
    """A pattern of `only` fits no rule with a check for this role and version."""


def judged_rules(
    role: Role, version: Version, *, faults: bool = False, transport: Transport = "stdio"
) -> tuple[str, ...]:
    """Return the rules that bind this role in this version, or that one of its checks judges."""
    checks, monitors = gather(role, version, transport)
    checks = [one for one in checks if faults or not one.faults]
    named = covered(checks, monitors)
    return tuple(
        rule.id
        for rule in rules.load().values()
        if (rule.id in named or (rules.part(rule.id) == version and rule.binds(role)))
        and not _fits(rule.id, NOT_OVER[transport])
    )


def _fits(rule_id: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(rule_id, like) for like in patterns)


def select(
    role: Role, version: Version, wishes: RunOptions
) -> tuple[list[Check[Any]], tuple[str, ...]]:
    """Return the checks to run and the rules to judge.

    A rule that only monitors judge is judged over the conversations of all checks.

    Raises:
        NoSuchRule: nothing that is asked for exists.
    """
    checks, _ = gather(role, version, wishes.transport)
    wanted = [one for one in checks if wishes.faults or not one.faults]
    judged = judged_rules(role, version, faults=wishes.faults, transport=wishes.transport)
    if not wishes.only:
        return wanted, judged
    chosen = tuple(one for one in judged if _fits(one, wishes.only))
    if not chosen:
        raise NoSuchRule(", ".join(wishes.only))
    direct = [one for one in wanted if set(one.rules) & set(chosen)]
    watched = set(chosen) - {rule for one in direct for rule in one.rules}
    return (wanted if watched else direct), chosen


async def judge(
    command: Sequence[str],
    role: Role,
    version: Version,
    open_stage: OpenStage,
    scenario: Scenario,
    wishes: RunOptions,
    *,
    began: Callable[[Check[Any]], None] = lambda check: None,
    done: Callable[[CheckRun], None] = lambda run: None,
) -> Report:
    """Judge one program in one version; the report has no secrets.

    Raises:
        NotStarted: the program cannot be started.
        NoSuchRule: nothing that is asked for exists.
    """
    start = time.monotonic()
    checks, judged = select(role, version, wishes)
    _, monitors = gather(role, version, wishes.transport)
    ran = partial(
        run_checks,
        monitors=monitors,
        open_stage=open_stage,
        at_once=wishes.at_once,
        seconds_max=wishes.seconds_max,
        began=began,
        done=done,
    )
    redactor = Redactor.of_environment()
    try:
        runs = await _run_all(checks, role, version, scenario, wishes, ran)
    except NotStarted as error:
        raise NotStarted(redactor.text(str(error))) from None
    runs = without_secrets(runs, redactor)
    found = results(
        rules.load_for(role),
        judged,
        runs,
        baseline=wishes.baseline,
        excuse=_excuses(role, scenario, runs),
        asked=frozenset(wishes.only) & frozenset(judged),
    )
    return Report(
        tuple(redactor.words(command)),
        role,
        version,
        found,
        tuple(runs),
        time.monotonic() - start,
        wishes.require_all,
        bool(wishes.only),
        scenario.never,
        tuple(redactor.words(wishes.options)),
    )


async def _run_all(
    checks: Sequence[Check[Any]],
    role: Role,
    version: Version,
    scenario: Scenario,
    wishes: RunOptions,
    ran: Callable[..., Awaitable[list[CheckRun]]],
) -> list[CheckRun]:
    """Run the checks that have their prompts, then those for which a prompt was found."""
    end = time.monotonic() + wishes.run_seconds_max

    def left_seconds() -> float:
        return end - time.monotonic()

    able = [one for one in checks if one.needs is None or scenario.prompt(one.needs)]
    left = [one for one in checks if one not in able]
    runs = await ran(able, run_seconds_max=left_seconds(), tries=scenario.tries)
    if role == "agent" and left:
        seen = list(runs)
        if wishes.only:
            trying = [Check("prompts", (), role, version, try_prompts)]
            seen += await ran(trying, run_seconds_max=left_seconds(), tries=True)
        helped = with_seen_prompts(left, seen, scenario)
        runs += await ran(helped, run_seconds_max=left_seconds(), tries=True)
        left = [one for one in left if one not in helped]
    return runs + [unable(one) for one in left]


def with_seen_prompts(
    checks: Sequence[Check[Any]], runs: Sequence[CheckRun], scenario: Scenario
) -> list[Check[Any]]:
    """Return the checks for which these runs show a prompt, and that have an unjudged rule."""
    prompts = seen_prompts((frames for run in runs for frames in run.conversations), scenario)
    known = {one.rule for run in runs for one in run.findings if one.verdict in JUDGED}
    return [
        replace(one, prompts=prompts)
        for one in checks
        if one.needs in prompts and not known.issuperset(one.rules)
    ]


def _excuses(role: Role, scenario: Scenario, runs: Sequence[CheckRun]) -> Callable[[Rule], str]:
    """Return the function that tells why a rule does not apply to the program of these runs."""
    if role == "client":
        return lambda rule: occasions.client_excuse(rule, scenario.client)
    shown = occasions.shown_in(frames for run in runs for frames in run.conversations)
    # Behaviour that is only tried was not promised.
    purposes = () if scenario.tries else tuple(scenario.prompts)
    return lambda rule: occasions.excuse(rule, shown, purposes=purposes, never=scenario.never)


def unable(check: Check[Any]) -> CheckRun:
    """Return the result of a check for which the scenario has no prompt."""
    said = f"the scenario has no prompt for {check.needs!r}"
    return CheckRun(check, tuple(Finding(one, "not_exercised", said) for one in check.rules), 0.0)
