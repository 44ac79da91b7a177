"""Differences of texts: found, taken back in any order, carried over to what others changed."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.terminal.model.changes.hunks import (
    JUNK_LINES_MIN,
    carry,
    compose,
    hunks_of,
    hunks_of_patch,
    lines_of,
    without_patch,
)

LINES = st.sampled_from(["", "a", "b", "c", "a\r", "ü", "漢字 😀", "\x0b", "\u2028", "  x"])


def text_of(lines: list[str], end: str) -> str:
    """Lines as a file has them."""
    return "\n".join(lines) + (end if lines else "")


TEXTS = st.builds(text_of, st.lists(LINES, max_size=12), st.sampled_from(["", "\n", "\r\n"]))


@given(TEXTS)
def test_lines_keep_their_ends(text: str) -> None:
    """As `accord.machine.filesystem.newline_style`: only a line feed ends a line."""
    lines = lines_of(text)
    assert "".join(lines) == text
    assert all(line.endswith("\n") for line in lines[:-1])
    assert all("\n" not in line[:-1] for line in lines)


@given(TEXTS, TEXTS, st.randoms())
def test_hunks_taken_back_in_any_order_give_the_text_before(
    before: str, after: str, random: object
) -> None:
    """Issue 6: undo per hunk, and undo then redo changes nothing."""
    hunks = hunks_of(before, after)
    assert hunks == hunks_of(before, after)
    chosen = set(range(len(hunks)))
    assert compose(before, hunks, chosen) == after
    order = sorted(chosen, key=lambda _: random.random())  # type: ignore[attr-defined]
    for number in order:
        whole = compose(before, hunks, chosen)
        chosen.remove(number)
        undone = compose(before, hunks, chosen)
        assert compose(before, hunks, chosen | {number}) == whole, "redo is the way back"
        assert len(hunks_of(before, undone)) <= len(hunks)
    assert compose(before, hunks, chosen) == before


@given(TEXTS, TEXTS)
def test_a_hunk_carried_to_the_very_text_is_the_hunk_itself(before: str, after: str) -> None:
    """Ours: both ways of undoing agree."""
    hunks = hunks_of(before, after)
    everything = set(range(len(hunks)))
    for number, hunk in enumerate(hunks):
        carried = carry(hunk.reversed, after, after)
        assert carried == compose(before, hunks, everything - {number})


@given(TEXTS, TEXTS, TEXTS)
def test_what_is_carried_over_changes_its_own_lines_only(
    before: str, after: str, theirs: str
) -> None:
    """Issue 6: what somebody else changed since is never destroyed."""
    for hunk in hunks_of(before, after):
        carried = carry(hunk.reversed, after, theirs)
        if carried is None:
            continue
        lines = lines_of(theirs)
        result = lines_of(carried)
        places = [
            at
            for at in range(len(lines) + 1)
            if tuple(lines[at : at + len(hunk.added)]) == hunk.added
            and result == [*lines[:at], *hunk.removed, *lines[at + len(hunk.added) :]]
        ]
        assert places


def test_a_hunk_applies_where_its_own_lines_are_intact() -> None:
    """Issue 6: somebody added a line above; the agent's change can still be taken back."""
    before, after = "a\nb\nc\nd\n", "a\nB\nc\nD\n"
    first, second = hunks_of(before, after)
    assert carry(first.reversed, after, "new\na\nB\nc\nD\n") == "new\na\nb\nc\nD\n"
    assert carry(second.reversed, after, "new\na\nB\nc\nD\n") == "new\na\nB\nc\nd\n"
    assert carry(first.reversed, after, "a\nmine\nc\nD\n") is None
    assert carry(second.reversed, after, "a\nmine\nc\nD\n") == "a\nmine\nc\nd\n"


