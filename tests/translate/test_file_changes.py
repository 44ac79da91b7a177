"""Files that go or move, as changes and as the patch of git."""

import pytest

from accord.schema import v2
from accord.schema.struct import UNSET
from accord.translate.diffs import PATCH_LINES_MAX, texts_of
from accord.translate.file_changes import deletion_of, move_of


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
