"""When the process looks for garbage: seldom, and never in what stays until its end.

A client that draws while somebody types must not stop for a twentieth of a second to look through
all that it has: a long session is a great many small things, none of which is garbage.
"""

from __future__ import annotations

import gc

GARBAGE_THRESHOLDS = (10_000, 20, 20)


def look_seldom() -> None:
    """For a process that is ours: look when there is likely to be something."""
    gc.set_threshold(*GARBAGE_THRESHOLDS)


def keep_all() -> None:
    """What is there now stays; it is not looked through again."""
    gc.freeze()


__all__ = ["keep_all", "look_seldom"]
