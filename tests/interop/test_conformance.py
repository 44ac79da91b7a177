"""The whole kit over agents of ours: the built-in one and the scripted one."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from accord.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "tests" / "conformance"
AGENTS = {
    "builtin": ("builtin", ["-m", "accord", "agent"]),
    "builtin, unprepared": ("generic", ["-m", "accord", "agent"]),
    "scripted": (str(SCENARIOS / "scripted.toml"), [str(ROOT / "tests/interop/ours/agent.py")]),
}
# What it does not do, and no library can do for it.
ADVICE = {"scripted": {"V1-MCP-02"}}
UNJUDGED = {
    ("scripted", "1"): {"V1-AUTH-08", "V1-MCP-01", "V1-SESS-13", "V1-SESS-18"},
    ("scripted", "draft"): {"D26-15", "D26-24"},
}


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1", "2", "draft"])
@pytest.mark.parametrize("name", AGENTS)
def test_our_agents_are_conformant(
    name: str, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: built-in agent and library, all versions green.  Issue 13: without a scenario too."""
    monkeypatch.setenv("ACCORD_MODEL", "offline")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    scenario, words = AGENTS[name]
    found = tmp_path / "report.json"
    options = ["--protocol", version, "--scenario", scenario, "--report-json", str(found)]
    code = main(["check", "--quiet", *options, "--", sys.executable, *words])
    report: dict[str, Any] = json.loads(found.read_text())
    failed = {one["id"]: one["findings"] for one in report["results"] if one["verdict"] == "fail"}
    assert set(failed) <= ADVICE.get(name, set()), failed
    left = UNJUDGED.get((name, version), set())
    assert set(report["runs"][0]["unjudged"]) == left
    assert code == (4 if left else 0)
