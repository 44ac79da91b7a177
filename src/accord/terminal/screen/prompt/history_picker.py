"""The picker of earlier prompts.

This module does not know the editor.
"""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from accord.terminal.model.prompt.history import History
from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.pickers import Picker, Row
from accord.terminal.screen.pickers.search_matches import SearchedRows

ROWS_MAX = 200


class HistoryScreen(Picker["str | None"]):
    """A picker of earlier prompts.  Returns a prompt, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "move(1)", priority=True),
        Binding("ctrl+s", "move(-1)", priority=True),
        Binding("tab", "choose", priority=True),
    ]
    heading: ClassVar[str] = "Earlier prompts"
    search_text: ClassVar[str] = "Type to search"
    empty_text: ClassVar[str] = "There are no earlier prompts."
    choose_text: ClassVar[str] = "insert"

    def __init__(self, history: History) -> None:
        super().__init__()
        self._history = history
        self._texts: list[str] = []
        self.rows = SearchedRows(self._found)
        self.rows.find("")

    def _found(self, search: str) -> list[Row]:
        self._texts = self._history.search(search, ROWS_MAX)
        found: list[Row] = []
        for number, text in enumerate(self._texts):
            lines = text.count("\n") + 1
            note = f"{lines} lines" if lines > 1 else ""
            found.append(Row(str(number), one_line(text), note=note))
        return found

    def chosen(self, row: Row) -> None:
        """Return the whole prompt."""
        self.dismiss(self._texts[int(row.key)])
