"""Undo and redo hunks of a file on disk.

It blocks: call it in a thread.

Invariant: if the file has the expected content, it gets exactly the wanted text; if it was changed,
only hunks whose own lines are unchanged are undone or redone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accord.terminal.model.changes.file_access import ChangedSince, JournalFiles
from accord.terminal.model.changes.file_change import FileChange
from accord.terminal.model.changes.hunks import carry


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result: hunks done, and hunks refused because they were changed in the meantime."""

    done: int
    refused: int = 0


def switched(
    files: JournalFiles, change: FileChange, numbers: Sequence[int], *, applied: bool
) -> tuple[FileChange, Outcome]:
    """Apply or remove hunks; return the new change and the number of hunks.

    Raises:
        ChangedSince: the file was created or deleted in the meantime.
        FileFailure: it cannot be written.
    """
    place, now = change.place, set(change.applied)
    disk, expected = files.now(place), change.text
    done: list[int] = []
    if disk == expected:
        done.extend(numbers)
        wanted = now | set(numbers) if applied else now - set(numbers)
        files.write(place, expected, change.text_with(wanted))
    elif disk is None or expected is None or change.is_whole:
        raise ChangedSince(place)
    else:
        text = disk
        for number in numbers:
            step = change.hunk_within(number, now)
            carried = carry(step, change.text_with(now) or "", text)
            if carried is not None:
                text = carried
                now ^= {number}
                done.append(number)
        files.write(place, disk, text)
    found = change.with_states(done, "pending" if applied else "undone")
    return found, Outcome(len(done), len(numbers) - len(done))
