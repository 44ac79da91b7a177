"""What a client is told of output: all of it, or a beginning, a note and an end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from accord.agent.terminals.output_report import TAIL_BYTES, OutputReport


@given(st.lists(st.binary(max_size=50)))
def test_without_a_bound_everything_is_told_as_it_comes(pieces: list[bytes]) -> None:
    """Promise of the module."""
    told = OutputReport(None)
    assert [told.feed(piece) for piece in pieces] == pieces
    assert told.finish() == b""


@given(st.lists(st.binary(max_size=50)), st.integers(0, 100))
def test_a_bound_that_the_end_makes_up_for_loses_nothing(pieces: list[bytes], bound: int) -> None:
    """Promise: what fits the beginning and the end together is whole."""
    told = OutputReport(bound)
    said = b"".join(told.feed(piece) for piece in pieces)
    whole = b"".join(pieces)
    assert said == whole[:bound]
    rest = whole[bound:]
    # The end begins at a character: half of one is counted as left out.
    assert (said + told.finish()).endswith(rest.lstrip(bytes(range(0x80, 0xC0))))


def test_endless_output_costs_the_bound_a_note_and_the_end() -> None:
    """Issue: a command that prints 100 MB must not grow memory."""
    told = OutputReport(1000)
    said = sum(len(told.feed(b"x" * 65536)) for _ in range(1600))
    assert said == 1000
    assert told.feed(b"the end") == b""
    last = told.finish()
    assert len(last) < TAIL_BYTES + 100
    assert b"bytes of output were omitted" in last
    assert last.endswith(b"the end")
