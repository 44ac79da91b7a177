"""The file that the agent is working on, its lines, and the tool call that names it.

This module does not know any screen and reads no file.

Invariant: finding it takes the same time however long the conversation is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accord.terminal.model.changes.hunks import Hunk, hunks_of, hunks_of_patch, lines_of
from accord.terminal.model.chat import Chat
from accord.transcript import ToolCall
from accord.transcript.items.tool_call import FileDiff

ENTRIES_MAX = 200
"""The number of last entries that are searched."""


@dataclass(frozen=True, slots=True)
class Followed:
    """A place in a file, and the call that works there."""

    path: str
    line: int | None
    call: ToolCall
    diff: FileDiff | None
    # A version, because the call itself keeps changing.
    stamp: tuple[object, ...]


def followed(chat: Chat) -> Followed | None:
    """The newest call that names a file; unfinished ones come first."""
    finished: Followed | None = None
    for entry in chat.entries[: -ENTRIES_MAX - 1 : -1]:
        if not isinstance(entry, ToolCall):
            continue
        found = _place_of(entry)
        if found is None:
            continue
        if not entry.is_final and not entry.cancelled:
            return found
        if finished is None:
            finished = found
            if not chat.is_busy:
                break
    return finished


def _place_of(call: ToolCall) -> Followed | None:
    diff = call.diffs[-1] if call.diffs else None
    place = call.locations[-1] if call.locations else None
    if diff is not None:
        path, line = diff.path, None
        if place is not None and place.path == path:
            line = place.line
    elif place is not None:
        path, line = place.path, place.line
    else:
        return None
    stamp = (call.tool_call_id, call.status, call.cancelled, call.title, path, line, diff)
    return Followed(path, line, call, diff, stamp)


def changed_lines(text: str, diff: FileDiff | None, line: int | None) -> tuple[range, ...]:
    """The lines to highlight, from 0: those that the diff changed, or the place that was named."""
    found = () if diff is None else _of_diff(text, diff)
    if found:
        return found
    return () if line is None or line < 1 else (range(line - 1, line),)


def _of_diff(text: str, diff: FileDiff) -> tuple[range, ...]:
    if diff.patch is not None:
        hunks: list[Hunk] = []
        for hunk in hunks_of_patch(diff.patch) or ():
            inner = hunks_of("".join(hunk.removed), "".join(hunk.added))
            hunks += [
                Hunk(0, one.removed, one.new_start + hunk.new_start, one.added) for one in inner
            ]
        return _ranges(hunks, 0)
    new, old = diff.new_text or "", diff.old_text or ""
    if new and text != new and text.count(new) != 1:
        # Not written yet: highlight what will be replaced.
        if old and text.count(old) == 1:
            start = text[: text.index(old)].count("\n")
            return (range(start, start + len(lines_of(old))),)
        return ()
    offset = text[: text.index(new)].count("\n") if new else 0
    return _ranges(hunks_of(old, new), offset)


def _ranges(hunks: Sequence[Hunk], offset: int) -> tuple[range, ...]:
    """The line that is now where lines were removed."""
    return tuple(
        range(one.new_start + offset, one.new_start + offset + max(len(one.added), 1))
        for one in hunks
    )
