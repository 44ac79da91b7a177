"""Judges the peers of this folder with the kit, as `accord check` would."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import anyio

from accord.conformance.agent.check_environment import agent_stages
from accord.conformance.agent.scenario import load_scenario
from accord.conformance.check_definition import Check, Role
from accord.conformance.checks import gather
from accord.conformance.client.check_environment import client_stages
from accord.conformance.client.scenario import PURPOSES, ClientScenario, Purpose
from accord.conformance.rule_definition import Version
from accord.conformance.run.check_runner import CheckRun, OpenStage, run_checks

PROGRAM = str(Path(__file__).with_name("peer.py"))
# Nobody waits this out: what is not broken by silence answers, however busy the machine is.
PATIENCE_SECONDS = 30.0
# Enough for a busy machine to answer whatever the silent ones do answer.
SILENT_SECONDS = 6.0
PEERS_AT_ONCE = 4
CHECKS_AT_ONCE = 4
SILENT_AT_ONCE = 32
# The check by which a rule is seen that only monitors judge, for each side and version.
SHOWN_BY: dict[tuple[Role, Version], str] = {
    ("agent", "1"): "agent.v1.turns.allowed_edits_are_done",
    ("agent", "2"): "agent.v2.turns.allowed_edits_are_done",
    ("agent", "draft"): "agent.draft.what_is_foreign_does_no_harm",
    ("client", "1"): "client.v1.wire.answers_what_it_does_not_know",
    ("client", "2"): "client.v1.wire.answers_what_it_does_not_know",
    ("client", "draft"): "client.draft.what_is_foreign_does_no_harm",
}
# The rules that show by another one, or that their own check does not bring about.
SHOWN_ELSEWHERE: dict[tuple[Role, Version], dict[str, str]] = {
    ("agent", "1"): {
        "V1-GEN-03": "agent.v1.wire.errors_have_their_codes",
        "V1-AUTH-11": "agent.v1.initialize.after_logout_a_login_is_needed",
        "V1-PLAN-05": "agent.v1.initialize.what_a_client_cannot_is_not_asked",
        "V1-PROXY-09": "agent.v1.initialize.what_a_client_cannot_is_not_asked",
        "V1-EXT-08": "agent.v1.session_history.sessions_are_listed",
    },
    ("agent", "2"): {
        "V1-GEN-03": "agent.v2.initialize_and_wire.ids",
        "V2-GEN-01": "agent.v2.turns.allowed_edits_are_done",
        "V2-PROMPT-09": "agent.v2.initialize_and_wire.odd_markers_are_no_support",
        "V1-ELIC-01": "agent.v2.initialize_and_wire.odd_markers_are_no_support",
        "V1-ELIC-10": "agent.v2.turns.answers_to_forms_are_taken",
        "V1-ELIC-27": "agent.v2.turns.answers_to_forms_are_taken",
        "V2-ELIC-01": "agent.v2.turns.answers_to_forms_are_taken",
        "V2-ELIC-02": "agent.v2.turns.answers_to_forms_are_taken",
    },
    ("agent", "draft"): {"D26-14": "agent.draft.turns_are_told_of"},
    ("client", "1"): {
        "V1-EXT-08": "client.v1.files_and_terminals.keeps_files_inside_the_roots",
        "V1-SESS-16": "client.v1.initialize.sends_no_roots_unasked",
        "V1-PROV-02": "client.v1.wire.answers_what_it_does_not_know",
        **dict.fromkeys(
            ("V1-SESS-15", "V1-SESS-19", "V1-SESS-27", "V1-CLOSE-23", "V1-CLOSE-25"),
            "client.v1.whole_runs.uses_on_its_own_only_what_is_offered",
        ),
    },
    ("client", "2"): {"V2-GEN-08": "client.v2.session_state.applies_what_is_asked_about"},
}


def command(role: Role, version: Version, *words: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", PROGRAM, role, version, *words)


def client_scenario(version: Version, *words: str) -> ClientScenario:
    return ClientScenario(
        {name: Purpose(command("client", version, *words, name)) for name in PURPOSES}
    )


def stages(
    role: Role,
    version: Version,
    *words: str,
    patience: float = PATIENCE_SECONDS,
    tries: bool = False,
) -> OpenStage:
    """How the kit meets one of these peers; the words say which (see peer.py)."""
    if role == "client":
        scenario = client_scenario(version, *words)
        return cast("OpenStage", client_stages(scenario, way="stdio", patience=patience))
    here = Path(__file__).parent
    of_draft = here.parent / "conformance" / "draft.toml"
    scenario_file = of_draft if version == "draft" else here / "scenario.toml"
    started = command("agent", version, *words)
    loaded = replace(load_scenario(str(scenario_file)), seconds=patience, tries=tries)
    return agent_stages(started, loaded, patience=patience)


async def judge(
    role: Role,
    version: Version,
    *words: str,
    only: Sequence[str] | None = None,
    faults: bool = True,
    patience: float = PATIENCE_SECONDS,
    tries: bool = False,
) -> list[CheckRun]:
    """Run the checks that judge one of these rules (all without `only`) over a peer."""
    checks, monitors = gather(role, version)
    checks = [one for one in checks if faults or not one.faults]
    if only is not None:
        names = shown_by(role, version, only, checks)
        checks = [one for one in checks if one.name in names]
    opened = stages(role, version, *words, patience=patience, tries=tries)
    return await run_checks(checks, monitors, opened, at_once=CHECKS_AT_ONCE, tries=tries)


async def judge_broken(
    role: Role, version: Version, rules: Sequence[str], *, whole: bool = False, silent: bool = False
) -> dict[str, list[CheckRun]]:
    """Judge the broken peer of each rule by the checks of that rule or by all.

    The silent ones, which cost only time, all at once; of the others some at a time.
    """
    runs: dict[str, list[CheckRun]] = {}
    limiter = anyio.CapacityLimiter(SILENT_AT_ONCE if silent else PEERS_AT_ONCE)
    patience = SILENT_SECONDS if silent else PATIENCE_SECONDS

    async def one(rule: str) -> None:
        only = None if whole else [rule]
        async with limiter:
            runs[rule] = await judge(role, version, rule, only=only, patience=patience)

    async with anyio.create_task_group() as tasks:
        for rule in rules:
            tasks.start_soon(one, rule)
    return runs


def shown_by(
    role: Role, version: Version, rules: Sequence[str], checks: Sequence[Check[Any]]
) -> set[str]:
    """The names of the checks by which these rules are seen to be broken."""
    names: set[str] = set()
    for rule in rules:
        own = {one.name for one in checks if rule in one.rules}
        elsewhere = SHOWN_ELSEWHERE.get((role, version), {}).get(rule)
        names |= own | ({elsewhere} if elsewhere else set())
        if not own and not elsewhere:
            names.add(SHOWN_BY[role, version])
    missing = names - {one.name for one in checks}
    assert not missing, f"the tables above name checks that do not exist: {missing}"
    return names


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
