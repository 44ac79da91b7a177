"""The lines of a changed file for review, each with its hunk.

This module does not know screens.

Invariant: lines are clean and have no line endings, but all else that the file has; there are
at most `LINES_MAX`.
"""

from __future__ import annotations

from typing import NamedTuple

from accord.terminal.model.changes.file_change import FileChange
from accord.terminal.model.changes.hunks import Hunk, lines_of
from accord.terminal.model.text.diff_lines import DiffLine, Kind, all_have_returns, line_text
from accord.terminal.model.text.display_text import one_line

CONTEXT = 3
LINES_MAX = 5000

STATE_WORDS = {
    "pending": "unreviewed",
    "kept": "kept",
    "undone": "undone",
    "partly": "partly kept",
    "unknown": "cannot be undone",
}


class ReviewLine(NamedTuple):
    """A line, and the number of its hunk; None if it belongs to none."""

    line: DiffLine
    hunk: int | None


def review_lines(change: FileChange) -> list[ReviewLine]:
    """All hunks with some context."""
    if change.why:
        return [ReviewLine(DiffLine("note", f"cannot be shown: {one_line(change.why)}"), None)]
    found: list[ReviewLine] = []
    old = lines_of(change.before or "")
    is_same = all_have_returns(change.before or "", change.after or "")

    def line(kind: Kind, text: str, hunk: int, old: int | None, new: int | None) -> ReviewLine:
        number = (None if old is None else old + 1, None if new is None else new + 1)
        return ReviewLine(DiffLine(kind, line_text(text, has_returns=is_same), *number), hunk)

    shown = shift = 0
    for number, hunk in enumerate(change.hunks):
        found.append(ReviewLine(DiffLine("hunk", _head(change, number)), number))
        until = hunk.start + len(hunk.removed)
        following = change.hunks[number + 1].start if number + 1 < len(change.hunks) else len(old)
        begin = max(hunk.start - CONTEXT, shown)
        found += [line("same", old[n], number, n, n + shift) for n in range(begin, hunk.start)]
        found += [ReviewLine(DiffLine("note", note), number) for note in _notes(change, hunk)]
        removed = enumerate(hunk.removed[:LINES_MAX], hunk.start)
        found += [line("removed", text, number, n, None) for n, text in removed]
        added = enumerate(hunk.added[:LINES_MAX], hunk.new_start)
        found += [line("added", text, number, None, n) for n, text in added]
        shift += len(hunk.added) - len(hunk.removed)
        shown = min(until + CONTEXT, following)
        found += [line("same", old[n], number, n, n + shift) for n in range(until, shown)]
        if len(found) > LINES_MAX:
            del found[LINES_MAX:]
            found.append(ReviewLine(DiffLine("note", "… and more, too long to show"), None))
            break
    return found


def _head(change: FileChange, number: int) -> str:
    count = len(change.hunks)
    which = f"{number + 1} of {count}" if count > 1 else "the only hunk"
    if change.before is None:
        which = "new file"
    elif change.after is None:
        which = "file deleted"
    return f"── {which} ── {STATE_WORDS[change.states[number]]}"


def _notes(change: FileChange, hunk: Hunk) -> list[str]:
    found: list[str] = []
    if change.old_path is not None and hunk is change.hunks[0]:
        back = ", and moved back" if change.is_moved_back else ""
        found.append(f"moved from {one_line(change.old_path)}{back}")
    if not hunk.removed and not hunk.added and change.old_path is None:
        found.append("empty file")
    bare = [tuple(one.rstrip("\r\n") for one in side) for side in (hunk.removed, hunk.added)]
    if hunk.removed and bare[0] == bare[1]:
        found.append("only line endings differ")
    return found
