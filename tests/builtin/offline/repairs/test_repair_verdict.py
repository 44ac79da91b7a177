"""Whether a repair helped, from two runs."""

import pytest

from accord.builtin.offline.repairs.name_replacements import Repair
from accord.builtin.offline.repairs.repair_verdict import verdict_of
from accord.builtin.offline.runs.project_test_results import TestRun
from accord.builtin.offline.runs.tracebacks import Failure, Frame

NAME = Failure("a", "NameError", "name 'x' is not defined", (Frame("m.py", 3, "f", "x"),))
LATER = Failure("a", "NameError", "name 'y' is not defined", (Frame("m.py", 4, "f", "y"),))
SAME_LINE = Failure("a", "TypeError", "no", (Frame("m.py", 3, "f", "z"),))
REPAIR = Repair("m.py", "", 3, "why")


def run(passed: int | None, *failures: Failure, failing: tuple[str, ...] = ()) -> TestRun:
    return TestRun("t", False, passed, len(failures), failures, failing=failing)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (run(1, NAME), TestRun("t", True, 2, 0), "green"),
        (run(1, NAME), run(2, LATER), "better"),
        (run(None, NAME), run(2, LATER), "better"),
        (run(1, NAME), run(1, LATER), "further"),
        (run(1, NAME), run(1, NAME), "no better"),
        (run(1, NAME), run(1, SAME_LINE), "no better"),
        (run(1, NAME), run(1), "no better"),
        (run(3, NAME), run(2, LATER), "worse"),
        (run(3, NAME, failing=("a",)), run(4, LATER, failing=("b",)), "worse"),
        (run(0, NAME, failing=("t.py",)), run(4, LATER, failing=("t.py::b",)), "better"),
        (
            run(1, NAME, failing=("t.x (unittest.loader._FailedTest.t.x)",)),
            run(4, LATER, failing=("b (t.x.T.b)",)),
            "better",
        ),
        (run(1, NAME), TestRun("t", False, problem="there are no tests"), "worse"),
    ],
)
def test_a_repair_helps_or_not(before: TestRun, after: TestRun, verdict: str) -> None:
    """Issue 14: what makes no failing test better or breaks another is taken back."""
    assert verdict_of(before, after, NAME, REPAIR) == verdict
