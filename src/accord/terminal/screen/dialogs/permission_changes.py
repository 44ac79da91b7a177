"""The change of one file in a permission request, as lines; of a long one the rest is counted.

This module does not know the dialog.
"""

from __future__ import annotations

from dataclasses import replace

from textual.strip import Strip

from accord.client.permissions.request import PermissionRequest
from accord.terminal.model.chat import Chat
from accord.terminal.model.permissions.request_text import asked_changes
from accord.terminal.model.text.diff_lines import FileChange, change_of
from accord.terminal.render.diff import diff_lines, more_line, summary_line
from accord.terminal.render.render_options import Look
from accord.transcript.items.tool_call import FileDiff

DIFF_LINES_MAX = 2000
"""The maximum number of lines of one file's change; the rest is counted."""
QUICK_LINES_MAX = 100
"""The beginning of a longer change is shown at once, and the rest a moment later."""
ROWS_MAX = 10_000
"""The maximum number of screen rows for one line of a file, which is shown in full."""


def is_quick(request: PermissionRequest) -> bool:
    """Whether all of it can be drawn without a noticeable delay."""
    texts = (
        text for one in asked_changes(request) for text in (one.old_text, one.new_text, one.patch)
    )
    return sum(text.count("\n") for text in texts if text) <= QUICK_LINES_MAX


def change_lines(
    diff: FileDiff, look: Look, chat: Chat, limit: int
) -> tuple[list[Strip], int, int]:
    """What would change in one file, where that begins, and how many lines are left out."""
    change = _begun(change_of(diff))
    lines, _, left_out = diff_lines(change, look, limit, parts_max=ROWS_MAX)
    head = summary_line(change, look, chat.folder)
    kinds = [line.kind for line in change.lines]
    first = next((at for at, kind in enumerate(kinds) if kind in ("added", "removed")), -1)
    more = [more_line(left_out, look)] if left_out else []
    return [head, *lines, *more], first + 1, left_out


def _begun(change: FileChange) -> FileChange:
    """The change with one line before it: what is asked about comes before what is around it."""
    lines = change.lines
    first = next((at for at, line in enumerate(lines) if line.kind in ("added", "removed")), 0)
    begin = max(first - 1, 0)
    told = tuple(line for line in lines[:begin] if line.kind != "same")
    return replace(change, lines=told + lines[begin:])
