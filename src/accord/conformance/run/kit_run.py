"""A run of the kit over one program and one version: which checks, in what order, to what end.

Must not know: how results are shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from accord.conformance import optional_behaviour as occasions
from accord.conformance import rules
from accord.conformance.agent.scenario import Scenario
from accord.conformance.check import Check, Finding, Role
from accord.conformance.checks import gather
from accord.conformance.reports.redaction import without_secrets
from accord.conformance.rule import Rule, Version
from accord.conformance.run.check_run import (
    AT_ONCE,
    CHECK_SECONDS_MAX,
    RUN_SECONDS_MAX,
    CheckRun,
    OpenStage,
    run_checks,
)
from accord.conformance.run.verdicts import Report, covered, results
from accord.machine.redaction.redactor import Redactor


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the caller asks for.

    `only` has ids of rules or patterns such as `V1-INIT-*`; empty means every rule.
    """

    only: tuple[str, ...] = ()
    faults: bool = False
    baseline: frozenset[str] = frozenset()
    require_all: bool = False
    at_once: int = AT_ONCE
    seconds_max: float = CHECK_SECONDS_MAX
    run_seconds_max: float = RUN_SECONDS_MAX
    options: tuple[str, ...] = ()


class NoSuchRule(Exception):
    """A pattern of `only` that fits no rule with a check for this role and version."""


def judged_rules(role: Role, version: Version, *, faults: bool = False) -> tuple[str, ...]:
    """The rules that bind this role in this version, or that one of its checks judges."""
    checks, monitors = gather(role, version)
    checks = [one for one in checks if faults or not one.faults]
    named = covered(checks, monitors)
    return tuple(
        rule.id
        for rule in rules.load().values()
        if rule.id in named or (rules.part(rule.id) == version and rule.binds(role))
    )


def select(
    role: Role, version: Version, wishes: Wishes
) -> tuple[list[Check[Any]], tuple[str, ...]]:
    """The checks to run and the rules to judge.

    A rule that only monitors judge is judged over the conversations of all checks.

    Raises:
        NoSuchRule: nothing that is asked for exists.
    """
    checks, _ = gather(role, version)
    wanted = [one for one in checks if wishes.faults or not one.faults]
    judged = judged_rules(role, version, faults=wishes.faults)
    if not wishes.only:
        return wanted, judged
    chosen = tuple(one for one in judged if any(fnmatchcase(one, like) for like in wishes.only))
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
    wishes: Wishes,
    *,
    began: Callable[[Check[Any]], None] = lambda check: None,
    done: Callable[[CheckRun], None] = lambda run: None,
) -> Report:
    """Judge one program in one version; what is reported of it is without secrets.

    Raises:
        NotStarted: the program cannot be started.
        NoSuchRule: nothing that is asked for exists.
    """
    start = time.monotonic()
    checks, judged = select(role, version, wishes)
    _, monitors = gather(role, version)
    able = [one for one in checks if one.needs is None or scenario.prompt(one.needs)]
    runs = await run_checks(
        able,
        monitors,
        open_stage,
        at_once=wishes.at_once,
        seconds_max=wishes.seconds_max,
        run_seconds_max=wishes.run_seconds_max,
        tries=scenario.tries,
        began=began,
        done=done,
    )
    runs += [unable(one) for one in checks if one not in able]
    redactor = Redactor.of_environment()
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


def _excuses(role: Role, scenario: Scenario, runs: Sequence[CheckRun]) -> Callable[[Rule], str]:
    """Says of a rule why it does not apply to a program that was seen in these runs."""
    if role == "client":
        return lambda rule: occasions.client_excuse(rule, scenario.client)
    shown = occasions.shown_in(frames for run in runs for frames in run.conversations)
    # What is only tried, nobody promised.
    purposes = () if scenario.tries else tuple(scenario.prompts)
    return lambda rule: occasions.excuse(rule, shown, purposes=purposes, never=scenario.never)


def unable(check: Check[Any]) -> CheckRun:
    """What comes of a check for which the scenario has no prompt."""
    said = f"the scenario has no prompt for {check.needs!r}"
    return CheckRun(check, tuple(Finding(one, "not_exercised", said) for one in check.rules), 0.0)
