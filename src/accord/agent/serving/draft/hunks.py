"""Changes of files as the 2026-02 draft shows them: hunks of a unified diff, one file each."""

from __future__ import annotations

import difflib
import re

from accord.schema import draft, v2
from accord.translate.diffs import PATCH_LINES_MAX, quoted

_RANGES = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NO_NEWLINE = "\\ No newline at end of file\n"


def outputs_of(diff: v2.Diff) -> list[draft.DiffOutput]:
    """One output for each file of a diff; a file whose change nobody describes has no hunks."""
    texts = isinstance(diff.path, str) and isinstance(diff.new_text, str)
    patch = diff.patch.text if isinstance(diff.patch, v2.DiffPatch) else None
    if patch is None and texts:
        patch = _compared(diff)
    sections = {} if patch is None else _sections(patch)
    paths = [path for path in (getattr(change, "path", None) for change in diff.changes) if path]
    if not paths and isinstance(diff.path, str):
        paths = [diff.path]
    found: list[draft.DiffOutput] = []
    for path in paths:
        hunks = _section(sections, path, only=len(paths) == 1)
        found.append(draft.DiffOutput(path=path, hunks=hunks))
    return found


def _compared(diff: v2.Diff) -> str | None:
    assert isinstance(diff.path, str)
    assert isinstance(diff.new_text, str)
    old = diff.old_text if isinstance(diff.old_text, str) else ""
    before, after = _lines(old), _lines(diff.new_text)
    if len(before) + len(after) > PATCH_LINES_MAX:
        return None
    name = quoted(diff.path)
    lines = difflib.unified_diff(before, after, name, name)
    body = [line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in lines]
    return "".join([f"diff --git {name} {name}\n", *body])


def _lines(text: str) -> list[str]:
    *whole, last = text.split("\n")
    lines = [f"{line}\n" for line in whole]
    return [*lines, last] if last else lines


def _section(
    sections: dict[str, list[draft.DiffHunk]], path: str, *, only: bool
) -> list[draft.DiffHunk]:
    for name in (quoted(path), quoted(f"a{path}"), quoted(f"a/{path}")):
        if name in sections:
            return sections[name]
    return next(iter(sections.values())) if only and len(sections) == 1 else []


def _sections(patch: str) -> dict[str, list[draft.DiffHunk]]:
    """The hunks of every file in a git patch, by the first name in its header."""
    sections: dict[str, list[draft.DiffHunk]] = {}
    hunks: list[draft.DiffHunk] = []
    lines: list[str] = []
    ranges: re.Match[str] | None = None

    def close() -> None:
        if ranges is not None:
            hunks.append(_hunk(ranges, "".join(lines)))

    for line in _lines(patch):
        if line.startswith("diff --git "):
            close()
            ranges, hunks = None, []
            paths = line[len("diff --git ") :].rstrip("\n")
            sections[paths[: len(paths) // 2]] = hunks
        elif (found := _RANGES.match(line)) is not None:
            close()
            ranges, lines = found, [line]
        elif ranges is not None:
            lines.append(line)
    close()
    return sections


def _hunk(ranges: re.Match[str], content: str) -> draft.DiffHunk:
    old_start, old_lines, new_start, new_lines = ranges.groups()
    return draft.DiffHunk(
        old_start=int(old_start),
        old_lines=1 if old_lines is None else int(old_lines),
        new_start=int(new_start),
        new_lines=1 if new_lines is None else int(new_lines),
        content=content,
    )


__all__ = ["outputs_of"]
