"""The whole kit over agents of ours: the built-in one and the scripted one."""

from __future__ import annotations

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
    "scripted": (str(SCENARIOS / "scripted.toml"), [str(ROOT / "tests/interop/ours/agent.py")]),
}
# What it does not do, and no library can do for it.
ADVICE = {"scripted": {"V1-MCP-02"}}


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("version", ["1", "2", "draft"])
@pytest.mark.parametrize("name", AGENTS)
def test_our_agents_are_conformant(
    name: str, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: built-in agent and library, all versions green."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    scenario, words = AGENTS[name]
    found = tmp_path / "report.json"
    options = ["--protocol", version, "--scenario", scenario, "--report-json", str(found)]
    code = main(["check", "--quiet", *options, "--", sys.executable, *words])
    report: dict[str, Any] = json.loads(found.read_text())
    failed = {one["id"]: one["findings"] for one in report["results"] if one["verdict"] == "fail"}
    assert set(failed) <= ADVICE.get(name, set()), failed
    assert code == 0
