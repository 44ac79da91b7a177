"""A changed file as lines, each with the difference that it belongs to."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from accord.terminal.model.changes.file_change import FileChange, change_of, unknown_change
from accord.terminal.screen.inspectors.review_rows import LINES_MAX, review_lines
from tests.terminal.model.changes.test_hunks import TEXTS


def change(before: str | None, after: str | None) -> FileChange:
    """A change that is one."""
    found = change_of("/x", before, after)
    assert found is not None
    return found


@given(TEXTS, TEXTS)
def test_what_is_added_and_removed_is_all_there(before: str, after: str) -> None:
    """Issue 6: the diff hunk by hunk."""
    found = change_of("/x", before, after)
    if found is None:
        return
    lines = review_lines(found)
    for number, hunk in enumerate(found.hunks):
        mine = [one.line for one in lines if one.hunk == number]
        assert mine[0].kind == "hunk"
        assert sum(one.kind == "removed" for one in mine) == len(hunk.removed)
        assert sum(one.kind == "added" for one in mine) == len(hunk.added)
    assert all("\n" not in one.line.text and "\r" not in one.line.text for one in lines)
    new = [one.line.new for one in lines if one.line.new is not None]
    assert new == sorted(set(new)), "no line is shown twice"


def test_lines_between_two_differences_are_shown_once() -> None:
    """Ours."""
    found = change("a\nb\nc\nd\n", "A\nb\nc\nD\n")
    assert [(one.line.kind, one.line.text) for one in review_lines(found)] == [
        ("hunk", "── 1 of 2 ── unreviewed"),
        ("removed", "a"),
        ("added", "A"),
        ("same", "b"),
        ("same", "c"),
        ("hunk", "── 2 of 2 ── unreviewed"),
        ("removed", "d"),
        ("added", "D"),
    ]


def test_what_cannot_be_seen_is_said() -> None:
    """Ours."""
    assert "cannot be shown: why" in review_lines(unknown_change("/x", "why"))[0].line.text
    assert review_lines(change(None, ""))[1].line.text == "empty file"
    assert "new file" in review_lines(change(None, "x"))[0].line.text
    assert "deleted" in review_lines(change("x", None))[0].line.text
    assert review_lines(change("a\r\n", "a\n"))[1].line.text == "only line endings differ"
    moved = change_of("/y", "a\n", "a\n", "/x")
    assert moved is not None
    assert review_lines(moved)[1].line.text == "moved from /x"
    back = replace(moved, is_moved_back=True)
    assert review_lines(back)[1].line.text == "moved from /x, and moved back"
    assert "undone" in review_lines(change("a", "b").with_states({0}, "undone"))[0].line.text


def test_what_is_shown_is_bounded_and_harmless() -> None:
    """Rule 6 of the house; and a file has any bytes."""
    lines = review_lines(change("", "x\n" * 20_000))
    assert len(lines) == LINES_MAX + 1
    long = review_lines(change("", "\x1b[31m" + "x" * 100_000))
    assert len(long[1].line.text) < 3000
    assert long[1].line.text.startswith("⟨U+001B⟩[31mx")


def test_returns_are_seen_where_not_every_line_has_one() -> None:
    """Ours: who reviews a change sees what it really contains."""
    texts = [line.text for line, _ in review_lines(change("a\r\n", "a\n"))]
    assert texts[2:] == ["a⟨U+000D⟩", "a"]
    texts = [line.text for line, _ in review_lines(change("a\r\nb\r\n", "a\r\n"))]
    assert texts[1:] == ["a", "b"]
