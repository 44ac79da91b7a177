"""Judges the peers of this folder with the kit, as `accord check` would."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import anyio

from accord.conformance.agent_stage import agent_stages
from accord.conformance.check import Check, Role
from accord.conformance.checks import gather
from accord.conformance.client.scenario import PURPOSES, ClientScenario, Purpose
from accord.conformance.client.stage import client_stages
from accord.conformance.rule import Version
from accord.conformance.running import CheckRun, OpenStage, run_checks
from accord.conformance.scenario import load_scenario

PROGRAM = str(Path(__file__).with_name("peer.py"))
# These programs answer at once or never.
PATIENCE_SECONDS = 4.0
PEERS_AT_ONCE = 4
# Checks that see much of a program, for rules that only monitors judge.
TELLING = {
    "answers_what_it_does_not_know",
    "what_a_client_cannot_is_not_asked",
    "tool_calls_are_reported",
    "allowed_edits_are_done",
    "after_logout_a_login_is_needed",
    "errors_have_their_codes",
    "ids",
    "answers_to_forms_are_taken",
    "odd_markers_are_no_support",
    "sessions_are_listed",
    "turns_are_told_of",
    "applies_what_is_asked_about",
    "what_is_foreign_does_no_harm",
}


def command(role: Role, version: Version, *words: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", PROGRAM, role, version, *words)


def client_scenario(version: Version, *words: str) -> ClientScenario:
    return ClientScenario(
        {name: Purpose(command("client", version, *words, name)) for name in PURPOSES}
    )


def stages(role: Role, version: Version, *words: str) -> OpenStage:
    """How the kit meets one of these peers; the words say which (see peer.py)."""
    if role == "client":
        scenario = client_scenario(version, *words)
        return cast("OpenStage", client_stages(scenario, way="stdio", patience=PATIENCE_SECONDS))
    here = Path(__file__).parent
    of_draft = here.parent / "conformance" / "draft.toml"
    scenario_file = of_draft if version == "draft" else here / "scenario.toml"
    started = command("agent", version, *words)
    return agent_stages(started, load_scenario(str(scenario_file)), patience=PATIENCE_SECONDS)


async def judge(
    role: Role,
    version: Version,
    *words: str,
    only: Sequence[str] | None = None,
    faults: bool = True,
) -> list[CheckRun]:
    """Run the checks that judge one of these rules (all without `only`) over a peer."""
    checks, monitors = gather(role, version)
    checks = [one for one in checks if faults or not one.faults]
    chosen = [one for one in checks if only is None or set(one.rules) & set(only)]
    watched = {rule for one in monitors for rule in one.rules}
    if only is not None and watched & set(only):
        # Monitors judge some of them: these checks show most of what a program does.
        chosen += [one for one in checks if one not in chosen and _shows_much(one)]
    return await run_checks(chosen, monitors, stages(role, version, *words), at_once=2)


async def judge_broken(
    role: Role, version: Version, rules: Sequence[str], *, whole: bool = False
) -> dict[str, list[CheckRun]]:
    """Judge the broken peer of each rule, some at a time, by the checks of that rule or by all."""
    runs: dict[str, list[CheckRun]] = {}
    limiter = anyio.CapacityLimiter(PEERS_AT_ONCE)

    async def one(rule: str) -> None:
        async with limiter:
            runs[rule] = await judge(role, version, rule, only=None if whole else [rule])

    async with anyio.create_task_group() as tasks:
        for rule in rules:
            tasks.start_soon(one, rule)
    return runs


def _shows_much(check: Check[Any]) -> bool:
    return check.name.partition(".")[2] in TELLING


def verdicts(runs: Sequence[CheckRun], *wanted: str) -> dict[str, list[str]]:
    """The rules with one of these verdicts, and what was said."""
    found: dict[str, list[str]] = {}
    for run in runs:
        for finding in run.findings:
            if finding.verdict in wanted:
                found.setdefault(finding.rule, []).append(
                    f"{run.check.name}: {finding.said} {finding.came[:300]}"
                )
    return found
