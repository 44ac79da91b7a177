"""Changes of files as lines to look at."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from accord.terminal.model.text.diff_lines import (
    LINES_MAX,
    DiffLine,
    change_of,
    paired,
    word_changes,
)
from accord.transcript import FileDiff

TEXTS = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12).map("\n".join)


def kinds(lines: tuple[DiffLine, ...]) -> str:
    sign = {"same": " ", "added": "+", "removed": "-", "hunk": "@", "note": "!"}
    return "\n".join(sign[line.kind] + line.text for line in lines)


@given(TEXTS, TEXTS)
def test_the_lines_tell_both_texts(before: str, after: str) -> None:
    """Ours: line numbers and signs are true."""
    change = change_of(FileDiff("f", "modify", None, before, after))
    old, new = before.split("\n"), after.split("\n")
    for line in change.lines:
        if line.old is not None:
            assert old[line.old - 1] == line.text
        if line.new is not None:
            assert new[line.new - 1] == line.text
    assert change.added == sum(line.kind == "added" for line in change.lines)
    gone = {line.old for line in change.lines if line.kind == "removed"}
    told = [text for number, text in enumerate(old, 1) if number not in gone]
    for line in change.lines:
        if line.kind == "added" and line.new is not None:
            told.insert(line.new - 1, line.text)
    assert "\n".join(told).rstrip("\n") == after.rstrip("\n")


def test_lines_that_are_far_apart_are_parted() -> None:
    """Ours: a little of what stands around, and a mark between."""
    old = "\n".join("abcdefghijklmnop") + "\n"
    new = old.replace("b\n", "B\n").replace("o\n", "")
    shown = kinds(change_of(FileDiff("f", "modify", None, old, new)).lines)
    assert shown == " a\n-b\n+B\n c\n d\n e\n@\n l\n m\n n\n-o\n p"


def test_a_line_end_that_comes_or_goes_is_said() -> None:
    """Ours: a diff without lines would look like none."""
    shown = kinds(change_of(FileDiff("f", "modify", None, "a", "a\n")).lines)
    assert shown == "!the file now ends with a newline"
    shown = kinds(change_of(FileDiff("f", "modify", None, "a\n", "a")).lines)
    assert shown == "!the file no longer ends with a newline"


def test_operations_of_texts() -> None:
    """v1: no old text is a new file; ours: no new text is a deleted one."""
    assert change_of(FileDiff("f", "add", None, None, "x\n")).added == 1
    gone = change_of(FileDiff("f", "modify", None, "x\ny\n", None))
    assert (gone.operation, gone.removed) == ("delete", 2)
    assert change_of(FileDiff("f", "move", "g")).lines == ()


PATCH = """diff --git a/f.py b/g.py
similarity index 90%
rename from f.py
rename to g.py
--- a/f.py
+++ b/g.py
@@ -3,3 +3,3 @@ def one():
 a
--- not a header
+++ neither
 c
\\ No newline at end of file
@@ -10 +10 @@
-x
+y
"""


def test_a_patch_is_read() -> None:
    """v2: diffs come as git patches."""
    change = change_of(FileDiff("g.py", "move", "f.py", patch=PATCH))
    assert kinds(change.lines) == (
        "@def one():\n a\n--- not a header\n+++ neither\n c\n!No newline at end of file\n@\n-x\n+y"
    )
    assert (change.added, change.removed) == (2, 2)
    assert change.lines[2] == DiffLine("removed", "-- not a header", 4, None)
    assert change.lines[-1] == DiffLine("added", "y", None, 10)


def test_a_patch_of_several_files_goes_on_after_each() -> None:
    """v2: where the file's own part cannot be told, the whole patch is shown."""
    shown = kinds(change_of(FileDiff("x", patch=PATCH + PATCH)).lines)
    assert shown.count("@def one():") == 2
    plain = "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n--- c\n+++ d\n@@ -1 +1 @@\n-c\n+d\n"
    assert kinds(change_of(FileDiff("x", patch=plain)).lines) == "-a\n+b\n@\n-c\n+d"


def test_what_is_no_patch_is_shown_as_it_came() -> None:
    """Ours: nothing is dropped."""
    shown = kinds(change_of(FileDiff("x", patch="Binary files differ\n\n*** what?")).lines)
    assert shown == "!Binary files differ\n!*** what?"
    stripped = kinds(change_of(FileDiff("x", patch="@@ -1,3 +1,3 @@\n a\n\nodd")).lines)
    assert stripped == " a\n \n odd"


