"""The file changes that a permission request would make.

This module does not know any screen.

Invariant: only a regular file is read, and no more of it than `READ_BYTES_MAX`; where that
cannot be, all of the new text is shown as added.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from accord.client.permissions.request import PermissionRequest
from accord.transcript.items.tool_call import FileDiff

READ_BYTES_MAX = 4 * 1024 * 1024


def asked_changes(request: PermissionRequest) -> Sequence[FileDiff]:
    """Return the diffs of the request, or the diff of a write with the current file."""
    if request.tool_call is not None:
        return request.tool_call.diffs
    if request.new_text is None or not request.paths:
        return ()
    path = request.paths[0]
    return (FileDiff(path, old_text=_read(path), new_text=request.new_text),)


def _read(path: str) -> str | None:
    try:
        # Never blocks, whatever kind of file it is.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            data = file.read(READ_BYTES_MAX + 1)
        return None if len(data) > READ_BYTES_MAX else data.decode("utf-8")
    except (OSError, ValueError):
        return None
