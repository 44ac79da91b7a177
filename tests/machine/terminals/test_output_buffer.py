"""Keeping the newest output, cut at a character."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accord.machine.terminals.output_buffer import (
    OUTPUT_BYTES_MAX,
    OutputBuffer,
    cut_front,
)

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))


def pieces_of(data: bytes, cuts: list[int]) -> list[bytes]:
    """The same bytes in several pieces."""
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in pairwise(edges)]


@pytest.mark.rule("V1-TERM-03")
@given(TEXT, st.integers(0, 60))
@example("aéäö€😀", 10)
def test_cutting_keeps_the_longest_whole_end(text: str, bytes_max: int) -> None:
    """Spec: oldest bytes are dropped, on a character boundary."""
    data = text.encode()
    kept = cut_front(data, bytes_max)
    assert data.endswith(kept)
    assert len(kept) <= bytes_max
    assert text.endswith(kept.decode())
    if kept != data:
        # One character more would have been too much.
        longer = text[-len(kept.decode()) - 1 :].encode()
        assert len(longer) > bytes_max


@pytest.mark.rule("V1-TERM-03")
@given(TEXT, st.lists(st.integers(0, 200), max_size=20), st.integers(0, 40))
def test_pieces_make_no_difference(text: str, cuts: list[int], bytes_max: int) -> None:
    """Ours: a character whose bytes come apart is whole, and the bound is the same."""
    data = text.encode()
    buffer = OutputBuffer(bytes_max)
    for piece in pieces_of(data, cuts):
        buffer.feed(piece)
        assert len(buffer.text.encode()) <= bytes_max
    buffer.finish()
    assert buffer.text == cut_front(data, bytes_max).decode()
    assert buffer.truncated == (len(data) > bytes_max)


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=10), st.integers(0, 40))
def test_any_bytes_become_text_within_the_bound(
    data: bytes, cuts: list[int], bytes_max: int
) -> None:
    """Ours: a program may print bytes that are not text."""
    buffer = OutputBuffer(bytes_max)
    for piece in pieces_of(data, cuts):
        buffer.feed(piece)
    buffer.finish()
    shown = data.decode("utf-8", "replace")
    assert shown.endswith(buffer.text)
    assert len(buffer.text.encode()) <= bytes_max
    assert buffer.truncated == (len(shown.encode()) > bytes_max)


def test_memory_stays_within_twice_the_bound() -> None:
    """Ours: no command can fill our memory."""
    buffer = OutputBuffer(1000)
    for _ in range(500):
        buffer.feed(b"x" * 999)
        assert len(buffer._kept) <= 2000
    assert buffer.text == "x" * 1000


def test_limits_have_a_ceiling() -> None:
    """Design: what is asked for is bounded too."""
    assert OutputBuffer(2**64 - 1).bytes_max == OUTPUT_BYTES_MAX
    assert OutputBuffer(0).bytes_max == 0
    with pytest.raises(ValueError, match="negative"):
        OutputBuffer(-1)
