"""Output as it comes: in pieces, without end, with progress bars."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from accord.terminal.model.text.output_lines import OutputLines

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
