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
PATIENCE_SECONDS = 2.0
TELLING = {
    "answers_what_it_does_not_know",
    "what_a_client_cannot_is_not_asked",
    "tool_calls_are_reported",
    "allowed_edits_are_done",
    "after_logout_a_login_is_needed",
}


def command(role: Role, version: Version, *words: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", PROGRAM, role, version, *words)


def client_scenario(version: Version, rule: str | None) -> ClientScenario:
    words = (rule,) if rule else ()
    return ClientScenario(
        {name: Purpose(command("client", version, *words, name)) for name in PURPOSES}
    )


def judge_agent(
    version: Version, rule: str | None, only: Sequence[str] | None = None
) -> list[CheckRun]:
    """Run the checks that judge one of these rules (all without) over an agent of this folder."""
    words = (rule,) if rule else ()
    scenario = load_scenario(str(Path(__file__).with_name("scenario.toml")))
    stages = agent_stages(command("agent", version, *words), scenario, patience=PATIENCE_SECONDS)
    return _run("agent", version, stages, only)


def judge_client(
    version: Version, rule: str | None, only: Sequence[str] | None = None
) -> list[CheckRun]:
    """Run the checks that judge one of these rules (all without) over a client of this folder."""
    stages = client_stages(client_scenario(version, rule), way="stdio", patience=PATIENCE_SECONDS)
    return _run("client", version, cast("OpenStage", stages), only)


def _run(
    role: Role, version: Version, stages: OpenStage, only: Sequence[str] | None
) -> list[CheckRun]:
    checks, monitors = gather(role, version)
    chosen = [one for one in checks if only is None or set(one.rules) & set(only)]
    if only is not None and not {rule for one in chosen for rule in one.rules} >= set(only):
        # Only monitors judge some of them: these checks show most of what a program does.
        chosen += [one for one in checks if one not in chosen and _shows_much(one)]

    async def run() -> list[CheckRun]:
        return await run_checks(chosen, monitors, stages, at_once=2)

    return anyio.run(run)


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


def checks_of(role: Role, version: Version) -> Sequence[Check[Any]]:
    return gather(role, version)[0]
