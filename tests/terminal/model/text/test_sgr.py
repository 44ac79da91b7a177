"""Colours: what sequences add up to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from accord.terminal.model.text.sgr import PLAIN, Ink, ink_after, sequence

levels = st.integers(0, 255)
colours = st.one_of(st.none(), levels, st.tuples(levels, levels, levels))
inks = st.builds(
    Ink,
    colours,
    colours,
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


@given(inks, inks)
def test_an_ink_that_is_written_is_read_as_the_same(ink: Ink, before: Ink) -> None:
    """Ours: cleaning twice changes nothing."""
    assert ink_after(before, sequence(ink)[2:-1]) == ink


@given(inks, st.text("0123456789;:", max_size=60))
def test_any_parameters_are_read(ink: Ink, parameters: str) -> None:
    """Ours: a program may write nonsense."""
    after = ink_after(ink, parameters)
    assert ink_after(PLAIN, sequence(after)[2:-1]) == after


def test_each_attribute_has_its_end() -> None:
    """ECMA-48, 8.3.117."""
    ink = ink_after(PLAIN, "1;2;3;4;7;9;31;102")
    assert ink == Ink(1, 10, True, True, True, True, True, True)
    assert ink_after(ink, "22;23;24;27;29;39;49") == PLAIN
    assert ink_after(ink, "") == PLAIN
    assert not ink_after(ink, "4:0").underline
    assert ink_after(PLAIN, "21;58;99999;4:3").underline
