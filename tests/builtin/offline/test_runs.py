"""How tests are run, and what their output says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.builtin.brain.offline.runners import find_command, python_of
from accord.builtin.brain.offline.runs import TestRun, run_of
from tests.builtin.offline.talk import write

UNIT = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): ...\n"


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"test_a.py": "def test_a(): ...\n"}, "python3 -B -m pytest -q"),
        ({"test_a.py": f"import pytest\n{UNIT}"}, "python3 -B -m pytest -q"),
        ({"test_a.py": UNIT, "pytest.ini": ""}, "python3 -B -m pytest -q"),
        (
            {"test_a.py": UNIT, "pyproject.toml": "[tool.pytest.ini_options]"},
            "python3 -B -m pytest",
        ),
        ({"test_a.py": UNIT, "conftest.py": ""}, "python3 -B -m pytest"),
        ({"test_a.py": UNIT}, "python3 -B -m unittest discover"),
        ({"tests/test_a.py": UNIT}, "python3 -B -m unittest discover -s tests"),
        (
            {"tests/__init__.py": "", "tests/test_a.py": UNIT},
            "python3 -B -m unittest discover -s tests -t .",
        ),
        ({"package.json": '{"scripts": {"test": "node --test"}}'}, "npm test --silent"),
        ({"Makefile": "all:\n\ntest: all\n\tx\n"}, "make test"),
        ({"Cargo.toml": ""}, "cargo test"),
        ({"go.mod": ""}, "go test ./..."),
    ],
)
def test_the_command_is_found(files: dict[str, str], line: str) -> None:
    """Issue: pytest, unittest, npm, make found by itself."""
    command = find_command(files, list(files), "python3")
    assert command is not None
    assert command.line.startswith(line)
    assert command.because


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"a.py": ""},
        {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
        {"package.json": "broken"},
        {"Makefile": "tests:\n"},
    ],
)
def test_a_project_without_tests_has_no_command(files: dict[str, str]) -> None:
    """Ours: nothing is invented."""
    assert find_command(files, list(files), "python3") is None


def test_the_projects_own_python_is_used() -> None:
    """Brief: uses the right python."""
    assert python_of([".venv/bin/python"], "python3") == ".venv/bin/python"
    assert python_of([], "python3") == "python3"


PYTHON_TEST = """import unittest
def half(x):
    return x / 3

class T(unittest.TestCase):
    def test_half(self):
        wanted = 2
        self.assertEqual(half(4), wanted)
    def test_name(self):
        nothing
    def test_good(self): ...
"""
PYTEST = [sys.executable, "-B", "-m", "pytest", "-q", "-l", "-p", "no:cacheprovider", "--color=yes"]
COMMANDS = {
    "unittest": [sys.executable, "-B", "-m", "unittest"],
    "short": [*PYTEST, "--tb=short"],
    "long": [*PYTEST, "--tb=long"],
    "native": [*PYTEST, "--tb=native"],
}


@pytest.mark.parametrize("how", COMMANDS)
def test_the_failures_of_real_runs_are_read(how: str, tmp_path: Path) -> None:
    """Brief: pytest short and long output, unittest."""
    write(tmp_path, {"test_half.py": PYTHON_TEST, "pytest.ini": ""})
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        COMMANDS[how], cwd=tmp_path, capture_output=True, text=True, check=False, env=env
    )
    run = run_of(how, done.returncode, done.stdout + done.stderr)
    assert (run.passed, run.count_passed, run.count_failed) == (False, 1, 2)
    found = {(one.error, one.frames[-1].line) for one in run.failures if one.frames}
    assert found >= {("NameError", 10)}
    first = next(one for one in run.failures if one.error == "AssertionError")
    assert "1.33" in first.message
    assert any(frame.path.endswith("test_half.py") and frame.line == 8 for frame in first.frames)
    if how in ("short", "long"):
        assert "wanted = 2" in first.values
    assert TestRun.from_bytes(run.to_bytes()) == run


def test_what_node_and_jest_print_is_read() -> None:
    """Brief: node's test runner, jest, mocha as far as sensible."""
    node = """TAP version 13
not ok 1 - adds
  ---
  error: 'Expected values to be strictly equal'
  stack: |-
    TestContext.<anonymous> (file:///p/a.test.mjs:5:10)
  ...
# pass 3
# fail 1
"""
    run = run_of("npm test", 1, node)
    assert (run.count_passed, run.count_failed) == (3, 1)
    jest = """ FAIL  ./sum.test.js
  ReferenceError: summ is not defined

      at Object.summ (sum.test.js:4:10)
      at node:internal/x:1:2

Tests:       1 failed, 2 passed, 3 total
"""
    run = run_of("npm test", 1, jest)
    assert (run.count_passed, run.count_failed) == (2, 1)
    assert run.failures[0].error == "ReferenceError"
    assert (run.failures[0].frames[-1].path, run.failures[0].frames[-1].line) == ("sum.test.js", 4)
    mocha = run_of("npm test", 1, "  2 passing (5ms)\n  1 failing\n")
    assert (mocha.count_passed, mocha.count_failed) == (2, 1)
    cargo = run_of("cargo test", 101, "test result: FAILED. 3 passed; 1 failed; 0 ignored;\n")
    assert (cargo.count_passed, cargo.count_failed) == (3, 1)


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("/usr/bin/python3: No module named pytest\n", "pytest is not installed"),
        ("no tests ran in 0.01s\n", "there are no tests"),
        ("Ran 0 tests in 0.000s\n\nOK\n", "there are no tests"),
        ("make: *** No rule to make target 'test'.  Stop.\n", "the Makefile has no test target"),
    ],
)
def test_a_run_without_tests_says_why(output: str, problem: str) -> None:
    """Ours: no tests is not green, and not red."""
    assert run_of("x", 1, output).problem == problem


@given(st.text(max_size=400), st.sampled_from([0, 1, None]))
def test_any_output_can_be_read(output: str, code: int | None) -> None:
    """Ours: unreadable output gives no failures, and never an exception."""
    for text in (
        output,
        f"Traceback (most recent call last):\n{output}",
        f"___ a ___\nE   {output}",
    ):
        run = run_of("x", code, text)
        assert run.passed == (code == 0)
        assert TestRun.from_bytes(run.to_bytes()) == run


@given(st.binary(max_size=60))
def test_what_was_not_kept_by_us_is_no_run(kept: bytes) -> None:
    """Ours: an unreadable one is none."""
    assert TestRun.from_bytes(kept) is None
    assert TestRun.from_bytes(b'{"command": "x"}') is None
