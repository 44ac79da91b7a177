"""Judges the peers of this folder with the kit, as `accord check` would."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from accord.conformance.check import Check, Role
from accord.conformance.checks import gather
from accord.conformance.client.scenario import PURPOSES, ClientScenario, Purpose
from accord.conformance.client.stage import client_stages
from accord.conformance.rule import Version
from accord.conformance.running import CheckRun, run_checks

PROGRAM = str(Path(__file__).with_name("peer.py"))
# These programs answer at once or never.
PATIENCE_SECONDS = 2.0


def command(role: Role, version: Version, *words: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", PROGRAM, role, version, *words)


def client_scenario(version: Version, rule: str | None) -> ClientScenario:
    words = (rule,) if rule else ()
    return ClientScenario(
        {name: Purpose(command("client", version, *words, name)) for name in PURPOSES}
    )


def judge_client(
    version: Version, rule: str | None, only: Sequence[str] | None = None
) -> list[CheckRun]:
    """Run the checks that judge one of these rules (all without) over a client of this folder."""
    checks, monitors = gather("client", version)
    chosen = [one for one in checks if only is None or set(one.rules) & set(only)]
    stages = client_stages(client_scenario(version, rule), way="stdio", patience=PATIENCE_SECONDS)

    async def run() -> list[CheckRun]:
        return await run_checks(chosen, monitors, stages, at_once=2)

    return anyio.run(run)


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
