"""Diffs: two texts as v2's change and git patch, and back."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.schema import v2
from accord.schema.codec import decode, encode
from accord.schema.struct import UNSET, UnknownVariant
from accord.translate import diffs
from accord.translate.diffs import (
    PATCH_LINES_MAX,
    deletion_of,
    diff_of,
    move_of,
    quoted,
    texts_of,
    wire_diff,
)
from tests.hang_limit import HANG_SECONDS

# What `str.splitlines` splits at, of which only "\n" ends a line for git.
BREAKS = ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
PIECES = st.sampled_from(["a", "b", " ", "-", "+", "\\", "@@ -1 +1 @@", "diff --git x x", *BREAKS])
TEXTS = st.lists(PIECES, max_size=12).map("".join)
PATHS = st.sampled_from(
    ["/w/a.py", "/w/a b.py", '/w/"q".py', "/w/ü.py", "/w/t\tn\n\\", "/w/ a /w/ a"]
)


@given(PATHS, st.none() | TEXTS, TEXTS)
def test_the_texts_come_back_as_they_went_in(path: str, old: str | None, new: str) -> None:
    """Ours: v1 shows exactly what the agent gave."""
    assert texts_of(diff_of(path, old, new)) == [(path, old, new)]


def _short(text: str) -> bool:
    return text.count("\n") <= 3


@given(PATHS, st.none() | TEXTS.filter(_short), TEXTS.filter(_short))
def test_a_patch_with_all_lines_gives_both_texts_back(path: str, old: str | None, new: str) -> None:
    """translate: rebuilt from full-context hunks; up to four lines are always in the context."""
    sent: v2.Diff = decode(v2.Diff, encode(wire_diff(diff_of(path, old, new))))
    [(back_path, back_old, back_new)] = texts_of(sent)
    assert back_path == path
    if (old or "") == new:
        assert (back_old or "", back_new) == ("", "")
    else:
        assert (back_old, back_new) == (old, new)


def _apply(patch: str, old: str) -> str:
    """Apply a patch the simple way: hunks by their line numbers, nothing else believed."""
    before = [f"{line}\n" for line in old.split("\n")]
    before[-1] = before[-1][:-1]
    after: list[str] = []
    at = 0
    for line in patch.split("\n")[:-1]:
        if line.startswith("@@ "):
            span = line.split(" ")[1][1:].split(",")
            start, count = int(span[0]), int(span[1]) if len(span) > 1 else 1
            start = start if count == 0 else start - 1
            after += before[at:start]
            at = start
        elif line.startswith(("diff ", "--- ", "+++ ", "new file")) and not after and at == 0:
            continue
        elif line.startswith("\\"):
            after[-1:] = [one.removesuffix("\n") for one in after[-1:]]
        elif line[0] in " +":
            after.append(f"{line[1:]}\n")
            at += line[0] == " "
        else:
            at += 1
    return "".join(after + before[at:])


LINES = st.lists(st.sampled_from(["one\n", "two\n", "a\rb\n", "\u2028\n", "\n"]), max_size=30).map(
    "".join
)


@given(LINES, LINES)
def test_the_patch_turns_the_old_text_into_the_new(old: str, new: str) -> None:
    """v2: `git_patch` is a real patch."""
    patch = diff_of("/w/a", old, new).patch
    assert isinstance(patch, v2.DiffPatch)
    assert patch.format == "git_patch"
    assert _apply(patch.text, old) == new


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\nb", "a\nb\n"),
        ("a\nb\n", "a\nb"),
        ("a", "b"),
        ("", "a\n"),
        ("a\r\nb\r\n", "a\r\nc\r\n"),
        ("a\u2028b\n", "a\u2028c\n"),
        ("a\x0cb\n", "a\x0cb\nc"),
        (None, "new\nfile"),
        ("gone\n", ""),
    ],
)
def test_git_takes_the_patch(tmp_path: Path, old: str | None, new: str) -> None:
    """v2: what we call a git patch is one for git; `-p1` takes the slash of its absolute paths."""
    target = tmp_path / "file name.txt"
    if old is not None:
        target.write_bytes(old.encode())
    patch = diff_of(str(target), old, new).patch
    assert isinstance(patch, v2.DiffPatch)
    done = subprocess.run(
        ["git", "apply", "-p1", "--directory", "", "--unsafe-paths", "-"],
        input=patch.text.encode(),
        cwd="/",
        env={"GIT_DIR": str(tmp_path / "none"), "PATH": "/usr/bin:/bin:/usr/local/bin"},
        capture_output=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert target.read_bytes().decode() == new


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("/w/a b.py", "/w/a b.py"),
        ("/w/ü", r'"/w/\303\274"'),
        ('/w/"', r'"/w/\""'),
        ("/w/\\", r'"/w/\\"'),
        ("/w/\t\n\x07", r'"/w/\t\n\007"'),
    ],
)
def test_a_path_is_quoted_as_git_does(path: str, written: str) -> None:
    """git's core.quotePath."""
    assert quoted(path) == written


