"""Heights of thousands of blocks: sums and places agree with counting."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from accord.terminal.screen.conversation.block_heights import Heights

heights = st.lists(st.integers(0, 9), min_size=1, max_size=70)


@given(heights, st.lists(st.tuples(st.integers(0, 69), st.integers(0, 9)), max_size=20))
def test_sums_are_those_of_counting(
    given_heights: list[int], changes: list[tuple[int, int]]
) -> None:
    """The invariant of the class."""
    kept, plain = Heights(given_heights), list(given_heights)
    for index, height in changes:
        if index < len(plain):
            kept.set(index, height)
            plain[index] = height
    assert kept.total == sum(plain)
    assert [kept.before(at) for at in range(len(plain) + 1)] == [
        sum(plain[:at]) for at in range(len(plain) + 1)
    ]


@given(heights, st.integers(-3, 700))
def test_a_line_is_found_in_the_one_that_has_it(given_heights: list[int], line: int) -> None:
    """The invariant of the class."""
    rows = [(at, row) for at, height in enumerate(given_heights) for row in range(height)]
    found = Heights(given_heights).find(line)
    if 0 <= line < len(rows):
        assert found == rows[line]
    elif line < 0 and rows:
        assert found == rows[0]
    else:
        assert found[0] == len(given_heights) - 1


def test_nothing_has_no_lines() -> None:
    """A conversation begins empty."""
    empty = Heights()
    assert (len(empty), empty.total, empty.find(3), empty.before(0)) == (0, 0, (0, 0), 0)
