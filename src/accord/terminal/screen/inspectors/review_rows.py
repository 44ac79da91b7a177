"""Lines of the review screen: files in the list, and the diff of one file.

This module does not know the screen.  `page_of` may take a while: call it in a thread.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from accord.terminal.model.changes.file_change import FileChange
from accord.terminal.model.changes.git_state import GitMark
from accord.terminal.model.changes.review_lines import review_lines
from accord.terminal.model.text.display_text import path_words
from accord.terminal.render.conversation_colours import Palette
from accord.terminal.render.diff import Gutter, coloured
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import cut, strip_of

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
