"""Whether the terminal is still there.

This module does not know the app.  A terminal that goes tells it by a signal only to those whose
own it is; a program that a script or another program has put into it hears nothing, and would read
forever from what is not there anymore.
"""

from __future__ import annotations

import asyncio
import select
import sys
from collections.abc import Callable


def when_gone(terminal: int, act: Callable[[], None]) -> None:
    """Call `act` once when the terminal behind a descriptor has gone; only Linux can tell."""
    if sys.platform != "linux":
        return
    loop = asyncio.get_running_loop()
    waiting = select.epoll()
    try:
        # Nothing but what is always told: that the other end is gone.
        waiting.register(terminal, 0)
    except OSError:
        # No terminal, but a file.
        waiting.close()
        return

    def gone() -> None:
        loop.remove_reader(waiting.fileno())
        waiting.close()
        act()

    loop.add_reader(waiting.fileno(), gone)


__all__ = ["when_gone"]
