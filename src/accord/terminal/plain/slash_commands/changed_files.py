"""Prints the files that the agent changed, by name or with their diffs."""

from __future__ import annotations

import os

from accord.errors import AccordError
from accord.terminal.model.changes.journal import Journal
from accord.terminal.model.labels.amounts_and_durations import counted
from accord.terminal.plain.display.chat_printer import ChatPrinter
from accord.transcript import FileDiff

_STATES = {
    "pending": "changed",
    "kept": "kept",
    "undone": "undone",
    "partly": "partly undone",
    "unknown": "changed in an unknown way",
}


def show_changes(
    printer: ChatPrinter, journal: Journal, folder: str, given: str = "", *, full: bool = False
) -> None:
    """Print the files that the agent changed, by name or with their diffs.

    Raises:
        AccordError: there are none.
    """
    wanted = [
        one for one in journal.changes if not given or os.path.relpath(one.path, folder) == given
    ]
    if not wanted:
        raise AccordError(
            "The agent has not changed any files."
            if not given
            else f"The agent has not changed {given}."
        )
    for change in wanted:
        path = os.path.relpath(change.path, folder)
        lines = f"{counted(change.added, 'line')} added, {change.removed} removed"
        words = change.why or f"{_STATES[change.state]}, {lines}"
        printer.said("  ", f"{path}: {words}", "bold" if full else "")
        if full and not change.why:
            printer.difference(FileDiff(change.path, old_text=change.before, new_text=change.text))
