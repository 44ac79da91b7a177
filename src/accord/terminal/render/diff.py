"""Render diffs of files: a summary per file, and the lines inline or side by side.

This module does not know tool calls.

Invariants
    * No line is wider than the look.
    * Added and removed lines have a sign, not only a colour.
    * The work is bounded, however large a change is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from rich.style import Style
from textual.strip import Strip

from accord.terminal.model.labels.amounts_and_durations import counted
from accord.terminal.model.text.diff_lines import DiffLine, FileChange, Span, paired, word_changes
from accord.terminal.model.text.display_text import WRITTEN_OUT, one_line, path_words
from accord.terminal.render.block import OpenFile
from accord.terminal.render.conversation_colours import Palette
from accord.terminal.render.render_options import Look
from accord.terminal.render.syntax_colours import Code
from accord.terminal.render.text_runs import (
    Run,
    broken,
    cut,
    restyled,
    shortened,
    strip_of,
    strip_on,
)

SIDE_BY_SIDE_MIN = 100
"""The minimum width for side-by-side diffs."""
PARTS_MAX = 6
"""Screen lines that one line of a file may take; data files have very long ones."""
COLOURED_LINES_MAX = 2000

_OPERATIONS = {"add": "new", "delete": "deleted", "move": "moved", "copy": "copied", "modify": ""}


def summary_line(change: FileChange, look: Look, folder: str = "", indent: str = "") -> Strip:
    """The summary of one file: counts of lines, the operation and the path."""
    palette = look.palette
    runs: list[Run] = [(indent, palette.text)]
    if change.added or change.removed or not change.lines:
        minus = look.mark("−", "-")
        if change.lines:
            runs += [
                (f"+{change.added} ", palette.success),
                (f"{minus}{change.removed} ", palette.error),
            ]
    word = _OPERATIONS.get(change.operation)
    if word is None:
        word = one_line(change.operation, 30)
    elif not word and not change.lines:
        word = "changed"
    path = path_words(change.path, folder) or "a file"
    if change.old_path:
        arrow = look.mark(" → ", " -> ")
        path = f"{path_words(change.old_path, folder)}{arrow}{path}"
    runs.append((path, palette.strong))
    if word:
        runs.append((f"  {word}", palette.dim))
    return strip_of(*shortened(runs, look.width))


def diff_lines(
    change: FileChange, look: Look, limit: int, indent: str = "", parts_max: int = PARTS_MAX
) -> tuple[list[Strip], list[OpenFile | None], int]:
    """Up to `limit` lines of a diff, the target of each, and how many are not shown."""
    # With one side empty, side by side makes no sense.
    both = change.added and change.removed
    if look.side_by_side and look.width >= SIDE_BY_SIDE_MIN and both:
        return _side_lines(change, look, limit, indent)
    taken = change.lines[:limit]
    room = Gutter(taken, look, indent, parts_max)
    strips: list[Strip] = []
    targets: list[OpenFile | None] = []
    for line, runs in zip(taken, coloured(change.path, taken, look.palette), strict=True):
        for strip in room.strips(line, runs):
            strips.append(strip)
            targets.append(
                OpenFile(change.path, line.new or line.old) if line.kind != "hunk" else None
            )
    return strips, targets, len(change.lines) - len(taken) + change.left_out


def more_line(left_out: int, look: Look, indent: str = "") -> Strip:
    """A line that says how many lines are not shown."""
    return strip_of(
        *shortened(
            [
                (
                    f"{indent}{look.mark('…', '...')} {counted(left_out, 'more line')}",
                    look.palette.dim,
                )
            ],
            look.width,
        )
    )


class Gutter:
    """Renders lines with a line number and a sign on the left."""

    def __init__(
        self,
        lines: Sequence[DiffLine],
        look: Look,
        indent: str = "",
        parts_max: int = PARTS_MAX,
    ) -> None:
        numbers = [line.new or line.old or 0 for line in lines]
        self._digits = max(len(str(max(numbers, default=0))), 2)
        self._look = look
        self._indent = indent
        self._parts_max = parts_max
        self.width = look.width - len(indent)

    def strips(self, line: DiffLine, runs: Sequence[Run]) -> list[Strip]:
        """One line of a file as screen lines with a full background."""
        palette = self._look.palette
        if line.kind in ("hunk", "note"):
            blank = self._indent + " " * (self._digits - 1)
            return [between(line, self._look, blank)]
        under = under_of(line, palette)
        number = line.old if line.kind == "removed" else line.new
        head = f"{number if number is not None else '':>{self._digits}} {sign_of(line)} "
        parts = broken(runs, self.width - len(head))
        parts = folded_parts(parts, self.width - len(head), self._look, self._parts_max)
        found: list[Strip] = []
        for count, part in enumerate(parts):
            strip = strip_on([*gutter(line, head, count, palette), *part], under, self.width)
            found.append(Strip([*strip_of((self._indent, Style.null())), *strip]))
        return found


def folded_parts(
    parts: list[list[Run]], width: int, look: Look, parts_max: int = PARTS_MAX
) -> list[list[Run]]:
    """The rows of a line; a very long one keeps its first rows and its last."""
    if len(parts) <= parts_max + 1:
        return parts
    between_them = sum(len(text) for part in parts[parts_max:-1] for text, _ in part)
    words = f"{look.mark('…', '...')} {between_them:,} more characters"
    return [*parts[:parts_max], [(cut(words, width), look.palette.dim)], parts[-1]]


def between(line: DiffLine, look: Look, indent: str) -> Strip:
    """A line between hunks, or a note about the file."""
    palette = look.palette
    mark = look.mark("⋮", ":") if line.kind == "hunk" else " "
    style = palette.hunk if line.kind == "hunk" else palette.dim
    runs = [(f"{indent}{mark} ", palette.line_number), (f"  {line.text}", style)]
    return strip_of(*shortened(runs, look.width))


def gutter(line: DiffLine, head: str, row: int, palette: Palette) -> list[Run]:
    """The gutter of a row: number and sign in the first row of a line, blank in the others."""
    if row:
        return [(" " * len(head), palette.text)]
    signs = {"added": palette.success, "removed": palette.error}
    style = signs.get(line.kind, palette.text)
    return [(head[:-2], palette.line_number), (head[-2:], style)]


def sign_of(line: DiffLine) -> str:
    """The sign of a line: added, removed or unchanged."""
    return {"added": "+", "removed": "-"}.get(line.kind, " ")


def under_of(line: DiffLine, palette: Palette) -> Style:
    """The background style of a line."""
    if line.kind == "added":
        return palette.added
    return palette.removed if line.kind == "removed" else palette.text


def coloured(path: str, lines: Sequence[DiffLine], palette: Palette) -> list[list[Run]]:
    """The lines as runs, with syntax colours and changed words marked."""
    name = path.replace("\\", "/").rpartition("/")[2]
    # Both texts are highlighted separately, so that a removed quote does not open a string in the
    # added text.
    old, new = Code(name, palette), Code(name, palette)
    if len(lines) > COLOURED_LINES_MAX:
        old = new = Code("", palette)
    before = [line.text for line in lines if line.kind in ("removed", "same")]
    after = [line.text for line in lines if line.kind in ("added", "same")]
    old_runs, new_runs = iter(old.runs(before)), iter(new.runs(after))
    marks = _word_marks(lines)
    found: list[list[Run]] = []
    for at, line in enumerate(lines):
        if line.kind in ("hunk", "note"):
            found.append([(line.text, palette.dim)])
            continue
        runs = next(new_runs) if line.kind == "added" else next(old_runs)
        if line.kind == "same":
            next(new_runs)
        word = palette.added_word if line.kind == "added" else palette.removed_word
        runs = restyled(runs, marks.get(at, ()), word)
        found.append(restyled(runs, _written_out(line.text), palette.warning))
    return found


def _written_out(text: str) -> list[Span]:
    """The placeholders in a line for characters that terminals do not draw."""
    return [] if text.isascii() else [found.span() for found in WRITTEN_OUT.finditer(text)]


def _word_marks(lines: Sequence[DiffLine]) -> dict[int, list[Span]]:
    """By line index: the spans that differ from its counterpart."""
    found: dict[int, list[Span]] = {}
    at = 0
    for removed, added in paired(lines):
        if added:
            # In a group, removed lines come before added ones.
            for number, (old, new) in enumerate(zip(removed, added, strict=False)):
                gone, come = word_changes(old.text, new.text)
                found[at + number] = gone
                found[at + len(removed) + number] = come
        at += len(removed) + len(added)
    return found


# ---- side by side


def _side_lines(
    change: FileChange, look: Look, limit: int, indent: str = ""
) -> tuple[list[Strip], list[OpenFile | None], int]:
    """Up to `limit` lines of a diff, the target of each, and how many are not shown."""
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
    """Two columns with a separator between them."""

    def __init__(self, lines: Sequence[DiffLine], look: Look, indent: str) -> None:
        numbers = [max(line.new or 0, line.old or 0) for line in lines]
        self._digits = max(len(str(max(numbers, default=0))), 2)
        self._look = look
        self._indent = indent
        self._width = (look.width - len(indent) - 1) // 2

    def rows(
        self, left: tuple[DiffLine, list[Run]] | None, right: tuple[DiffLine, list[Run]] | None
    ) -> list[Strip]:
        """One line of each text, in as many screen lines as the longer one needs."""
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
