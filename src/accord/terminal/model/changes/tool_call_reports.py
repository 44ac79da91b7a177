"""File reports of tool calls that wait for the journal: diffs, and files to read beforehand.

This module does not know disks or what the diffs mean.

Invariants
    * A diff of a finished call is returned once, however often the call is reported.
    * A file that a call is about to change is read once, before the call is finished.
"""

from __future__ import annotations

from typing import NamedTuple

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
