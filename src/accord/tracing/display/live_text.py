"""A growing recording as lines for a terminal.

Must not know files or clocks: it gets lines, and notice when nothing arrived for a moment.

What always holds: every row is shown once its outcome is known, at the latest at the end; a row
that is still open when nothing arrives is shown as open, and again when it ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from accord.tracing.display.row import Row
from accord.tracing.display.terminal_text import row_lines
from accord.tracing.display.timeline import Timeline
from accord.tracing.recording_file import Entry, read_entry
from accord.tracing.recording_redaction import EntryRedactor


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
