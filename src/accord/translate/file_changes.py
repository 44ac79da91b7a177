"""Files that go or move, as v2's changes with the patch that git would write for them."""

from __future__ import annotations

from accord.schema import v2
from accord.schema.struct import UNSET, UnsetType
from accord.translate.diffs import PATCH_LINES_MAX, quoted


def deletion_of(path: str, old_text: str | None) -> v2.Diff:
    """A file that goes.  Without its text (not a text, or too long) there is no patch."""
    if old_text is None:
        return v2.Diff(changes=[v2.DiffDelete(path=path)])
    return v2.Diff(
        changes=[v2.DiffDelete(path=path, file_type="text")],
        patch=_deleted(path, old_text),
        path=path,
        old_text=old_text,
        new_text="",
    )


def move_of(path: str, target: str) -> v2.Diff:
    """A file or folder that gets another name, with nothing else about it changed."""
    old, new = quoted(path), quoted(target)
    text = f"diff --git {old} {new}\nsimilarity index 100%\nrename from {old}\nrename to {new}\n"
    return v2.Diff(
        changes=[v2.DiffMove(old_path=path, path=target)],
        patch=v2.DiffPatch(format="git_patch", text=text),
    )


def _deleted(path: str, text: str) -> v2.DiffPatch | UnsetType:
    name = quoted(path)
    *lines, last = text.split("\n")
    count = len(lines) + bool(last)
    if count > PATCH_LINES_MAX:
        return UNSET
    parts = [f"diff --git {name} {name}\ndeleted file mode 100644\n--- {name}\n+++ /dev/null\n"]
    if count:
        span = "1" if count == 1 else f"1,{count}"
        parts.append(f"@@ -{span} +0,0 @@\n")
        parts.extend(f"-{line}\n" for line in lines)
        if last:
            parts.append(f"-{last}\n\\ No newline at end of file\n")
    return v2.DiffPatch(format="git_patch", text="".join(parts))
