"""Whether a repair helped: two runs of the same command, one before it and one after.  Pure."""

from __future__ import annotations

from typing import Literal

from accord.builtin.offline.repairs.name_replacements import Repair
from accord.builtin.offline.runs.project_test_results import TestRun, is_unloaded
from accord.builtin.offline.runs.tracebacks import Failure, Frame

Verdict = Literal["green", "better", "further", "no better", "worse"]
"""`further`: as many tests pass as before, and the error that the repair was for is gone."""

# What is new in the repaired line and tells of something else there, not of the repair.
_OF_OTHERS = frozenset({"AssertionError", "NameError", "ImportError", "ModuleNotFoundError"})

HELPFUL: frozenset[Verdict] = frozenset({"green", "better", "further"})


def verdict_of(before: TestRun, after: TestRun, target: Failure, repair: Repair) -> Verdict:
    """What a repair of one failure changed."""
    if after.passed:
        return "green"
    if after.problem is not None or _broken(before, after):
        return "worse"
    good, now = before.count_passed, after.count_passed
    if now is not None and now > (good or 0):
        return "better"
    if good is not None and now is not None and now < good:
        return "worse"
    told = {_identity(one) for failure in after.failures for one in failure.every}
    if not after.failures or _identity(target) in told or _at_repair(before, after, repair):
        return "no better"
    return "further"


def _broken(before: TestRun, after: TestRun) -> list[str]:
    """The tests that fail now and passed before."""
    if not before.count_passed:
        return []
    # What could not be loaded hid its tests; they are new, not broken.
    hidden = [_module(name) for name in before.failing if is_unloaded(name)]
    return [
        name
        for name in after.failing
        if name not in before.failing and not any(one in name for one in hidden)
    ]


def _module(name: str) -> str:
    """A module that was not loaded, as the names of its tests have it."""
    return name.partition(" (")[0] if "_FailedTest" in name else name


def _identity(failure: Failure) -> tuple[str, str, str, str]:
    """The error and its place; by the code there, because lines move."""
    last = failure.frames[-1] if failure.frames else Frame("", 0)
    return failure.error, failure.message, last.path, last.code or str(last.line)


def _at_repair(before: TestRun, after: TestRun, repair: Repair) -> bool:
    """Whether something new is wrong in the very line that was repaired."""
    known = {(one.error, one.message) for failure in before.failures for one in failure.every}
    return any(
        one.frames
        and one.frames[-1].line == repair.line
        and one.frames[-1].path.endswith(repair.path)
        and one.error not in _OF_OTHERS
        and (one.error, one.message) not in known
        for one in after.failures
    )
