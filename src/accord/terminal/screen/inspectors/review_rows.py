"""Lines of the review screen: files in the list, and the diff of one file.

Lines are clean and have no line endings, but all else that the file has; there are at most
`LINES_MAX`.  This module does not know the screen.  `page_of` may take a while: call it in a
thread.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from accord.terminal.model.changes.file_change import FileChange
from accord.terminal.model.changes.git_state import GitMark
from accord.terminal.model.changes.hunks import Hunk, lines_of
from accord.terminal.model.text.diff_lines import DiffLine, Kind, all_have_returns, line_text
from accord.terminal.model.text.display_text import one_line, path_words
from accord.terminal.render.conversation_colours import Palette
from accord.terminal.render.diff import Gutter, coloured
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import cut, strip_of

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


_STATE_MARKS = {"pending": "○", "kept": "✓", "undone": "↶", "partly": "◐", "unknown": "?"}
_GIT_WORDS: dict[GitMark | None, str] = {
    "dirty": "dirty",
    "untracked": "untracked",
    "ignored": "ignored",
    "outside": "not in git",
}


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """A file ready to be shown: by row the strip, its hunk, and the line of the file."""

    path: str = ""
    rows: tuple[tuple[Strip, int | None, int | None], ...] = ()
    # By hunk: its first row.
    starts: tuple[int, ...] = ()

    def hunk_at(self, row: int) -> int | None:
        """The hunk that a row belongs to."""
        return self.rows[row][1] if row < len(self.rows) else None

    def line_at(self, row: int) -> int | None:
        """The line of the file at a row, or the nearest one below; from 1."""
        for _, _, line in self.rows[row : row + 200]:
            if line is not None:
                return line
        return None

    def first_row(self, hunk: int) -> int:
        """Where a hunk begins."""
        return self.starts[hunk] if hunk < len(self.starts) else 0


def page_of(change: FileChange | None, width: int, palette: Palette) -> ReviewPage:
    """The differences of a file in colours."""
    if change is None:
        return ReviewPage()
    found = review_lines(change)
    lines = [one.line for one in found]
    gutter = Gutter(lines, Look(width=width, palette=palette))
    rows: list[tuple[Strip, int | None, int | None]] = []
    starts: list[int] = []
    for (line, hunk), runs in zip(found, coloured(change.path, lines, palette), strict=True):
        if line.kind == "hunk" and hunk is not None:
            starts.append(len(rows))
            style = _head_style(change, hunk, palette)
            # Start at the first change, not at its context.
            first = change.hunks[hunk].new_start + 1
            rows.append((strip_of((cut(line.text, width), style)), hunk, first))
            continue
        rows += [(strip, hunk, line.new) for strip in gutter.strips(line, runs)]
    return ReviewPage(change.path, tuple(rows), tuple(starts))


def _head_style(change: FileChange, hunk: int, palette: Palette) -> Style:
    return {"kept": palette.success, "undone": palette.dim}.get(change.states[hunk], palette.hunk)


def file_row(
    change: FileChange, mark: GitMark | None, folder: str, width: int, palette: Palette
) -> Strip:
    """A file in the list: its state, name, counts and git state."""
    state = change.state
    waits = calm(palette.waiting, palette.strong)
    style = {"kept": palette.success, "undone": palette.dim, "unknown": palette.warning}.get(
        state, waits if state == "pending" else palette.text
    )
    word = "new" if change.before is None and not change.why else _GIT_WORDS.get(mark, "")
    if change.after is None and not change.why:
        word = "deleted"
    counts = "" if change.why else f" +{change.added}"
    minus = "" if change.why else f" −{change.removed}"
    tail = f"  {word}" if word else ""
    room = width - 3 - len(counts) - len(minus) - len(tail) - 1
    if room < 12:
        tail, room = "", room + len(tail)
    name = path_words(change.place, folder)
    name = _end_of(name, max(room, 4))
    return strip_of(
        (f" {_STATE_MARKS[state]} ", style),
        (name, palette.dim if state == "undone" else palette.text),
        (" " * max(room - cell_len(name), 0), palette.text),
        (counts, palette.success),
        (minus, calm(palette.error, palette.text)),
        (tail, palette.dim),
    )


def calm(style: Style, other: Style) -> Style:
    """Return a colour, or a quiet style if there are no colours."""
    return other if style.color is None else style


def _end_of(name: str, width: int) -> str:
    """Shorten a path at its beginning to this many cells."""
    if cell_len(name) <= width:
        return name
    places = range(len(name))
    start = bisect_left(places, True, key=lambda at: cell_len(name[at:]) <= width - 1)
    return f"…{name[start:]}"