def test_a_new_file_is_an_add_and_any_other_a_modify() -> None:
    """translate: no old text means add."""
    added, modified = diff_of("/w/a", None, "x\n"), diff_of("/w/a", "", "x\n")
    assert isinstance(added.changes[0], v2.DiffAdd)
    assert isinstance(modified.changes[0], v2.DiffModify)
    assert isinstance(added.patch, v2.DiffPatch)
    assert "--- /dev/null\n+++ /w/a\n" in added.patch.text


def test_the_wire_never_carries_the_texts() -> None:
    """v2 has no such keys."""
    sent = encode(wire_diff(diff_of("/w/a", "secret old", "new")))
    assert b"oldText" not in sent
    assert b"newText" not in sent
    assert b'"/w/a"' in sent


def test_a_file_too_large_to_compare_has_no_patch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a bound on the time that a diff may take; the change itself is still told."""
    monkeypatch.setattr(diffs, "PATCH_LINES_MAX", 10)
    assert diff_of("/w/a", "x\n" * 5, "y\n" * 5).patch is not UNSET
    large = diff_of("/w/a", "x\n" * 5, "y\n" * 6)
    assert large.patch is UNSET
    assert texts_of(large) == [("/w/a", "x\n" * 5, "y\n" * 6)]
    assert texts_of(wire_diff(large)) == [("/w/a", "", "")]


def _patched(text: str, *changes: v2.DiffChange) -> v2.Diff:
    return v2.Diff(changes=list(changes), patch=v2.DiffPatch(format="git_patch", text=text))


def test_a_patch_in_gits_own_names_is_found_for_its_file() -> None:
    """Agents that shell out to git send `a/` and `b/`."""
    text = (
        "diff --git a/w/x b/w/x\n--- a/w/x\n+++ b/w/x\n@@ -1 +1 @@\n-one\n+two\n"
        "diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1,2 +1 @@\n keep\n-gone\n"
    )
    diff = _patched(text, v2.DiffModify(path="/w/x"), v2.DiffModify(path="y"))
    assert texts_of(diff) == [("/w/x", "one\n", "two\n"), ("y", "keep\ngone\n", "keep\n")]


def test_the_only_section_belongs_to_the_only_change() -> None:
    """Agents that name the file relative to somewhere else."""
    text = "diff --git a/x b/x\n@@ -1 +1 @@\n-one\n+two\n"
    assert texts_of(_patched(text, v2.DiffModify(path="/w/x"))) == [("/w/x", "one\n", "two\n")]


def test_of_several_files_one_without_a_section_has_no_lines() -> None:
    """Ours: lines are never shown under another file's name."""
    text = "diff --git a/x b/x\n@@ -1 +1 @@\n-one\n+two\n"
    diff = _patched(text, v2.DiffModify(path="/a"), v2.DiffAdd(path="/b"))
    assert texts_of(diff) == [("/a", "", ""), ("/b", None, "")]


