"""Files that go or move."""

from __future__ import annotations

import pytest

from accord.schema import v2
from accord.schema.struct import UNSET
from accord.translate import file_changes
from accord.translate.diffs import texts_of, wire_diff
from accord.translate.file_changes import deletion_of, move_of


@pytest.mark.parametrize("text", ["a\n", "a", "a\nb\n", "a\nb", "a\r\u2028b\n"])
def test_a_deleted_file_has_its_old_text_and_no_new_one(text: str) -> None:
    """translate: `newText` is empty; the patch says the same."""
    diff = deletion_of("/w/a b", text)
    assert isinstance(diff.changes[0], v2.DiffDelete)
    assert texts_of(diff) == [("/w/a b", text, "")]
    assert texts_of(wire_diff(diff)) == [("/w/a b", text, "")]


def test_an_empty_file_is_deleted_without_a_hunk() -> None:
    """git writes the header only."""
    patch = deletion_of("/w/a", "").patch
    assert isinstance(patch, v2.DiffPatch)
    assert patch.text == "diff --git /w/a /w/a\ndeleted file mode 100644\n"


def test_without_its_text_a_deletion_has_no_patch(monkeypatch: pytest.MonkeyPatch) -> None:
    """No text, or too much of it."""
    assert deletion_of("/w/a", None).patch is UNSET
    monkeypatch.setattr(file_changes, "PATCH_LINES_MAX", 2)
    assert deletion_of("/w/a", "1\n2\n3\n").patch is UNSET


def test_a_move_is_a_rename_for_git() -> None:
    """Both names are quoted as git does."""
    diff = move_of("/w/a", "/w/ü")
    patch = diff.patch
    assert isinstance(patch, v2.DiffPatch)
    assert 'rename from /w/a\nrename to "/w/\\303\\274"\n' in patch.text
    assert texts_of(diff) == []
