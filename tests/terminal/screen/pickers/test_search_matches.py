"""Rows to choose from: searching, moving, grouping."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.terminal.screen.pickers.search_matches import Heading, PickerRows, Row, fitness

ROWS = [
    Row("a", "Opus", group="Anthropic", description="the largest"),
    Row("b", "Haiku", group="Anthropic", current=True),
    Row("c", "Sonnet", group="Anthropic", words="claude-sonnet"),
    Row("d", "Octopus", group="Others"),
    Row("e", "Own"),
]


def _keys(rows: PickerRows) -> list[str]:
    return [line.key for line in rows.lines if isinstance(line, Row)]


def test_without_a_search_rows_stand_under_their_groups() -> None:
    """Contract."""
    rows = PickerRows(ROWS)
    assert rows.lines[0] == Heading("Anthropic")
    assert rows.lines[4] == Heading("Others")
    assert _keys(rows) == ["a", "b", "c", "d", "e"]
    assert rows.chosen is ROWS[1]
    assert rows.has_current


@pytest.mark.parametrize(
    ("search", "keys"),
    [
        ("op", ["a", "b", "c", "d"]),
        ("pus", ["a", "d"]),
        ("OPUS", ["a", "d"]),
        ("largest", ["a"]),
        ("claude", ["c"]),
        ("anth o", ["a", "b", "c"]),
        ("hku", ["b"]),
        ("zzz", []),
        ("  ", ["a", "b", "c", "d", "e"]),
    ],
)
def test_a_search_finds_by_all_words_the_best_first(search: str, keys: list[str]) -> None:
    """Contract."""
    rows = PickerRows(ROWS)
    rows.find(search)
    assert sorted(_keys(rows)) == keys
    assert (rows.chosen is None) is (keys == [])
    if search == "op":
        # In a title at its beginning, in a title, in the name of the group.
        assert _keys(rows) == ["a", "d", "b", "c"]


def test_the_cursor_goes_over_headings_and_stays_at_the_ends() -> None:
    """Contract."""
    rows = PickerRows(ROWS)
    rows.move(-1)
    assert rows.chosen is ROWS[0]
    rows.move(-5)
    assert rows.chosen is ROWS[0]
    rows.move(3)
    assert rows.chosen is ROWS[3]
    rows.move(100)
    assert rows.chosen is ROWS[4]
    assert not rows.point(0)
    assert rows.point(1)
    assert rows.chosen is ROWS[0]
    assert not rows.point(99)
    PickerRows().move(1)


def test_other_rows_keep_the_cursor_where_it_was() -> None:
    """Contract: by the key of its row."""
    rows = PickerRows(ROWS)
    rows.move(1)
    rows.replace([*reversed(ROWS)])
    assert rows.chosen is ROWS[2]
    rows.replace([ROWS[0]])
    assert rows.chosen is ROWS[0]
    rows.replace([])
    rows.find("x")
    assert rows.lines == []
    assert rows.cursor == -1


def test_the_beginning_of_a_word_fits_better_than_its_middle() -> None:
    """Contract."""
    found = [fitness("fix", text) for text in ("fix it", "to fix it", "a prefix", "f, i, and x")]
    assert found == [0, 1, 2, 4]
    assert fitness("fix", "other\nfix") == 3
    assert fitness("fix", "no") is None
    # Scattered letters count in the title only.
    assert fitness("fix", "f\ni x") is None


@given(st.lists(st.text("abc ", max_size=5), max_size=8), st.text("abc ", max_size=4))
def test_the_cursor_is_on_a_row_as_long_as_there_is_one(titles: list[str], search: str) -> None:
    """Contract."""
    rows = PickerRows([Row(str(at), title, group=title[:1]) for at, title in enumerate(titles)])
    rows.find(search)
    assert (rows.chosen is not None) is bool(_keys(rows))
    rows.move(2)
    assert (rows.chosen is not None) is bool(_keys(rows))
