"""No road to a program that a rule rejects: lines are run, and what ran was refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from accord.client.permissions.request import own_request
from accord.client.permissions.rule_matcher import Facts, judge, read_rules
from accord.client.permissions.rules import Effect, Rule
from tests.client.shell.marker_lines import LINES
from tests.client.shell.marker_roads import PROGRAM, random_line, single_roads
from tests.client.shell.marker_sandbox import Sandbox

SHELLS = ("bash", "sh")
PARTS = 4
RANDOM_LINES = 10_000 if os.environ.get("ACCORD_SOAK") else 60
RULES = read_rules([Rule(effect="allow"), Rule(effect="reject", command=PROGRAM)])


def verdict(line: str) -> Effect:
    """What a policy says that allows everything but the marker program."""
    request = own_request("s", "run", "execute", "terminal", command=line, cwd="/w")
    return judge(RULES, (), Facts.of(request, "/w"), "allow")[0]


def runs(sandbox: Sandbox, line: str) -> bool:
    """Whether a shell that runs the line starts the marker program."""
    return any(sandbox.runs_marker(shell, line) for shell in SHELLS)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(PARTS))
def test_a_rejected_program_is_reached_by_no_road(part: int, tmp_path: Path) -> None:
    """Issue 12: commands that run a marker by any road; none that a rule names gets through.

    A line that does not start the marker says nothing, so those that do are counted.
    """
    sandbox = Sandbox(tmp_path)
    lines = single_roads()[part::PARTS]
    ran = [line for line in lines if runs(sandbox, line)]
    assert [line for line in ran if verdict(line) != "reject"] == []
    assert len(ran) > 0.9 * len(lines)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(PARTS))
def test_a_rejected_program_is_reached_by_no_line_that_once_passed(
    part: int, tmp_path: Path
) -> None:
    """Issue 12: here-documents, options of shells, files that the line writes, and more."""
    sandbox = Sandbox(tmp_path)
    lines = LINES[part::PARTS]
    assert [line for line in lines if verdict(line) != "reject"] == []
    assert sum(runs(sandbox, line) for line in lines) > 0.7 * len(lines)


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(PARTS))
def test_a_rejected_program_is_reached_by_no_row_of_roads(part: int, tmp_path: Path) -> None:
    """Issue 12: the same for roads behind one another, as many as a soak has time for."""
    sandbox = Sandbox(tmp_path)
    lines = [random_line(seed) for seed in range(part, RANDOM_LINES, PARTS)]
    ran = [line for line in lines if runs(sandbox, line)]
    assert [line for line in ran if verdict(line) != "reject"] == []
    assert len(ran) > 0.6 * len(lines)


def test_a_policy_that_does_not_name_the_program_lets_it_run(tmp_path: Path) -> None:
    """Ours: the marker program itself works, and other programs are not refused."""
    assert runs(Sandbox(tmp_path), PROGRAM)
    assert verdict("accordmarker2 x") == "allow"
    assert verdict("ls -la | sort > out") == "allow"
