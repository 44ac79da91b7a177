"""Hunks of a diff: applying, reverting, making them from two texts, and as a unified diff.

Only a line feed ends a line.  A hunk that does not fit the text to the letter is not applied.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from accord.translate.diffs import PATCH_LINES_MAX
from accord.translate.message import Json

CONTEXT_LINES = 3


def applied(text: str, hunks: Sequence[Json]) -> str | None:
    """Return the text after the change; None if the hunks do not fit the text."""
    return _changed(text, hunks, "oldStart", "-", "+")


def taken_back(text: str, hunks: Sequence[Json]) -> str | None:
    """Return the text before the change; None if the hunks do not lead to this text."""
    return _changed(text, hunks, "newStart", "+", "-")


def _changed(text: str, hunks: Sequence[Json], start: str, gone: str, come: str) -> str | None:
    lines = _lines(text)
    result: list[str] = []
    done = 0
    for hunk in hunks:
        old, new = _sides(hunk["content"], gone, come)
        # A side without lines names the line before it.
        at = hunk[start] - 1 if old else hunk[start]
        if at < done or not _same(lines[at : at + len(old)], old):
            return None
        result += lines[done:at]
        result += new
        done = at + len(old)
    return "".join(result + lines[done:]) if done <= len(lines) else None


def _same(found: list[str], wanted: list[str]) -> bool:
    if len(found) != len(wanted):
        return False
    # A hunk need not show that the last line has no newline.
    return found == wanted or (
        found[:-1] == wanted[:-1] and found[-1].rstrip("\n") == wanted[-1].rstrip("\n")
    )


def _sides(content: str, gone: str, come: str) -> tuple[list[str], list[str]]:
    """Return the lines of a hunk before and after, each with its newline."""
    old: list[str] = []
    new: list[str] = []
    last: list[list[str]] = []
    for line in _lines(content):
        if line.startswith("@@") and not old and not new:
            continue
        mark, rest = line[:1], line[1:].rstrip("\n") + "\n"
        if mark == "\\":
            for side in last:
                side[-1] = side[-1].rstrip("\n")
            continue
        last = []
        if mark != come:
            old.append(rest if mark in " -+" else "\n")
            last.append(old)
        if mark != gone:
            new.append(rest if mark in " -+" else "\n")
            last.append(new)
    return old, new


def _lines(text: str) -> list[str]:
    *whole, last = text.split("\n")
    lines = [f"{line}\n" for line in whole]
    return [*lines, last] if last else lines


def hunks_of(old_text: str | None, new_text: str) -> list[Json]:
    """Return the hunks from one text to another; texts too long to compare are one hunk."""
    old, new = _lines(old_text or ""), _lines(new_text)
    if len(old) + len(new) > PATCH_LINES_MAX:
        return [_hunk([("replace", 0, len(old), 0, len(new))], old, new)]
    groups = difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT_LINES)
    return [_hunk(group, old, new) for group in groups]


def _hunk(group: Sequence[tuple[str, int, int, int, int]], old: list[str], new: list[str]) -> Json:
    old_from, old_to = group[0][1], group[-1][2]
    new_from, new_to = group[0][3], group[-1][4]
    span = {
        "oldStart": old_from + bool(old_to - old_from),
        "oldLines": old_to - old_from,
        "newStart": new_from + bool(new_to - new_from),
        "newLines": new_to - new_from,
    }
    parts = [_header(span)]
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            parts += [f" {line}" for line in old[i1:i2]]
            continue
        parts += [f"-{line}" for line in old[i1:i2]]
        parts += [f"+{line}" for line in new[j1:j2]]
    whole = [
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in parts
    ]
    return {**span, "content": "".join(whole)}


def _header(hunk: Json) -> str:
    old, new = (_range(hunk[f"{side}Start"], hunk[f"{side}Lines"]) for side in ("old", "new"))
    return f"@@ -{old} +{new} @@\n"


def _range(start: int, lines: int) -> str:
    """Return a range as in a unified diff: one line needs no count."""
    return str(start) if lines == 1 else f"{start},{lines}"


def patch_of(hunks: Sequence[Json]) -> str:
    """Return the hunks as the body of a unified diff."""
    return "".join(
        f"{_whole_header(hunk)}{hunk['content'].removesuffix(chr(10))}\n" for hunk in hunks
    )


def _whole_header(hunk: Json) -> str:
    # In the draft's own example the content already has the prefix.
    if hunk["content"].startswith("@@ -"):
        return ""
    old, new = (f"{hunk[f'{side}Start']},{hunk[f'{side}Lines']}" for side in ("old", "new"))
    return f"@@ -{old} +{new} @@\n"


def unified(path: str, hunks: Sequence[Json]) -> str:
    """Return the hunks as the text of a unified diff."""
    parts = [f"--- {path}", f"+++ {path}"]
    for hunk in hunks:
        content = hunk["content"]
        if not content.startswith("@@"):
            parts.append(_header(hunk).removesuffix("\n"))
        parts.append(content.removesuffix("\n"))
    return "\n".join(parts) + "\n"
