"""How a project's tests are run: found from the names of its files and what is in a few of them.

Pure: what it looks into is handed over.  The first that fits is taken: pytest, unittest, npm,
cargo, go, make.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from accord.builtin.offline.source_code.project_texts import ENVIRONMENT_PYTHONS
from accord.builtin.offline.source_code.references import is_test


@dataclass(frozen=True, slots=True)
class TestCommand:
    """A command line, which runner that is, and by what it was found."""

    __test__ = False

    line: str
    runner: str
    because: str


def python_of(present: Collection[str], otherwise: str) -> str:
    """The Python to use: that of an environment in the project, else the given one."""
    return next((path for path in ENVIRONMENT_PYTHONS if path in present), otherwise)


def find_command(
    files: Mapping[str, str], paths: Collection[str], python: str, target: str | None = None
) -> TestCommand | None:
    """The command for all tests, or for one file; None when the project shows no tests."""
    tests = sorted(path for path in paths if path.endswith(".py") and is_test(path))
    tests = [path for path in tests if not path.endswith("conftest.py")]
    why = _wants_pytest(files, paths, tests)
    if why is not None:
        return TestCommand(_pytest(python, target), "pytest", why)
    if tests:
        return TestCommand(
            _unittest(python, paths, tests, target),
            "unittest",
            f"{tests[0]} uses unittest classes",
        )
    script = _npm_test(files.get("package.json", ""))
    if script is not None:
        extra = f" -- {shlex.quote(target)}" if target else ""
        return TestCommand(f"npm test --silent{extra}", "npm", "package.json has a test script")
    if "Cargo.toml" in paths:
        return TestCommand("cargo test", "cargo", "there is a Cargo.toml")
    if "go.mod" in paths:
        return TestCommand("go test ./...", "go", "there is a go.mod")
    makefile = next((name for name in ("Makefile", "makefile", "GNUmakefile") if name in paths), "")
    if re.search(r"^test\s*:(?!=)", files.get(makefile, ""), re.MULTILINE):
        return TestCommand("make test", "make", f"{makefile} has a target `test`")
    return None


def _wants_pytest(files: Mapping[str, str], paths: Collection[str], tests: list[str]) -> str | None:
    """The reason to use pytest; None if there is none."""
    for name in ("pytest.ini", "pytest.toml", ".pytest.ini"):
        if name in paths:
            return f"there is a {name}"
    for name, mark in (("pyproject.toml", "[tool.pytest"), ("setup.cfg", "[tool:pytest]"),
                       ("tox.ini", "[pytest]")):  # fmt: skip
        if mark in files.get(name, ""):
            return f"{name} configures pytest"
    if not tests:
        return None
    if any(path.rpartition("/")[2] == "conftest.py" for path in paths):
        return "there is a conftest.py"
    for path in tests:
        text = files.get(path, "")
        if re.search(r"^\s*(?:import|from) pytest\b", text, re.MULTILINE):
            return f"{path} imports pytest"
        if re.search(r"^(?:async )?def test_", text, re.MULTILINE):
            return f"{path} has tests that are plain functions"
    return None


def _pytest(python: str, target: str | None) -> str:
    # -B: a file that changes within a second of a run must not use the old bytecode.
    line = f"{shlex.quote(python)} -B -m pytest -q -l --tb=short --color=no"
    return f"{line} {shlex.quote(target)}" if target else line


def _unittest(python: str, paths: Collection[str], tests: list[str], target: str | None) -> str:
    line = f"{shlex.quote(python)} -B -m unittest"
    if target is not None:
        return f"{line} {shlex.quote(target)}"
    folders = {path.rpartition("/")[0] for path in tests}
    top = {folder.partition("/")[0] for folder in folders}
    names = {path.rpartition("/")[2] for path in tests}
    pattern = "" if all(name.startswith("test") for name in names) else " -p '*test*.py'"
    if len(top) == 1 and "" not in top:
        folder = top.pop()
        # Only a package can be found from above.
        above = " -t ." if f"{folder}/__init__.py" in paths else ""
        return f"{line} discover -s {shlex.quote(folder)}{above}{pattern}"
    return f"{line} discover{pattern}"


def _npm_test(package: str) -> str | None:
    try:
        script = json.loads(package)["scripts"]["test"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    # The placeholder of `npm init` is not a test.
    return script if isinstance(script, str) and "no test specified" not in script else None