def test_changes_that_have_no_two_texts_are_passed_over() -> None:
    """translate: mere moves and copies, and kinds that we do not know."""
    move = v2.DiffMove(old_path="/a", path="/b")
    unknown = UnknownVariant("operation", "_chmod", b"{}")
    copy = v2.DiffCopy(old_path="/a", path="/c")
    assert texts_of(v2.Diff(changes=[move, copy, unknown])) == []
    assert texts_of(move_of("/a", "/b")) == []
    moved_and_changed = "diff --git a/a b/b\n@@ -1 +1 @@\n-one\n+two\n"
    assert texts_of(_patched(moved_and_changed, move)) == [("/b", "one\n", "two\n")]


def test_a_patch_that_is_none_gives_no_lines() -> None:
    """Ours: bad input is not an exception."""
    noise = _patched("no patch at all\n+++\n \n", v2.DiffModify(path="/a"))
    assert texts_of(noise) == [("/a", "", "")]


def test_an_odd_line_in_a_hunk_is_passed_over() -> None:
    """A patch is an illustration: what makes no sense in it is skipped."""
    text = "diff --git /a /a\n@@ -1 +1 @@\n\\ No newline\n?what\n-one\n+two\n\\ No newline\n"
    assert texts_of(_patched(text, v2.DiffModify(path="/a"))) == [("/a", "one\n", "two")]


def test_the_first_drafts_form_without_an_old_text_is_a_new_file() -> None:
    """v2's first drafts sent the texts themselves."""
    assert texts_of(v2.Diff(changes=[], path="/a", new_text="x")) == [("/a", None, "x")]


def patch_of(diff: v2.Diff) -> str:
    """The text of a diff's patch."""
    assert isinstance(diff.patch, v2.DiffPatch)
    return diff.patch.text


@pytest.mark.parametrize(
    ("text", "hunk"),
    [
        ("", ""),
        ("a\n", "@@ -1 +0,0 @@\n-a\n"),
        ("a", "@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n"),
        ("a\nb\n", "@@ -1,2 +0,0 @@\n-a\n-b\n"),
    ],
)
def test_a_deletion_has_every_line_that_is_lost(text: str, hunk: str) -> None:
    """Spec: `delete`, absolute paths, `/dev/null` for the side that is missing."""
    diff = deletion_of("/x/a.txt", text)
    assert diff.changes == [v2.DiffDelete(path="/x/a.txt", file_type="text")]
    head = "diff --git /x/a.txt /x/a.txt\ndeleted file mode 100644\n--- /x/a.txt\n+++ /dev/null\n"
    assert patch_of(diff) == head + hunk
    assert texts_of(diff) == [("/x/a.txt", text, "")]


def test_what_has_no_text_or_too_much_of_it_goes_without_a_patch() -> None:
    """Spec: a patch where feasible; the change is there always."""
    binary = deletion_of("/x/a.png", None)
    assert (binary.changes, binary.patch) == ([v2.DiffDelete(path="/x/a.png")], UNSET)
    assert deletion_of("/x/a.txt", "a\n" * (PATCH_LINES_MAX + 1)).patch is UNSET


def test_a_move_names_both_sides_and_shows_no_text() -> None:
    """Spec: `oldPath`; git's words for a rename, quoted where the name is odd."""
    diff = move_of("/x/a.txt", "/x/b\t.txt")
    assert diff.changes == [v2.DiffMove(old_path="/x/a.txt", path="/x/b\t.txt")]
    assert patch_of(diff) == (
        'diff --git /x/a.txt "/x/b\\t.txt"\n'
        "similarity index 100%\n"
        "rename from /x/a.txt\n"
        'rename to "/x/b\\t.txt"\n'
    )
    assert texts_of(diff) == []
