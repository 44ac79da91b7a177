"""Tuning of the garbage collector: few collections, and none of long-lived objects.

A full collection of a long session takes a twentieth of a second, which is too long while the user
types.  A session consists of many small objects, and almost none of them is garbage.
"""

from __future__ import annotations

import gc

GARBAGE_THRESHOLDS = (10_000, 20, 20)


def look_seldom() -> None:
    """Collect less often.  Call this only in a process of our own."""
    gc.set_threshold(*GARBAGE_THRESHOLDS)


def keep_all() -> None:
    """Exclude all current objects from future collections."""
    gc.freeze()
