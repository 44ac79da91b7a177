"""Who may go on with a line."""

import os
from pathlib import Path

import pytest

from accord.machine.console.unfinished_lines import LineEnds


@pytest.fixture
def places(tmp_path: Path) -> tuple[int, int, int]:
    """Two descriptors of one file, and one of another."""
    flags = os.O_WRONLY | os.O_CREAT
    one = os.open(tmp_path / "one", flags)
    return one, os.dup(one), os.open(tmp_path / "two", flags)


def test_another_writer_to_the_same_place_begins_a_line(places: tuple[int, int, int]) -> None:
    """Issue 14: lines of stdout and stderr are never glued."""
    out, error, other = places
    lines = LineEnds()
    lines.wrote(out, "out", "half")
    assert lines.before(out, "out", "more") == ""
    assert lines.before(error, "error", "mine") == "\n"
    assert lines.before(error, "error", "\nmine") == ""
    assert lines.before(other, "error", "mine") == ""
    assert (lines.is_open(error), lines.is_open(other)) == (True, False)
    lines.wrote(out, "out", "")
    lines.wrote(out, "out", b" a line\n")
    assert lines.before(error, "error", "mine") == ""


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("a\n", False),
        ("a\n\x1b[0m", False),
        ("a\x1b[0m", True),
        ("\rchecking\r\x1b[K", False),
        ("\r\x1b[Kchecking 3 of 9", True),
        ("\x1b[1m", False),
    ],
)
def test_what_shows_nothing_at_the_end_of_a_line_does_not_open_one(
    places: tuple[int, int, int], text: str, is_open: bool
) -> None:
    """Ours: colours and a cleared line of progress."""
    lines = LineEnds()
    lines.wrote(places[0], "out", text)
    assert lines.is_open(places[1]) is is_open


def test_a_line_that_was_ended_otherwise_is_ended(places: tuple[int, int, int]) -> None:
    """Ours: when the user answers a question; a closed output is forgotten."""
    lines = LineEnds()
    lines.wrote(places[0], "out", "Sure? ")
    lines.ended(places[1])
    assert not lines.is_open(places[0])
    lines.wrote(places[0], "out", "Sure? ")
    lines.forget()
    assert not lines.is_open(places[0])
    os.close(places[2])
    assert lines.before(places[2], "out", "x") == ""
