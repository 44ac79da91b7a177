"""Diffs: a patch as two texts where that can be, a line of text where it cannot."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.schema.codec import encode, to_python
from accord.translate.diffs import diff_of, wire_diff
from accord.translate.v2_agent.updates.diffs import hunks_of, texts
from tests.translate.v2_agent.scripted_peers import World, X, started

LONG = "".join(f"line {number}\n" for number in range(40))


def _diff(path: str, old: str | None, new: str) -> dict[str, Any]:
    found: dict[str, Any] = to_python(encode(wire_diff(diff_of(path, old, new))))
    return found


def _shown(diff: dict[str, Any], **options: Any) -> tuple[list[dict[str, Any]], World]:
    world = started(**options)
    [said] = world.update(
        {"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "T", "content": [diff]}
    )
    found: list[dict[str, Any]] = said["content"]
    return found, world


@pytest.mark.parametrize(("old", "new"), [(None, "a\nb"), ("a\nb\n", "a\nc\n"), (None, "")])
def test_a_patch_with_all_lines_gives_both_texts(old: str | None, new: str) -> None:
    """translate 8: rebuilt from full-context hunks, with the diff kept whole."""
    diff = _diff("/a", old, new)
    [said], world = _shown(diff)
    expected = {"type": "diff", "path": "/a", "newText": new}
    if old is not None:
        expected["oldText"] = old
    assert said == {
        **expected,
        "_meta": {X: {"changes": diff["changes"], "patch": diff["patch"]}},
    }
    assert world.losses == {}


@pytest.mark.parametrize("there", ["old", "new"])
def test_a_patch_with_some_lines_needs_the_file_before_or_after(there: str) -> None:
    """translate 8: if the file is readable."""
    new = LONG.replace("line 3\n", "three\n").replace("line 30\n", "thirty\n")
    files = {"/a": LONG if there == "old" else new}
    [said], world = _shown(_diff("/a", LONG, new), files=files)
    assert (said["oldText"], said["newText"]) == (LONG, new)
    assert world.losses == {}


@pytest.mark.parametrize("files", [{}, {"/a": "something else"}])
def test_a_patch_with_some_lines_is_text_where_the_file_is_not_at_hand(files: Any) -> None:
    """translate 8: the patch as text."""
    diff = _diff("/a", LONG, LONG.replace("line 20\n", "twenty\n"))
    [said], world = _shown(diff, files=files)
    assert said["content"]["text"] == diff["patch"]["text"]
    assert said["_meta"] == {X: {"raw": diff}}
    assert world.losses == {"diff": 1}


def test_what_is_attached_to_a_diff_stays_on_it() -> None:
    """translate 13."""
    diff = {**_diff("/a", None, "x\n"), "_meta": {"k": 1}}
    [said], _ = _shown(diff)
    assert said["_meta"]["k"] == 1


def test_texts_that_v1_gave_come_back_exactly() -> None:
    """translate 8: kept on the way to v2."""
    diff = _diff("/a", LONG, LONG + "x")
    for old in ({"oldText": LONG}, {"oldText": None}, {}):
        kept = {"newText": LONG + "x", **old}
        [said], world = _shown({**diff, "_meta": {X: kept}})
        assert said == {"type": "diff", "path": "/a", **kept}
        assert world.losses == {}
    [said], _ = _shown({**diff, "_meta": {"k": 1, X: {"newText": "x"}}})
    assert said["_meta"] == {"k": 1}


def test_the_form_of_the_first_drafts_is_v1s_already() -> None:
    """V2, differences of the drafts: `path`, `oldText`, `newText`."""
    early = {"type": "diff", "changes": [], "path": "/a", "oldText": "x", "newText": "y"}
    [said], _ = _shown(early)
    assert said == {"type": "diff", "path": "/a", "oldText": "x", "newText": "y"}


def test_several_files_are_several_diffs_of_which_the_first_keeps_the_whole() -> None:
    """Ours: so that it can be put together again."""
    one, two = _diff("/a", "x\n", "y\n"), _diff("/b c", None, "z\n")
    both = {
        "type": "diff",
        "changes": [*one["changes"], *two["changes"], {"operation": "_x"}],
        "patch": {"format": "git_patch", "text": one["patch"]["text"] + two["patch"]["text"]},
    }
    [first, second, third], world = _shown(both)
    assert (first["path"], first["oldText"], first["newText"]) == ("/a", "x\n", "y\n")
    assert first["_meta"][X] == {"changes": both["changes"], "patch": both["patch"]}
    assert (second["path"], second["newText"]) == ("/b c", "z\n")
    assert second["_meta"] == third["_meta"] == {X: {"continues": True}}
    assert third["content"]["text"] == "_x"
    assert world.losses == {"diff": 1}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"operation": "move", "oldPath": "/a", "path": "/b"}, "moved /a -> /b"),
        ({"operation": "copy", "oldPath": "/a", "path": "/b"}, "copied /a -> /b"),
        ({"operation": "modify", "path": "/a", "fileType": "binary"}, "modified /a"),
        ({"operation": "add", "path": "/a", "fileType": "binary"}, "added /a"),
        ({"operation": "_shred", "path": "/a"}, "_shred /a"),
    ],
)
def test_what_has_no_texts_is_a_line(change: dict[str, Any], text: str) -> None:
    """translate 8: moves, copies, binaries, no patch."""
    diff = {"type": "diff", "changes": [change], "_meta": {"k": 1}}
    [said], world = _shown(diff)
    assert said["content"]["text"] == text
    assert said["_meta"][X] == {"raw": diff}
    assert world.losses == {"diff": 1}


def test_a_patch_in_another_format_is_no_patch() -> None:
    """V2: the format is open."""
    diff = {
        "type": "diff",
        "changes": [{"operation": "modify", "path": "/a"}],
        "patch": {"format": "_ed", "text": "1d"},
    }
    [said], _ = _shown(diff)
    assert said["content"]["text"] == "modified /a"
    [said], _ = _shown({"type": "diff", "changes": [], "patch": None})
    assert said["content"]["text"] == "no changes"


def test_a_deleted_file_is_an_empty_one() -> None:
    """translate 8: `newText` empty, with the old text from the patch or the file."""
    head = "diff --git /a /a\ndeleted file mode 100644\n--- /a\n+++ /dev/null\n"
    patch = f"{head}@@ -1,2 +0,0 @@\n-x\n-y\n"
    gone = {"type": "diff", "changes": [{"operation": "delete", "path": "/a"}]}
    [said], world = _shown({**gone, "patch": {"format": "git_patch", "text": patch}})
    assert (said["oldText"], said["newText"]) == ("x\ny\n", "")
    assert world.losses == {"deleted file": 1}
    [said], _ = _shown(gone, files={"/a": "z"})
    assert (said["oldText"], said["newText"]) == ("z", "")
    [said], _ = _shown(gone)
    assert (said["oldText"], said["newText"]) == ("", "")


# ---- patches


TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "x"]), max_size=30).map("".join)


@given(TEXTS, TEXTS, st.booleans())
def test_with_the_file_at_hand_both_texts_are_exact(old: str, new: str, is_done: bool) -> None:
    """translate 8: whichever of the two the file is."""
    hunks = hunks_of(_diff("/a", old, new)["patch"]["text"], "/a", only=True)
    found = texts(hunks, "/a", {"/a": new if is_done else old}.get)
    if old == new:
        assert found is None
    elif len(hunks) > 1:
        assert found == (old, new)


def test_a_patch_that_makes_no_sense_has_no_hunks() -> None:
    """Ours: bad input does not raise."""
    head = "noise\ndiff --git /a /a\nindex 1..2\n"
    for body in ("@@ -x +1 @@\n-a\n", "@@ bad\n", "", "@@ -1,1 +1,1 @@\n"):
        hunks = hunks_of(head + body, "/a", only=True)
        assert all(not hunk.old and not hunk.new for hunk in hunks)
    assert hunks_of("diff --git /b /b\n@@ -1 +1 @@\n-a\n+b\n", "/a", only=False) == []
    assert len(hunks_of("diff --git /b /b\n@@ -1 +1 @@\n-a\n+b\n", "/a", only=True)) == 1
    assert len(hunks_of("diff --git a/a b/a\n@@ -1 +1 @@\n-a\n+b\n", "/a", only=False)) == 1
    odd = "diff --git /a /a\n@@ -1 +1 @@\n\\ No newline at end of file\n?what\n-a\n+b\n"
    assert len(hunks_of(odd, "/a", only=True)) == 1


def test_hunks_that_overlap_or_do_not_fit_give_nothing() -> None:
    """Ours: a wrong text is worse than none."""
    text = "diff --git /a /a\n@@ -5 +5 @@\n-a\n+b\n@@ -5 +5 @@\n-a\n+b\n"
    hunks = hunks_of(text, "/a", only=True)
    assert texts(hunks, "/a", {"/a": "a\n" * 9}.get) is None
    added = hunks_of("diff --git /a /a\n@@ -2,0 +3 @@\n+x\n", "/a", only=True)
    assert texts(added, "/a", {"/a": "1\n2\n3\n"}.get) == ("1\n2\n3\n", "1\n2\nx\n3\n")
