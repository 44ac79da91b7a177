"""Undo and redo hunks of a file on disk: exact texts, written only over the expected content.

Everything here blocks: call it in a thread.  This module does not know who changed what.

Invariants
    * Nothing is touched outside the session's folders, by `accord.machine`.
    * A text is written only if the file has the expected content; this is checked again just before
      the new file is renamed into place.  In a file that was changed, only hunks whose own lines
      are unchanged are undone or redone.
    * Bytes that were read come back as the same bytes: line endings and byte order mark are part of
      the text here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accord.errors import AccordError
from accord.machine.errors import FileFailure, FileMissing
from accord.machine.filesystem.local_files import LocalFiles, ReplacedFile
from accord.terminal.model.changes.file_change import FileChange
from accord.terminal.model.changes.hunks import carry


class ChangedSince(AccordError):
    """The file was changed in the meantime, so it was not touched."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} was changed in the meantime, so it was not touched")
        self.path = path


class Unreadable(AccordError):
    """The file cannot be journaled; `reason` says why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.reason = reason


class JournalFiles:
    """Guards the invariants of this module."""

    def __init__(self, roots: Sequence[str], bytes_max: int) -> None:
        self._files = LocalFiles(roots, bytes_max=bytes_max)

    def close(self) -> None:
        """Close the open folders."""
        self._files.roots.close()

    def real(self, path: str) -> str:
        """The canonical path of a file; a path outside the folders is unchanged."""
        try:
            with self._files.roots.locate(path) as place:
                return place.real
        except FileFailure:
            return path

    def stamp(self, path: str) -> tuple[int, int] | None:
        """When the file was written last, and its size; None if it cannot be read."""
        try:
            found = self._files.stat(path)
        except FileFailure:
            return None
        return found.modified_ns, found.size

    def read(self, path: str) -> str | None:
        """The text; None if there is no such file.

        Raises:
            Unreadable: it is outside, too large, or no text.
        """
        try:
            return self._files.read_bytes(path).decode()
        except FileMissing:
            return None
        except FileFailure as error:
            raise Unreadable(path, error.reason) from error
        except UnicodeDecodeError as error:
            raise Unreadable(path, "it is not UTF-8 text") from error

    def write(self, path: str, expected: str | None, text: str | None) -> None:
        """Write the new text, or delete the file if that is None.

        Raises:
            ChangedSince: the content is not as expected.
            FileFailure: it cannot be written.
        """
        if self.now(path) != expected:
            raise ChangedSince(path)
        if text == expected:
            return
        if text is None:
            self._files.delete(path)
            return

        def encode(name: str, content: str, existing: ReplacedFile | None) -> bytes:
            if existing is not None and self.now(name) != expected:
                raise ChangedSince(path)
            return content.encode()

        # Never overwrite a file that is expected to be missing.
        self._files.store(path, text, encode, overwrite=expected is not None)

    def move(self, path: str, target: str) -> None:
        """Rename a file.

        Raises:
            FileFailure: the new name exists, or renaming failed.
        """
        self._files.move(path, target)

    def now(self, path: str) -> str | None:
        """Return the text of a file that the journal has.

        Raises:
            ChangedSince: it cannot be journaled any more.
        """
        try:
            return self.read(path)
        except Unreadable as error:
            raise ChangedSince(path) from error


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
