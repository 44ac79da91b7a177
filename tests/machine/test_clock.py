"""Any clock will do: nothing that we write down about the time may end anything."""

import ast
import json
import math
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.machine import clock
from tests.hang_limit import HANG_SECONDS

SOURCE = Path(clock.__file__).parents[1]


@given(st.floats(allow_nan=True, allow_infinity=True), st.floats(0, 1e6))
def test_every_number_is_a_time(value: float, ago: float) -> None:
    """Issue 12: a clock in the year 9926 ended the agent."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(time, "time", lambda: value)
        told = clock.timestamp(seconds_ago=ago)
        assert datetime.fromisoformat(told).tzinfo is not None
        assert told.endswith("Z")
        assert math.isfinite(clock.seconds())
        assert clock.file_stamp()
        assert clock.local_date()


def test_a_clock_that_python_cannot_read_is_a_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 12: `time.time` raises after the year 2262."""

    def beyond() -> float:
        raise OverflowError("timestamp too large to convert to C _PyTime_t")

    monkeypatch.setattr(time, "time", beyond)
    assert clock.timestamp().startswith("2262-")
    clock.mend()
    first = time.time()
    assert first <= time.time() < clock.PYTHON_SECONDS_MAX


def test_a_clock_that_works_is_left_alone() -> None:
    """Ours: nobody's `time.time` is replaced without need."""
    before = time.time
    clock.mend()
    assert time.time is before


AGENT = """
import sys, time
real = time.time
def beyond():
    raise OverflowError("timestamp too large to convert to C _PyTime_t")
time.time = beyond
from accord.cli.main import main
sys.argv[1:] = ["agent"]
sys.exit(main())
"""
SAID = (
    {"id": 1, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {}}},
    {"id": 2, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}},
)


def test_the_agent_works_in_the_year_9926(tmp_path: Path) -> None:
    """Issue 12: it ended without a word."""
    env = {"ACCORD_STATE_DIR": str(tmp_path), "ACCORD_CONFIG_DIR": str(tmp_path), "PATH": "/bin"}
    with subprocess.Popen(
        [sys.executable, "-c", AGENT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
        text=True,
    ) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        answers: list[dict[str, Any]] = []
        for message in SAID:
            agent.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            agent.stdin.flush()
            while not answers or answers[-1].get("id") != message["id"]:
                answers.append(json.loads(agent.stdout.readline()))
        agent.stdin.close()
        assert agent.wait(HANG_SECONDS) == 0
    assert answers[-1]["result"]["modes"]["availableModes"]


def test_nobody_reads_the_clock_elsewhere() -> None:
    """Issue 12: one function guards every time that is written down."""
    forbidden = {("time", "time"), ("datetime", "now"), ("datetime", "fromtimestamp")}
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        if path == Path(clock.__file__) or path.name == "main.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                name = (node.value.id, node.attr)
                if name in forbidden or node.attr in ("utcnow", "utcfromtimestamp"):
                    found.append(f"{path.name}:{node.lineno}")
    assert found == []
