"""Output as it comes: in pieces, without end, with progress bars."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from accord.terminal.model.text.output_lines import PLAIN, Ink, OutputLines, ink_after, sequence

OUTPUT = st.text(st.sampled_from("ab漢\x1b[]0;1mK\x07\\\r\n\b\tP\x9c"), max_size=40)


@given(st.lists(OUTPUT, max_size=6))
def test_pieces_give_what_the_whole_gives(pieces: list[str]) -> None:
    """Ours: output is cut anywhere, in the middle of a command too."""
    grown = OutputLines()
    for piece in pieces:
        grown.feed(piece)
    assert grown.lines == OutputLines("".join(pieces)).lines


@given(OUTPUT)
def test_lines_that_were_ended_never_change(text: str) -> None:
    """Ours: they are rendered once."""
    output = OutputLines(text)
    ended = list(output.ended)
    output.feed("\r\b\x1b[2Kmore")
    assert output.ended == ended


def test_only_the_last_lines_are_kept_and_the_others_are_counted() -> None:
    """Issue 6: tail-capped."""
    output = OutputLines(lines_max=10)
    for number in range(100):
        output.feed(f"line {number}\n")
    output.feed("and on")
    assert len(output.ended) <= 20
    assert output.count == 101
    assert output.lines[-2][0].text == "line 99"
    assert output.lines[-1][0].text == "and on"


def test_a_string_that_never_ends_is_not_kept() -> None:
    """Ours: memory is bounded whatever a command writes."""
    output = OutputLines()
    output.feed("a\x1bP")
    for _ in range(100):
        output.feed("x" * 1000)
    output.feed("\x1b\\b")
    assert output.coloured == "ab"


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
