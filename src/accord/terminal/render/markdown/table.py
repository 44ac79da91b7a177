"""Lay out tables: columns shrink between words; if too narrow, rows become lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from rich.cells import cell_len
from rich.segment import Segment

from accord.terminal.render.render_options import Look
from accord.terminal.render.text_runs import Line, Run

Cell: TypeAlias = list[Run]
Wrap: TypeAlias = Callable[[Cell, int], list[Line]]

COLUMN_MIN = 6
"""If a column would be narrower, rows become lists."""


def _natural(cell: Cell) -> int:
    text = "".join([text for text, _ in cell])
    return max(map(cell_len, text.split("\n")))


def _widths(rows: list[list[Cell]], room: int) -> list[int] | None:
    """Return the width of each column, or None if there is too little room."""
    wanted = [max(1, *(_natural(row[at]) for row in rows)) for at in range(len(rows[0]))]
    if sum(wanted) <= room:
        return wanted
    narrow = [min(one, COLUMN_MIN) for one in wanted]
    if sum(narrow) > room:
        return None
    # The widest columns shrink first.
    widths = list(wanted)
    over = sum(widths) - room
    while over > 0:
        widest = max(widths)
        at_top = [at for at, one in enumerate(widths) if one == widest]
        below = max([one for one in widths if one < widest], default=0)
        step = min(widest - max(below, COLUMN_MIN), -(-over // len(at_top)))
        for at in at_top:
            less = min(max(step, 1), over, widths[at] - 1)
            widths[at] -= less
            over -= less
    return widths


def _padded(line: Line, width: int, align: str) -> Line:
    gap = width - sum([cell_len(segment.text) for segment in line])
    left = gap if align == "right" else gap // 2 if align == "center" else 0
    before = [Segment(" " * left)] if left > 0 else []
    after = [Segment(" " * (gap - left))] if gap > left else []
    return [*before, *line, *after]


def _row(
    cells: list[Cell], widths: list[int], aligns: list[str], look: Look, wrap: Wrap
) -> list[Line]:
    columns = [wrap(cell, width) for cell, width in zip(cells, widths, strict=True)]
    between = Segment(look.mark(" │ ", " | "), look.palette.border)
    found: list[Line] = []
    for number in range(max(map(len, columns))):
        line: Line = []
        for at, column in enumerate(columns):
            if at:
                line.append(between)
            line += _padded(column[number] if number < len(column) else [], widths[at], aligns[at])
        found.append(line)
    return found


def _as_lists(rows: list[list[Cell]], look: Look, width: int, wrap: Wrap) -> list[Line]:
    """Render each row as lines of "heading: value"."""
    head, *body = rows
    found: list[Line] = []
    for row in body or [head]:
        if found:
            found.append([Segment(look.mark("─", "-") * min(width, 12), look.palette.border)])
        for name, cell in zip(head, row, strict=True):
            said = [*name, (": ", look.palette.dim), *cell] if body else cell
            found += wrap(said, width)
    return found


def table_lines(
    rows: list[list[Cell]], aligns: list[str], look: Look, width: int, wrap: Wrap
) -> list[Line]:
    """Lay out a table: the first row is the header, and all rows have the same length."""
    widths = _widths(rows, width - 3 * (len(rows[0]) - 1))
    if widths is None:
        return _as_lists(rows, look, width, wrap)
    found = _row(rows[0], widths, aligns, look, wrap)
    bar, cross = look.mark("─", "-"), look.mark("─┼─", "-+-")
    found.append([Segment(cross.join(bar * one for one in widths), look.palette.border)])
    for row in rows[1:]:
        found += _row(row, widths, aligns, look, wrap)
    return found
