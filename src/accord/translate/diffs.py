"""File changes as v2's changes and git patches, and patches as two texts if possible.

A patch is an illustration, so a file too large to compare in reasonable time gets none.
"""

from __future__ import annotations

from accord.schema import v2
from accord.schema.struct import UNSET, UnsetType

PATCH_LINES_MAX = 20_000


def diff_of(path: str, old_text: str | None, new_text: str) -> v2.Diff:
    """Make the diff of one file.  It also keeps both texts, which v1 needs and v2 never sends."""
    change = v2.DiffAdd(path=path) if old_text is None else v2.DiffModify(path=path)
    return v2.Diff(
        changes=[change],
        patch=_patch(path, old_text, new_text),
        path=path,
        old_text=old_text,
        new_text=new_text,
    )


def wire_diff(diff: v2.Diff) -> v2.Diff:
    """Return the diff without its texts, as v2 sends it."""
    return v2.Diff(changes=diff.changes, patch=diff.patch, meta=diff.meta)


def _patch(path: str, old_text: str | None, new_text: str) -> v2.DiffPatch | UnsetType:
    old, new = lines_of(old_text or ""), lines_of(new_text)
    if len(old) + len(new) > PATCH_LINES_MAX:
        return UNSET
    # Loaded with the first diff.
    import difflib

    name = quoted(path)
    head = [f"diff --git {name} {name}\n"]
    if old_text is None:
        head.append("new file mode 100644\n")
    before = "/dev/null" if old_text is None else name
    body: list[str] = []
    for line in difflib.unified_diff(old, new, before, name):
        body.append(line)
        if not line.endswith("\n"):
            body.append("\n\\ No newline at end of file\n")
    if old_text is None and not body:
        # Without hunks only these lines name the file: git reads no absolute names from its header.
        body = [f"--- /dev/null\n+++ {name}\n"]
    return v2.DiffPatch(format="git_patch", text="".join(head + body))


def lines_of(text: str) -> list[str]:
    """Split a text into lines with their ends, as git counts them.

    Only "\\n" ends a line: `str.splitlines` also splits at carriage returns, form feeds and the
    separators of Unicode, of which a patch knows nothing.
    """
    *whole, last = text.split("\n")
    lines = [f"{line}\n" for line in whole]
    return [*lines, last] if last else lines


def quoted(path: str) -> str:
    """Quote a path as git does: with octal escapes if it has unusual characters."""
    if all(" " <= char <= "~" and char not in '"\\' for char in path):
        return path
    named = {0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x09: "\\t"}
    parts = (
        named.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}")
        for byte in path.encode()
    )
    return f'"{"".join(parts)}"'


def texts_of(diff: v2.Diff) -> list[tuple[str, str | None, str]]:
    """(path, old text, new text) per file, as far as they are known.

    Texts that came with the diff are exact.  From a patch the lines of its hunks are taken, which
    is the whole file when the patch has all of its lines and an excerpt otherwise.
    """
    if diff.path is not UNSET and diff.new_text is not UNSET:
        old = None if diff.old_text is UNSET else diff.old_text
        return [(diff.path, old, diff.new_text)]
    found: list[tuple[str, str | None, str]] = []
    sections = _hunks(diff.patch.text) if isinstance(diff.patch, v2.DiffPatch) else {}
    for change in diff.changes:
        path = getattr(change, "path", None)
        if path is None:
            continue
        old_lines, new_lines = _section(sections, path, only=len(diff.changes) == 1)
        if isinstance(change, v2.DiffMove | v2.DiffCopy) and not (old_lines or new_lines):
            # Two empty texts would mean that the file had been empty.
            continue
        is_new = isinstance(change, v2.DiffAdd)
        found.append((path, None if is_new else "".join(old_lines), "".join(new_lines)))
    return found


def _section(
    sections: dict[str, tuple[list[str], list[str]]], path: str, *, only: bool
) -> tuple[list[str], list[str]]:
    """The hunks of one file: under its own name, under git's `a/` names, or the only ones."""
    for name in (quoted(path), quoted(f"a{path}"), quoted(f"a/{path}")):
        if name in sections:
            return sections[name]
    if only and len(sections) == 1:
        return next(iter(sections.values()))
    return [], []


def _hunks(patch: str) -> dict[str, tuple[list[str], list[str]]]:
    sections: dict[str, tuple[list[str], list[str]]] = {}
    old: list[str] = []
    new: list[str] = []
    in_hunk = False
    previous = ""
    for line in lines_of(patch):
        if line.startswith("diff --git "):
            in_hunk, old, new = False, [], []
            paths = line[len("diff --git ") :].rstrip("\n")
            sections[paths[: len(paths) // 2]] = (old, new)
        elif line.startswith("@@"):
            in_hunk = True
        elif in_hunk and line.startswith("\\"):
            for lines, marks in ((old, " -"), (new, " +")):
                if previous in marks and lines:
                    lines[-1] = lines[-1].removesuffix("\n")
        elif in_hunk and line[:1] in (" ", "-", "+"):
            if line[0] != "+":
                old.append(line[1:])
            if line[0] != "-":
                new.append(line[1:])
            previous = line[0]
    return sections


def deletion_of(path: str, old_text: str | None) -> v2.Diff:
    """Make the diff of a deleted file; without its text (binary, or too long) it has no patch."""
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
    """Make the diff of a renamed file or folder whose content is unchanged."""
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