def test_huge_changes_are_bounded_and_counted() -> None:
    """Issue 6: bounded for huge diffs."""
    old = "".join(f"{number}\n" for number in range(30_000))
    new = "".join(f"{number}x\n" for number in range(30_000))
    change = change_of(FileDiff("f", "modify", None, old, new))
    assert len(change.lines) == LINES_MAX
    assert len(change.lines) + change.left_out == 60_000
    assert (change.added, change.removed) == (30_000, 30_000)
    long = change_of(FileDiff("f", "add", None, None, "y" * 100_000))
    assert len(long.lines[0].text) < 3000


def test_a_few_changes_of_a_long_file_are_shown_as_few() -> None:
    """Issue 6: per-file summary; two changes far apart leave what is between."""
    lines = [f"line {number}" for number in range(20_000)]
    other = ["first", *lines[:7_000], "new", *lines[7_001:15_000], *lines[15_003:]]
    change = change_of(FileDiff("f", "modify", None, "\n".join(lines), "\n".join(other)))
    assert (change.added, change.removed) == (2, 4)
    removed = [(line.old, line.text) for line in change.lines if line.kind == "removed"]
    assert removed[0] == (7_001, "line 7000")
    assert removed[1:] == [(at + 1, f"line {at}") for at in range(15_000, 15_003)]
    assert [line.new for line in change.lines if line.kind == "added"] == [1, 7_002]


def test_lines_that_moved_in_a_long_file_end_and_are_right() -> None:
    """Ours: whatever the texts are, the lines lead from one to the other, in bounded time."""
    old = [f"{number * 7919 % 4001}" for number in range(6_000)]
    new = [f"{number * 104_729 % 4001}" for number in range(5_000)]
    change = change_of(FileDiff("f", "modify", None, "\n".join(old), "\n".join(new)))
    kept = {line.old: line.new for line in change.lines if line.kind == "same" and line.old}
    assert all(old[a - 1] == new[b - 1] for a, b in kept.items() if b)
    assert len(old) - change.removed == len(new) - change.added


def test_words_that_differ_are_told() -> None:
    """Issue 6: word-level highlights."""
    assert word_changes("return a - b", "return a + b") == ([(9, 10)], [(9, 10)])
    assert word_changes("x = 1", "x = 1  # why") == ([], [(5, 12)])
    assert word_changes("entirely other", "nothing alike here") == ([], [])
    assert word_changes("", "a") == ([], [])
    assert word_changes("a " * 400, "b " * 400) == ([], [])
    assert word_changes("ab cd ef gh", "cd xx yy zzzzzzzzzzz") == ([], [])


def test_removed_lines_stand_beside_the_added_ones() -> None:
    """Issue 6: side by side."""
    change = change_of(FileDiff("x", patch="@@ -1 +1 @@\n a\n-b\n-c\n+d\n e\n+f\n-g\n h\n-i"))
    groups = [
        ([one.text for one in old], [one.text for one in new]) for old, new in paired(change.lines)
    ]
    assert groups == [
        (["a"], []),
        (["b", "c"], ["d"]),
        (["e"], []),
        ([], ["f"]),
        (["g"], []),
        (["h"], []),
        (["i"], []),
    ]


def test_what_no_terminal_draws_is_written_out() -> None:
    """Ours: who reviews a change sees what it really contains."""
    change = change_of(FileDiff("f", "modify", None, "echo\n", "echo \x1b[8m\u202erm\x1b[0m\n"))
    assert kinds(change.lines) == "-echo\n+echo ⟨U+001B⟩[8m⟨U+202E⟩rm⟨U+001B⟩[0m"
    patch = "@@ -1 +1 @@\n-a\n+a\x00\u200b\n"
    assert kinds(change_of(FileDiff("f", "modify", patch=patch)).lines) == "-a\n+a⟨U+0000⟩⟨U+200B⟩"


def test_returns_are_seen_where_not_every_line_has_one() -> None:
    """Ours: they are how some files end their lines; in others they are a change."""

    def shown(before: str, after: str) -> str:
        return kinds(change_of(FileDiff("f", "modify", None, before, after)).lines)

    assert shown("a\r\nb\r\n", "a\r\nc\r\n") == " a\n-b\n+c"
    assert shown("a\nb\n", "a\nb\r\n") == " a\n-b\n+b⟨U+000D⟩"
    assert shown("a\r\n", "a\n") == "-a⟨U+000D⟩\n+a"
    patch = "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n"
    assert kinds(change_of(FileDiff("f", "modify", patch=patch)).lines) == " a\n-b\n+c"
    mixed = "@@ -1 +1 @@\n-b\n+b\r\n"
    assert kinds(change_of(FileDiff("f", "modify", patch=mixed)).lines) == "-b\n+b⟨U+000D⟩"
