"""A recording as lines for a terminal, also while it grows: rows, statistics, broken rules.

Must not know files or clocks: for a growing recording it gets lines, and notice when nothing
arrived for a moment.  Each row is shown once its outcome is known, at the latest at the end; a row
that is still open when nothing arrives is shown as open, and again when it ends.

What always holds: no line contains an unescaped control character, whatever is in a recording.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from accord.machine.console.control_characters import visible_line
from accord.tracing.display.row import Row
from accord.tracing.display.statistics import MethodFigures
from accord.tracing.display.timeline import Timeline
from accord.tracing.recording_file import Entry, read_entry
from accord.tracing.recording_redaction import EntryRedactor
from accord.tracing.validation.validator import Problem

_ARROWS = {"client": "→", "agent": "←", None: " "}
_PLAIN_ARROWS = {"client": ">", "agent": "<", None: " "}
_METHOD_WIDTH = 26


def duration(seconds: float | None) -> str:
    """Format a duration for people."""
    if seconds is None:
        return "…"
    if seconds < 0.0001:
        return "0"
    if seconds < 1:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds:.2f} s" if seconds < 100 else f"{seconds:.0f} s"


def row_lines(row: Row, *, width: int | None = None, unicode: bool = True) -> Iterator[str]:
    """Yield the lines of a row: the row, the statuses of a tool call, and broken rules."""
    arrows = _ARROWS if unicode else _PLAIN_ARROWS
    indent = "" if row.kind == "turn" or row.turn is None else "  "
    name = visible_line(row.method or row.kind)
    count = f" ×{len(row.frames)}" if row.kind in ("stream", "stderr", "terminal") else ""
    took = (
        duration(row.seconds) if row.kind not in ("update", "note", "noise", "gap", "end") else ""
    )
    head = f"{row.start:10.3f} {arrows.get(row.speaker, ' ')} {indent}{name:<{_METHOD_WIDTH}}"
    line = f"{head} {took:>9}  {visible_line(row.title)}{count}"
    if row.status:
        line += f"  [{visible_line(row.status)}]"
    yield _fitting(line, width)
    if len(row.steps) > 1:
        steps = (f"{visible_line(status or '-')} {time:.3f}" for time, status in row.steps)
        life = ", ".join(steps)
        yield _fitting(f"{'':12} {indent}{'':>{_METHOD_WIDTH}} {'':>9}  {life}", width)
    for problem in row.problems:
        yield _fitting(f"{'':12} {indent}{problem_line(problem, unicode=unicode)}", width)


def problem_line(problem: Problem, *, unicode: bool = True) -> str:
    """Return the line of a broken rule."""
    mark = ("✕" if unicode else "x") if problem.level == "must" else "!"
    detail = f" ({problem.detail})" if problem.detail else ""
    said = visible_line(f"{problem.rule}: {problem.sentence}{detail}")
    return f"{mark} {said}, entry {problem.number}"


def summary_line(frames: int, dialect: str, problems: Sequence[Problem]) -> str:
    """Return the line below all problems: how many rules are broken, if any."""
    broken = sum(problem.level == "must" for problem in problems)
    advice = len(problems) - broken
    return (
        f"{frames} frames of {dialect}: {broken or 'no'} broken rule{'s' if broken != 1 else ''}"
        + (f", {advice} recommendation{'s' if advice != 1 else ''} not followed" if advice else "")
    )


def figure_lines(figures: Iterable[MethodFigures], *, unicode: bool = True) -> Iterator[str]:
    """Yield the lines of the statistics table."""
    arrows = _ARROWS if unicode else _PLAIN_ARROWS
    counts = f"{'count':>8} {'errors':>7} {'open':>5}"
    yield f"  {'method':<34} {counts} {'p50':>10} {'p99':>10} {'max':>10}"
    for one in figures:
        times = (
            f"{duration(value) if value is not None else '-':>10}"
            for value in (one.p50, one.p99, one.longest)
        )
        yield (
            f"{arrows.get(one.speaker, ' ')} {visible_line(one.method)[:34]:<34} {one.count:>8} "
            f"{one.errors:>7} {one.unanswered:>5} {' '.join(times)}"
        )


def _fitting(line: str, width: int | None) -> str:
    return line if width is None or len(line) <= width else f"{line[: width - 1]}…"


class LiveText:
    """Returns new and changed rows."""

    def __init__(
        self, *, redacted: bool = True, width: int | None = None, unicode: bool = True
    ) -> None:
        self.ended = False
        self._redactor = EntryRedactor() if redacted else None
        self._timeline = Timeline()
        self._width, self._unicode = width, unicode
        self._number = 0
        self._waiting: dict[int, Row] = {}
        self._shown: dict[int, tuple[object, ...]] = {}

    def take(self, line: bytes) -> Iterator[str]:
        """Take one more line of the file."""
        if not line.strip():
            return
        self._number += 1
        entry = read_entry(line, self._number)
        for ready in [entry] if self._redactor is None else self._redactor.feed(entry):
            yield from self._add(ready)

    def _add(self, entry: Entry) -> Iterator[str]:
        row = self._timeline.feed(entry)
        others = [other for index, other in self._waiting.items() if index != row.index]
        self._waiting = {row.index: row}
        for other in others:
            yield from self._show(other)
        if row.kind not in ("stream", "stderr", "tool", "terminal"):
            yield from self.settle()
        if entry.kind == "end":
            self.ended = True

    def settle(self) -> Iterator[str]:
        """Show waiting rows, because nothing arrived for a moment."""
        waiting, self._waiting = self._waiting, {}
        for row in waiting.values():
            yield from self._show(row)

    def _show(self, row: Row) -> Iterator[str]:
        state = (row.status, row.end, len(row.frames), row.title)
        if self._shown.get(row.index) != state:
            self._shown[row.index] = state
            yield from row_lines(row, width=self._width, unicode=self._unicode)
