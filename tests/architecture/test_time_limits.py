"""Time limits of tests find hangs and nothing else: there is one, in tests/hang_limit.py."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.hang_limit import HANG_SECONDS

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS = ROOT / "tests"
LIMIT = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"][
    "timeout"
]

# Programs that run in other environments, and a clock that only the simulation has.
OTHER = ("interop/official", "kit_accuracy", "simulation")
# A shell line that runs on is ended there, which fails nothing.
NO_FAILURE = ("client/shell/marker_sandbox.py",)
CLOCKS = frozenset({"monotonic", "perf_counter", "process_time", "thread_time"})
CLOCK_READERS = {
    "hang_limit.py": "the one limit",
    "idle_clock.py": "the clock of asynchronous tests",
    "cli/commands/test_trace.py": "prints how long it took, and asserts nothing about it",
    "transport/random_cuts.py": "prints how long it was away, and asserts nothing about it",
}


def _files(*words: str) -> Iterator[tuple[str, ast.Module]]:
    """The tests in which one of the words occurs."""
    for path in sorted(TESTS.rglob("*.py")):
        name, text = path.relative_to(TESTS).as_posix(), path.read_text()
        if not name.startswith(OTHER) and any(word in text for word in words):
            yield name, ast.parse(text)


def _constants(tree: ast.Module) -> set[str]:
    """Names to which the file itself gives a number."""
    return {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and _is_number(node.value, set())
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _is_number(node: ast.expr | None, constants: set[str]) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_number(node.left, constants) and _is_number(node.right, constants)
    if isinstance(node, ast.Name):
        return node.id in constants
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _limit_of(call: ast.Call) -> ast.expr | None:
    """The time limit that a call has for hangs, if it is one that can have it."""
    name = ast.unparse(call.func)
    owner, _, function = name.rpartition(".")
    if function == "fail_after":
        return call.args[0]
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    if owner == "subprocess" or function == "communicate":
        return named.get("timeout")
    if function in ("wait", "join") and owner.rpartition(".")[2] in ("process", "thread"):
        return named.get("timeout", call.args[0] if call.args else None)
    return None


def test_every_limit_for_hangs_is_the_one() -> None:
    """Issue 14: `make test` passes under a load of 20; a number of its own is one more to fail."""
    found = [
        f"{name}:{node.lineno}: {ast.unparse(node.func)} with a number of its own"
        for name, tree in _files("fail_after", "subprocess", "process", "thread")
        for constants in [_constants(tree)]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and _is_number(_limit_of(node), constants)
        and name not in NO_FAILURE
    ]
    assert found == [], "use tests.hang_limit.HANG_SECONDS"


def test_no_test_judges_how_long_something_took() -> None:
    """Issue 14: assertions on elapsed time say more about the machine than about the program."""
    found = {
        name
        for name, tree in _files(*CLOCKS)
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr in CLOCKS)
        or (isinstance(node, ast.alias) and node.name in CLOCKS)
    }
    assert found == set(CLOCK_READERS)


def test_no_test_has_a_smaller_limit_than_all() -> None:
    """Issue 14: a mark is for tests that do more than others, not for those that should be fast."""
    assert LIMIT > 2 * HANG_SECONDS
    found = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, tree in _files("mark.timeout")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.timeout"
        for limit in node.args
        if not (isinstance(limit, ast.Constant) and int(str(limit.value)) > LIMIT)
    ]
    assert found == []


@pytest.mark.parametrize("profile", ["ci", "dev"])
def test_hypothesis_counts_no_time(profile: str) -> None:
    """Issue 14: neither how long an example takes nor how long it takes to make one."""
    used = settings.get_profile(profile)
    assert used.deadline is None
    assert HealthCheck.too_slow in used.suppress_health_check
    for name, tree in _files("suppress_health_check", "deadline="):
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "suppress_health_check":
                told = ast.unparse(node.value)
                # A list given here replaces the list of the profile.
                assert "too_slow" in told or "list(HealthCheck)" in told, f"{name}:{node.lineno}"
            if isinstance(node, ast.keyword) and node.arg == "deadline":
                assert ast.unparse(node.value) == "None", f"{name}:{node.lineno}"
