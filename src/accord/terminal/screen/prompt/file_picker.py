"""The picker of a file to attach.

This module does not know the editor.
"""

from __future__ import annotations

import os
from itertools import islice
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from accord.machine.file_search.file_index import FilesIndex
from accord.terminal.model.text.display_text import one_line
from accord.terminal.screen.pickers import Picker, Row
from accord.terminal.screen.pickers.search_matches import SearchedRows
from accord.terminal.screen.widgets.key_hints import Hint

ROWS_MAX = 200
_ENTRIES_MAX = 5_000
"""Entries of a folder that are read."""


class AttachScreen(Picker["str | None"]):
    """A picker of a file: in the session's folders by name, or anywhere by path.

    Returns a name or path, or None.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "complete", priority=True)]
    heading: ClassVar[str] = "Attach a file"
    search_text: ClassVar[str] = "Part of its name, or a path that begins with / or ~"
    empty_text: ClassVar[str] = "No matching file."
    choose_text: ClassVar[str] = "attach"

    def __init__(self, index: FilesIndex) -> None:
        super().__init__()
        self._index = index
        self.rows = SearchedRows(self._found)
        self.rows.find("")

    def hints(self) -> list[Hint]:
        """Add the hint for Tab."""
        return [*super().hints(), Hint("Tab", "complete", "complete")]

    def on_mount(self) -> None:
        """Refresh the index of files."""
        super().on_mount()
        self.run_worker(self._look(), exit_on_error=False)

    async def _look(self) -> None:
        if await self._index.refresh():
            self.rows.find(self.rows.search)
            self._arrange()

    def _found(self, search: str) -> list[Row]:
        if search.startswith(("/", "~")):
            return _beneath(search)
        names = self._index.find(search.replace(" ", ""), ROWS_MAX)
        return [Row(name, one_line(name)) for name in names]

    def chosen(self, row: Row) -> None:
        """Enter a folder, or return the file."""
        if row.key.endswith("/"):
            self._write(row.key)
        else:
            self.dismiss(row.key)

    def action_choose(self) -> None:
        """Accept a typed path even if it is not in the list."""
        typed = self.query_one(Input).value.strip()
        if self.rows.chosen is None and typed:
            self.dismiss(typed)
        else:
            super().action_choose()

    def action_complete(self) -> None:
        """Complete the chosen name in the field."""
        row = self.rows.chosen
        if row is not None:
            self._write(row.key)

    def _write(self, text: str) -> None:
        field = self.query_one(Input)
        field.value = text
        field.cursor_position = len(text)


def _beneath(search: str) -> list[Row]:
    """The entries of the folder in a partly typed path."""
    folder, start = os.path.split(os.path.expanduser(search))
    shown = search[: len(search) - len(os.path.basename(search))]
    if search == "~":
        folder, start, shown = os.path.expanduser("~"), "", "~/"
    try:
        with os.scandir(folder) as found:
            entries = [
                (entry.name + "/" if entry.is_dir() else entry.name)
                for entry in islice(found, _ENTRIES_MAX)
                if entry.name.lower().startswith(start.lower())
                and (start.startswith(".") or not entry.name.startswith("."))
            ]
    except (OSError, ValueError):
        return []
    return [Row(shown + name, one_line(shown + name)) for name in sorted(entries)[:ROWS_MAX]]
