"""File reports of tool calls that wait for the journal, and the original texts they lead to.

An agent that writes files itself reports both texts, parts of them, a patch, or only the name.
This module does not know disks.

Invariants
    * A diff of a finished call is returned once, however often the call is reported.
    * A file that a call is about to change is read once, before the call is finished.
    * The text before a change follows exactly from the report and the text after, or is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from accord.terminal.model.changes.hunks import hunks_of_patch, without_patch
from accord.transcript import ToolCall
from accord.transcript.items.tool_call import FileDiff

CALLS_MAX = 4096
UPCOMING_MAX = 64

_CHANGING = frozenset({"edit", "delete", "move"})


class UpcomingChange(NamedTuple):
    """A file that a call is about to change."""

    call_id: str
    path: str


class ReportedDiff(NamedTuple):
    """A diff of a finished call."""

    call_id: str
    diff: FileDiff


class Reports:
    """Guards the invariants of this module."""

    def __init__(self) -> None:
        self._taken: dict[str, list[FileDiff]] = {}
        self._asked: dict[UpcomingChange, None] = {}
        self._texts: dict[UpcomingChange, str | None] = {}
        self._to_look: list[UpcomingChange] = []
        self._told: list[ReportedDiff] = []

    @property
    def is_waiting(self) -> bool:
        """Whether there are reports to process."""
        return bool(self._to_look or self._told)

    def hear(self, call: ToolCall) -> None:
        """Note the current state of a call."""
        if call.status == "completed":
            self._finished(call)
        elif not call.is_final and (call.kind in _CHANGING or call.diffs):
            named = [place.path for place in call.locations]
            named += [diff.old_path or diff.path for diff in call.diffs]
            for path in named:
                key = UpcomingChange(call.tool_call_id, path)
                if key not in self._asked:
                    self._asked[key] = None
                    self._to_look.append(key)
            while len(self._asked) > CALLS_MAX:
                del self._asked[next(iter(self._asked))]

    def _finished(self, call: ToolCall) -> None:
        diffs, known = call.diffs, self._taken.get(call.tool_call_id, [])
        if diffs == known:
            return
        # Content may still be added to a call that is finished.
        fresh = diffs[len(known) :] if diffs[: len(known)] == known else diffs
        self._taken[call.tool_call_id] = list(diffs)
        self._told += [ReportedDiff(call.tool_call_id, diff) for diff in fresh]
        if len(self._taken) > CALLS_MAX:
            del self._taken[next(iter(self._taken))]

    def take_looks(self) -> list[UpcomingChange]:
        """Return the files to read now."""
        found, self._to_look = self._to_look, []
        return found

    def take_told(self) -> list[ReportedDiff]:
        """Return the diffs of finished calls, in order."""
        found, self._told = self._told, []
        return found

    def saw(self, key: UpcomingChange, text: str | None) -> None:
        """Store the content of a file."""
        self._texts[key] = text
        if len(self._texts) > UPCOMING_MAX:
            del self._texts[next(iter(self._texts))]

    def seen(self, told: ReportedDiff) -> str | None:
        """Return the content of the file before the call, if it was read."""
        path = told.diff.old_path or told.diff.path
        return self._texts.pop(UpcomingChange(told.call_id, path), None)


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
