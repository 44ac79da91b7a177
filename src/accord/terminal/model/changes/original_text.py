"""Reconstruct the original text of a file from an agent's report and the file on disk.

An agent that writes files itself reports both texts, parts of them, a patch, or only the name.
Pure functions; does not know disks.

Invariant: the text before follows exactly from the report and the text after, or is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accord.terminal.model.changes.hunks import hunks_of_patch, without_patch
from accord.transcript.items.tool_call import FileDiff


@dataclass(frozen=True, slots=True)
class Texts:
    """A file before and after; None if there was none, or is none."""

    before: str | None
    after: str | None


def texts_of(diff: FileDiff, disk: str | None, glimpse: str | None) -> Texts | None:
    """Return what a finished call did to a file.

    `disk` is the current content; `glimpse` is the content when the call was announced, if it was
    read then.
    """
    seen = None if glimpse == disk else glimpse
    if diff.operation == "delete":
        if disk is not None:
            return None
        before = diff.old_text if diff.old_text is not None else _from_removal(diff.patch)
        before = seen if before is None else before
        return None if before is None else Texts(before, None)
    if disk is None:
        return None
    if diff.operation in ("add", "copy"):
        # If a file of that name was seen before, it was not new.
        return Texts(seen, disk)
    before = _before(diff, disk)
    if before is not None:
        return Texts(before, disk)
    if diff.operation == "move" and diff.patch is None:
        return Texts(disk, disk)
    return None if seen is None else Texts(seen, disk)


def texts_of_all(diffs: Sequence[FileDiff], disk: str | None, glimpse: str | None) -> Texts | None:
    """Return the combined effect of several changes of one file; the last one is on disk."""
    text = disk
    for number, diff in enumerate(reversed(diffs), 1):
        found = texts_of(diff, text, glimpse if number == len(diffs) else None)
        if found is None:
            return None if glimpse is None or glimpse == disk else Texts(glimpse, disk)
        text = found.before
    return Texts(text, disk)


def _from_removal(patch: str | None) -> str | None:
    hunks = hunks_of_patch(patch) if patch else None
    return None if hunks is None else without_patch("", hunks)


def _before(diff: FileDiff, disk: str) -> str | None:
    if diff.old_text is not None and diff.new_text is not None:
        before = _replaced(diff.old_text, diff.new_text, disk)
        if before is None and "\r\n" in disk and "\r" not in diff.new_text:
            # Some agents see every file with plain line endings.
            old, new = (text.replace("\n", "\r\n") for text in (diff.old_text, diff.new_text))
            before = _replaced(old, new, disk)
        if before is not None:
            return before
    hunks = hunks_of_patch(diff.patch) if diff.patch else None
    return None if hunks is None else without_patch(disk, hunks)


def _replaced(old: str, new: str, disk: str) -> str | None:
    """Return the old text: the reported one, or the new text with the reported part replaced."""
    if disk == new:
        return old
    if new and disk.count(new) == 1:
        return disk.replace(new, old)
    return None
