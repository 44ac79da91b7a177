"""Changes of files with what was on the left and what is on the right.

For screens that are wide enough; `diff.py` shows the same one beneath the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from rich.style import Style
from textual.strip import Strip

from accord.terminal.model.text.diff_lines import DiffLine, FileChange, paired
from accord.terminal.render.block import OpenFile, strip_of
from accord.terminal.render.markdown.inline import Run
from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import broken, strip_on
from accord.terminal.render.unified_diff import (
    between,
    coloured,
    folded_parts,
    gutter,
    sign_of,
    under_of,
)


def side_lines(
    change: FileChange, look: Look, limit: int, indent: str = ""
) -> tuple[list[Strip], list[OpenFile | None], int]:
    """The lines of a change, at most so many; what each opens; how many are not shown."""
    taken = change.lines[:limit]
    runs = iter(coloured(change.path, taken, look.palette))
    halves = _Halves(taken, look, indent)
    strips: list[Strip] = []
    targets: list[OpenFile | None] = []
    for removed, added in paired(taken):
        left = [(line, next(runs)) for line in removed]
        right = [(line, next(runs)) for line in added]
        first = (removed or added)[0]
        if first.kind in ("hunk", "note"):
            strips.append(between(first, look, indent + " "))
            targets.append(None)
            continue
        if first.kind == "same":
            right = left
        for one, other in zip_longest(left, right):
            rows = halves.rows(one, other)
            strips += rows
            shown = (other or one)[0]
            targets += [OpenFile(change.path, shown.new or shown.old)] * len(rows)
    return strips, targets, len(change.lines) - len(taken) + change.left_out


class _Halves:
    """Two columns with a line between them."""

    def __init__(self, lines: Sequence[DiffLine], look: Look, indent: str) -> None:
        numbers = [max(line.new or 0, line.old or 0) for line in lines]
        self._digits = max(len(str(max(numbers, default=0))), 2)
        self._look = look
        self._indent = indent
        self._width = (look.width - len(indent) - 1) // 2

    def rows(
        self, left: tuple[DiffLine, list[Run]] | None, right: tuple[DiffLine, list[Run]] | None
    ) -> list[Strip]:
        """One line of either text, as many lines of the screen as the longer one needs."""
        blank = strip_of((" " * self._width, Style.null()))
        bar = strip_of((self._look.mark("│", "|"), self._look.palette.border))
        indent = strip_of((self._indent, Style.null()))
        found: list[Strip] = []
        for one, other in zip_longest(self._half(left, True), self._half(right, False)):
            found.append(Strip([*indent, *(one or blank), *bar, *(other or blank)]))
        return found

    def _half(self, side: tuple[DiffLine, list[Run]] | None, is_old: bool) -> list[Strip]:
        if side is None:
            return []
        line, runs = side
        palette = self._look.palette
        under = under_of(line, palette)
        number = line.old if is_old else line.new
        head = f"{number if number is not None else '':>{self._digits}} {sign_of(line)} "
        parts = broken(runs, self._width - len(head))
        parts = folded_parts(parts, self._width - len(head), self._look)
        found: list[Strip] = []
        for count, part in enumerate(parts):
            runs = [*gutter(line, head, count, palette), *part]
            found.append(strip_on(runs, under, self._width))
        return found


__all__ = ["side_lines"]
