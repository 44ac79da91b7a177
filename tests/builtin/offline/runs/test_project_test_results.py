"""How tests are run, and what their output says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.builtin.offline.actions.project_tests import summary
from accord.builtin.offline.runs.project_test_results import FAILURES_MAX, TestRun, run_of
from accord.builtin.offline.runs.project_test_runners import find_command, python_of
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


CONFTEST = """ImportError while loading conftest '/p/tests/conftest.py'.
tests/conftest.py:10: in <module>
    from box import _nativ
E   ImportError: cannot import name '_nativ' from 'box' (/p/box/__init__.py)
"""


def test_a_conftest_that_cannot_be_loaded_is_read() -> None:
    """Issue 14: it has no head line and no summary."""
    (failure,) = run_of("pytest", 4, CONFTEST).failures
    assert (failure.test, failure.error) == ("conftest", "ImportError")
    assert failure.frames[-1].path == "tests/conftest.py"


CHAINED = """____________________________ test_size ____________________________
box.py:3: in size
    return len(item)
E   NameError: name 'item' is not defined

The above exception was the direct cause of the following exception:
test_box.py:5: in test_size
    assert size([1]) == 1
box.py:5: in size
    raise RuntimeError('no size') from error
E   RuntimeError: no size
=========================== short test summary info ============================
FAILED test_box.py::test_size - RuntimeError: no size
"""


def test_what_an_error_came_from_is_read_too() -> None:
    """Issue 14: a NameError behind another error was ignored."""
    run = run_of("pytest", 1, CHAINED)
    (failure,) = run.failures
    assert failure.error == "RuntimeError"
    assert [(one.error, one.frames[-1].line) for one in failure.causes] == [("NameError", 3)]
    assert run.failing == ("test_box.py::test_size",)
    assert TestRun.from_bytes(run.to_bytes()) == run


NODE_SYNTAX = """/p/index.js:125
\t\tsetKey(argv, value;
\t\t             ^^^^^

SyntaxError: missing ) after argument list
    at wrapSafe (node:internal/modules/cjs/loader:1464:18)
    at Object.<anonymous> (/p/test/all.js:3:13)

Node.js v20.20.2
"""


def test_a_script_that_does_not_parse_is_found_where_it_is() -> None:
    """Issue 14: the stack belongs to the loader of the file."""
    (failure,) = run_of("npm test", 1, NODE_SYNTAX).failures
    assert (failure.error, failure.frames[-1].path) == ("SyntaxError", "/p/index.js")
    assert failure.frames[-1].line == 125


def test_a_crash_behind_tests_that_failed_is_read() -> None:
    """Issue 14: TAP told of the assertion only."""
    output = (
        "TAP version 13\nnot ok 1 should be equal\n  ---\n    operator: equal\n  ...\n"
        "/p/a.js:3\n\nReferenceError: parse is not defined\n    at /p/a.js:3:1\n"
    )
    errors = [one.error for one in run_of("npm test", 1, output).failures]
    assert errors == ["failed", "ReferenceError"]
    message = "/p/a.js:1\n\nError: Cannot find module './util'\n    at /p/a.js:1:1\n"
    (failure,) = run_of("npm test", 1, message).failures
    assert failure.message == "Cannot find module './util'"


def test_many_equal_failures_hide_no_other() -> None:
    """Issue 14: what is kept has one of each kind."""
    same = "".join(
        f"____ test_{n} ____\ntest_a.py:1: in test_{n}\n    x\nE   ValueError: x\n"
        for n in range(FAILURES_MAX + 10)
    )
    last = "____ test_z ____\na.py:9: in f\n    y\nE   NameError: name 'y' is not defined\n"
    found = run_of("pytest", 1, same + last).failures
    assert len(found) == FAILURES_MAX
    assert found[-1].error == "NameError"


def test_files_that_were_not_loaded_are_no_tests_that_failed() -> None:
    """Issue 14: every sentence is true; of these files no test ran."""
    output = "ERROR test_a.py - NameError: x\nERROR test_b.py\n2 errors in 0.1s\n"
    assert summary(run_of("pytest", 2, output)) == "**Red**: 2 test files could not be loaded."
    output = f"FAILED test_a.py::test_x - NameError: x\n{output}"
    assert "failed" in summary(run_of("pytest", 1, output))


def test_only_a_shell_knows_that_a_command_was_not_found() -> None:
    """Issue 14: a test may print these words as well."""
    assert run_of("npm test", 1, "Error: page not found\n").problem is None
    assert run_of("tset", 127, "sh: tset: not found\n").problem == "the command was not found"
