"""Terminals: bytes kept whole, text whatever the split, a bound at the front."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.transcript import TERMINAL_BYTES_MAX, ExitStatus, Terminal


def splits(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(places)]


@pytest.mark.rule("V2-UPS-15")
@given(st.text(max_size=40), st.lists(st.integers(0, 160), max_size=12))
def test_characters_survive_whatever_the_split(words: str, cuts: list[int]) -> None:
    """v2: chunks need not end where a character does."""
    data = words.encode()
    terminal = Terminal("t")
    told = "".join(terminal.append(piece) for piece in splits(data, cuts))
    assert terminal.data == data
    assert told == terminal.text == words


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=12))
def test_bytes_are_kept_whatever_they_are(data: bytes, cuts: list[int]) -> None:
    """Ours: output need not be UTF-8 at all."""
    terminal = Terminal("t")
    for piece in splits(data, cuts):
        terminal.append(piece)
    terminal.patch(exit_status=ExitStatus())
    assert terminal.data == data
    assert terminal.text == data.decode(errors="replace")


def test_half_a_character_waits_until_the_process_has_ended() -> None:
    """Ours: a reader sees no replacement sign that the next chunk would take back."""
    terminal = Terminal("t")
    assert terminal.append("é".encode()[:1]) == ""
    assert terminal.text == ""
    terminal.patch(exit_status=ExitStatus(exit_code=0))
    assert terminal.text == "\ufffd"


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_front_is_cut_at_the_start_of_a_character(size: int) -> None:
    """Ours: the bound of the design, for characters of every length."""
    character = {1: "a", 2: "é", 3: "€", 4: "𝄞"}[size].encode()
    terminal = Terminal("t")
    terminal.append(b"x" + character * (TERMINAL_BYTES_MAX // size))
    terminal.append(b"yz")
    assert terminal.truncated
    assert TERMINAL_BYTES_MAX - 4 < len(terminal.data) <= TERMINAL_BYTES_MAX
    assert terminal.data.decode()[0] == character.decode()
    assert terminal.text.endswith("yz")


def test_bytes_that_are_no_character_are_not_looked_for_without_end() -> None:
    """Ours: a flood of continuation bytes is cut like anything else."""
    terminal = Terminal("t")
    terminal.append(b"\x80" * (TERMINAL_BYTES_MAX + 10))
    assert len(terminal.data) == TERMINAL_BYTES_MAX - 3


def test_exactly_the_bound_is_not_cut() -> None:
    """Ours."""
    terminal = Terminal("t")
    terminal.append(b"x" * TERMINAL_BYTES_MAX)
    assert not terminal.truncated
    assert len(terminal.data) == TERMINAL_BYTES_MAX


def test_a_snapshot_within_the_bound_is_whole_again() -> None:
    """Ours: the mark of the cut belongs to the bytes that were cut."""
    terminal = Terminal("t")
    terminal.append(b"x" * (TERMINAL_BYTES_MAX + 1))
    assert terminal.replace(b"all") == "all"
    assert (terminal.truncated, terminal.data) == (False, b"all")
    terminal.replace(b"y" * (TERMINAL_BYTES_MAX + 1))
    assert terminal.truncated


@pytest.mark.rule("V2-UPS-14")
def test_a_snapshot_forgets_half_a_character_before_it() -> None:
    """v2: a snapshot replaces all bytes, nothing is spliced."""
    terminal = Terminal("t")
    terminal.append("é".encode()[:1])
    assert terminal.replace(b"ab") == "ab"
    assert terminal.append(b"c") == "c"
    assert terminal.text == "abc"


def test_a_terminal_shows_itself_shortly() -> None:
    """Ours."""
    assert repr(Terminal("t")) == "Terminal('t', None, 0 bytes)"


def test_output_can_be_read_on_from_where_one_was() -> None:
    """Ours: whoever shows output as it grows reads every byte once."""
    terminal = Terminal("t")
    terminal.append(b"one")
    seen = terminal.received
    terminal.append(b"two")
    assert terminal.since(seen) == b"two"
    assert terminal.since(terminal.received) == b""
    terminal.append(b"x" * TERMINAL_BYTES_MAX)
    assert terminal.since(0) == terminal.data
    assert terminal.since(terminal.received - 2) == b"xx"
    terminal.replace(b"new")
    assert (terminal.replacements, terminal.received, terminal.since(0)) == (1, 3, b"new")
