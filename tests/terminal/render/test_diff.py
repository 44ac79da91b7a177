"""Diffs as lines: inline and side by side."""

from __future__ import annotations

from typing import Any

import pytest

from accord.terminal.model.text.diff_lines import change_of
from accord.terminal.render.block import OpenFile
from accord.terminal.render.conversation_colours import DARK, NONE
from accord.terminal.render.diff import diff_lines, more_line, summary_line
from accord.transcript import FileDiff
from tests.terminal.render.scene import a_look, check, text_of

OLD = "import os\n\ndef add(a, b):\n    return a - b\n"
NEW = "import os\n\ndef add(a, b):\n    return a + b\n\nx = 1\n"


def lines(diff: FileDiff, limit: int = 100, **look: Any) -> str:
    strips, targets, _ = diff_lines(change_of(diff), a_look(**look), limit)
    check(strips, look.get("width", 80))
    assert len(strips) == len(targets)
    return text_of(strips)


def modify(old: str | None = OLD, new: str | None = NEW) -> FileDiff:
    return FileDiff("/w/a.py", "modify", None, old, new)


def test_inline_lines_have_numbers_and_signs() -> None:
    """Issue 6: diffs inline; nothing is told by colour alone."""
    assert lines(modify()) == (
        " 1   import os\n 2\n 3   def add(a, b):\n 4 -     return a - b\n 4 +     return a + b\n"
        " 5 +\n 6 + x = 1"
    )


def test_side_by_side_from_a_hundred_columns_on() -> None:
    """Issue 6: diffs side by side."""
    wide = lines(modify(), width=100, side_by_side=True).split("\n")
    assert wide[3].split("│") == [f"{' 4 -     return a - b':<49}", " 4 +     return a + b"]
    assert wide[4].startswith(" " * 49 + "│ 5 +")
    narrow = lines(modify(), width=99, side_by_side=True)
    assert narrow == lines(modify())
    # A new file has nothing to stand beside.
    assert "│" not in lines(modify(None), width=100, side_by_side=True)


def test_side_by_side_of_long_lines_and_several_places() -> None:
    """Ours: both sides are as high as the longer one."""
    patch = "@@ -1 +1 @@ here\n-" + "漢" * 200 + "\n+b\n\\ No newline\n"
    shown = lines(FileDiff("x", patch=patch), width=120, side_by_side=True, unicode=False)
    assert "here" in shown
    assert "No newline" in shown
    assert "..." in shown
    assert shown.count("|") == 8


def test_words_that_differ_and_colours_of_the_language() -> None:
    """Issue 6: syntax colours and word-level highlights."""
    strips, _, _ = diff_lines(change_of(modify()), a_look(), 100)
    styles = {one.text: one.style for one in strips[4] if one.style is not None}
    assert styles["+"].bgcolor == DARK.added_word.bgcolor
    assert styles["return"].color is not None
    assert styles["return"].bgcolor == DARK.added.bgcolor
    plain, _, _ = diff_lines(change_of(modify()), a_look(palette=NONE), 100)
    assert all(one.style is None or one.style.color is None for strip in plain for one in strip)


def test_lines_open_the_file_at_their_number() -> None:
    """Issue 6: open at line."""
    _, targets, _ = diff_lines(change_of(modify()), a_look(), 100)
    assert targets[-1] == OpenFile("/w/a.py", 6)


def test_what_is_not_shown_is_counted() -> None:
    """Issue 6: folded output."""
    strips, _, left_out = diff_lines(change_of(modify()), a_look(), 3)
    assert (len(strips), left_out) == (3, 4)
    assert more_line(1, a_look()).text == "… 1 more line"
    assert more_line(2, a_look(unicode=False), "  ").text == "  ... 2 more lines"


@pytest.mark.parametrize(
    ("diff", "said"),
    [
        (modify(), "+3 −1 a.py"),
        (FileDiff("/w/b", "add", None, None, "x\n"), "+1 −0 b  new"),
        (FileDiff("/w/b", "delete"), "b  deleted"),
        (FileDiff("/w/b", "move", "/w/a"), "a → b  moved"),
        (FileDiff("/w/b", "copy", "/w/a"), "a → b  copied"),
        (FileDiff("/w/b", "modify"), "b  changed"),
        (FileDiff("", "_\x1b[1mshred"), "a file  _shred"),
    ],
)
def test_each_file_has_a_summary(diff: FileDiff, said: str) -> None:
    """Issue 6: per-file summary; operations that we do not know are named."""
    assert summary_line(change_of(diff), a_look(), "/w").text == said


def test_a_line_that_never_ends_takes_few_lines_of_the_screen() -> None:
    """Issue 6: bounded for huge diffs."""
    shown = lines(modify(None, "x" * 100_000), width=40)
    assert len(shown.split("\n")) < 10
    many = "".join(f"{number}\n" for number in range(5000))
    assert len(lines(modify(None, many), limit=3000).split("\n")) == 3000


@pytest.mark.parametrize("side_by_side", [False, True])
def test_what_no_terminal_draws_is_written_out_in_a_colour_of_its_own(side_by_side: bool) -> None:
    """Ours: a reviewer sees invisible characters, and that they are written out."""
    diff = FileDiff("/p/a.py", "modify", None, "x = '␤'\n", "x = '\x1b[8m'\n")
    look = a_look(width=120, side_by_side=side_by_side)
    strips, _, _ = diff_lines(change_of(diff), look, 10)
    [marked] = [
        segment
        for strip in strips
        for segment in strip
        if segment.text == "⟨U+001B⟩" and segment.style
    ]
    assert marked.style is not None
    assert marked.style.color == look.palette.warning.color
