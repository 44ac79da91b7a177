"""Where a line is open on a terminal, in a file or in a pipe that several writers share.

Standard output and standard error mostly lead to the same place, and on standard error our own
sentences stand between what an agent prints.  Every writer asks here first.

What always holds: a writer never continues the line of another writer; nothing else is added.
"""

from __future__ import annotations

import os
import re
from typing import Final

_CLEARED: Final = re.compile(r"(\x1b\[K|\r)+$")
_STYLES_AT_THE_END: Final = re.compile(r"(\x1b\[[0-9;]*m)+$")

Place = tuple[int, int] | str


class LineEnds:
    """The open lines of one process, and whose they are."""

    def __init__(self) -> None:
        self._open: dict[Place, object] = {}

    def before(self, descriptor: int, writer: object, text: str = "") -> str:
        """What to write before this text: the end of another writer's line, or nothing."""
        owner = self._open.get(_place(descriptor), writer)
        return "" if owner is writer or text.startswith("\n") else "\n"

    def wrote(self, descriptor: int, writer: object, text: str | bytes) -> None:
        """Note what was written; its end is enough."""
        if not text:
            return
        end = text[-64:]
        shown = end.decode("latin-1") if isinstance(end, bytes) else end
        shown = _STYLES_AT_THE_END.sub("", shown)
        place = _place(descriptor)
        if shown.endswith("\n") or _CLEARED.search(shown):
            self._open.pop(place, None)
        elif shown:
            self._open[place] = writer

    def ended(self, descriptor: int) -> None:
        """Note that the line ended in another way: the user pressed Enter."""
        self._open.pop(_place(descriptor), None)

    def forget(self) -> None:
        """Forget all lines because their outputs were closed."""
        self._open.clear()

    def is_open(self, descriptor: int) -> bool:
        """Whether any writer has an open line there."""
        return _place(descriptor) in self._open


def _place(descriptor: int) -> Place:
    """Identify the output behind a descriptor; all terminals count as one."""
    try:
        if os.isatty(descriptor):
            return "terminal"
        found = os.fstat(descriptor)
    except (OSError, ValueError):
        return "nowhere"
    return found.st_dev, found.st_ino


LINE_ENDS: Final = LineEnds()
"""The open lines of this process."""
