"""Clients of the library before the kit: what their state adds up to, and what they settle."""

import sys
from pathlib import Path
from typing import Any, cast

import pytest

from accord.conformance.check_definition import Check
from accord.conformance.checks import gather
from accord.conformance.client.check_environment import client_stages
from accord.conformance.client.launch import with_agent
from accord.conformance.client.scenario import (
    BadScenario,
    ClientScenario,
    Purpose,
    read_scenario,
)
from accord.conformance.rule_definition import Version
from accord.conformance.run.check_runner import OpenStage, run_checks

CLIENT = (sys.executable, str(Path(__file__).with_name("state_client.py")))
WANTED = ("client.v1.session_state", "client.v2.session_state", "settles", "cancels_no_single_call")


def is_wanted(check: Check[Any]) -> bool:
    return any(word in check.name for word in WANTED)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1", "2"])
async def test_the_librarys_client_folds_updates_and_settles_questions(version: Version) -> None:
    """Issue 4: upsert folding where the client shows its state, and cancel behaviour."""
    scenario = ClientScenario(
        {"prompt": Purpose(CLIENT), "cancel": Purpose((*CLIENT, "cancel"))},
    )
    checks, monitors = gather("client", version)
    chosen = [one for one in checks if is_wanted(one)]
    stages = cast("OpenStage", client_stages(scenario))
    runs = await run_checks(chosen, monitors, stages, at_once=2)
    findings = [finding for run in runs for finding in run.findings]
    assert [one for one in findings if one.verdict == "fail"] == []
    assert sum(one.verdict == "pass" for one in findings) >= len(chosen)


@pytest.mark.parametrize(("how", "verdict"), [("careful", "pass"), ("careless", "fail")])
async def test_a_login_by_terminal_that_fails_is_none(how: str, verdict: str) -> None:
    """V1-AUTH-06: only the exit code 0 is a success."""
    program = str(Path(__file__).with_name("login_client.py"))
    scenario = ClientScenario({"login": Purpose((sys.executable, program, how))})
    checks, monitors = gather("client", "1")
    chosen = [one for one in checks if "V1-AUTH-06" in one.rules]
    runs = await run_checks(chosen, monitors, cast("OpenStage", client_stages(scenario)))
    findings = [finding for run in runs for finding in run.findings]
    assert {one.verdict for one in findings if one.rule == "V1-AUTH-06"} == {verdict}


def test_the_agents_command_takes_its_place() -> None:
    """Issue 4: both ways to hand the agent to a client are documented."""
    assert with_agent(["client", "hello"], "/tmp/agent") == ["client", "hello", "/tmp/agent"]
    assert with_agent(["c", "--agent={agent}", "x"], "/a") == ["c", "--agent=/a", "x"]


def test_a_scenario_names_commands_and_signals(tmp_path: Path) -> None:
    """docs/how-to/test-with-the-kit.md."""
    file = tmp_path / "client.toml"
    file.write_text('[environment]\nA = "1"\n[client]\ncancel = {signal = "INT"}\nlist = ["x"]\n')
    scenario = read_scenario(file, ["client"])
    assert scenario.environment == {"A": "1"}
    assert scenario.get("prompt") == Purpose(("client",))
    assert scenario.get("cancel") == Purpose(("client",), 2)
    assert scenario.get("list") == Purpose(("x",))
    assert scenario.get("login") == Purpose(("client",), tries=True)
    assert scenario.get("load") is None


@pytest.mark.parametrize(
    "text",
    [
        "[client]\nfly = ['x']",
        "[client]\nlist = []",
        "[client]\nlist = {signal = 'NONE'}",
        "client = 5",
        "[environment]\nA = 1",
        "not toml",
    ],
)
def test_a_scenario_that_makes_no_sense_is_refused(tmp_path: Path, text: str) -> None:
    """Wrong usage is said before anything is started."""
    file = tmp_path / "client.toml"
    file.write_text(text)
    with pytest.raises(BadScenario):
        read_scenario(file, ["client"])