def test_lines_that_were_deleted_return_between_their_neighbours_or_not_at_all() -> None:
    """Ours: a hunk without lines of its own has a place only where both neighbours are."""
    (hunk,) = hunks_of("a\nb\nc\n", "a\nc\n")
    back = hunk.reversed
    assert carry(back, "a\nc\n", "0\na\nc\n") == "0\na\nb\nc\n"
    assert carry(back, "a\nc\n", "a\nmine\nc\n") is None
    (first,) = hunks_of("a\nb\n", "b\n")
    assert carry(first.reversed, "b\n", "b\nmore\n") == "a\nb\nmore\n"
    assert carry(first.reversed, "b\n", "mine\nb\n") is None
    (last,) = hunks_of("a\nb\n", "a\n")
    assert carry(last.reversed, "a\n", "0\na\n") == "0\na\nb\n"
    assert carry(last.reversed, "a\n", "a\nmine\n") is None
    (all_of_it,) = hunks_of("a\n", "")
    assert carry(all_of_it.reversed, "", "") == "a\n"
    assert carry(all_of_it.reversed, "", "mine\n") is None


def test_a_line_without_an_end_never_runs_into_the_next() -> None:
    """Ours: two lines in one would be a change that nobody made."""
    (hunk,) = hunks_of("a\nb", "a\nb\nc\n")
    assert carry(hunk.reversed, "a\nb\nc\n", "a\nb\nc\nmine\n") is None


def test_very_many_different_lines_are_one_hunk() -> None:
    """Rule 6 of the house."""
    before = "".join(f"a{n}\n" for n in range(30_000))
    after = "".join(f"b{n}\n" for n in range(30_000))
    assert len(hunks_of(f"x\n{before}", f"x\n{after}")) == 1


def test_the_work_is_bounded_whatever_the_texts_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: half of the lines blank and all others different took minutes once."""
    sizes: list[int] = []

    class Counting(difflib.SequenceMatcher[str]):
        def __init__(self, junk: None, a: list[str], b: list[str], autojunk: bool) -> None:
            sizes.append(0 if autojunk else len(a) + len(b))
            super().__init__(junk, a, b, autojunk)

    monkeypatch.setattr("accord.terminal.model.changes.hunks.SequenceMatcher", Counting)
    before = "".join("\n" if n % 2 else f"a{n}\n" for n in range(1500))
    after = "".join("\n" if n % 2 else f"b{n}\n" for n in range(1500))
    hunks = hunks_of(before, after)
    assert compose(before, hunks, range(len(hunks))) == after
    assert max(sizes) <= JUNK_LINES_MIN


def test_far_apart_changes_of_a_large_file_are_hunks_of_their_own() -> None:
    """Issue 6: per hunk, in large files too."""
    lines = [f"line {n}\n" for n in range(20_000)]
    other = list(lines)
    other[5], other[19_990] = "first\n", "last\n"
    del other[9_000]
    hunks = hunks_of("".join(lines), "".join(other))
    assert [one.start for one in hunks] == [5, 9_000, 19_990]


@given(TEXTS, TEXTS, st.integers(0, 3))
def test_a_patch_is_taken_back_exactly(before: str, after: str, context: int) -> None:
    """Agents of v2 report patches; the text before is what they make of the text after."""
    old, new = lines_of(before), lines_of(after)
    lines: list[str] = []
    for line in difflib.unified_diff(old, new, "a/x", "b/x", n=context):
        if line.endswith("\n"):
            lines.append(line)
        else:
            lines.append(f"{line}\n\\ No newline at end of file\n")
    hunks = hunks_of_patch("".join(lines))
    if before == after:
        assert hunks is None
        return
    assert hunks is not None
    assert without_patch(after, hunks) == before


@pytest.mark.parametrize(
    "patch", ["", "nothing", "@@ -1,2 +1,2 @@\n-a\n", "@@ -1 +1 @@\n-a\n?b\n", "@@ -1 +1 @@"]
)
def test_what_is_no_patch_is_none(patch: str) -> None:
    """Ours: a patch comes from an agent."""
    assert hunks_of_patch(patch) is None


def test_a_patch_that_does_not_fit_is_not_guessed() -> None:
    """Ours."""
    hunks = hunks_of_patch("@@ -2 +2 @@\n-b\n+B\n\n@@ -1 +1 @@\n-a\n+A\n")
    assert hunks is not None
    assert without_patch("A\nB\n", hunks) is None
    assert without_patch("x\ny\n", hunks[:1]) is None
    assert without_patch("A\nB\n", hunks[:1]) == "A\nb\n"
