"""Notice that the terminal was closed.

This module does not know the app.  SIGHUP reaches only processes whose controlling terminal it is.
A program that was started inside a terminal by another program gets no signal and would read from
a closed terminal forever.
"""

from __future__ import annotations

import asyncio
import select
import sys
from collections.abc import Callable


def when_gone(terminal: int, act: Callable[[], None]) -> None:
    """Call `act` once when the terminal behind a descriptor is closed.  Works on Linux only."""
    if sys.platform != "linux":
        return
    loop = asyncio.get_running_loop()
    waiting = select.epoll()
    try:
        # No events: a hangup is always reported.
        waiting.register(terminal, 0)
    except OSError:
        # It is a file, not a terminal.
        waiting.close()
        return

    def gone() -> None:
        loop.remove_reader(waiting.fileno())
        waiting.close()
        act()

    loop.add_reader(waiting.fileno(), gone)
