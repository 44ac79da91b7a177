"""When an app on a stage has done all that it had to do.

Textual asks how busy the processor is, and so waits at least 40 ms for each key, and on a busy
machine takes an app that was not let run for one that is done.  This asks the event loop instead.
This module does not know the app.
"""

from __future__ import annotations

import asyncio
from typing import Any

from anyio import to_thread

SOON = 0.02
"""What is due within so many seconds is waited for: a screen is drawn 60 times a second."""
QUIET_ROUNDS = 3
"""The loop goes round so often without anything to do: what came by a pipe is heard by then."""
THREAD_SECONDS = 0.001


async def wait_for_idle(min_sleep: float = 0, max_sleep: float = 1) -> None:
    """Wait until nothing is to be done now or soon, and no thread works; in place of Textual's."""
    loop: Any = asyncio.get_running_loop()
    end = loop.time() + max_sleep
    quiet = 0
    while quiet < QUIET_ROUNDS and loop.time() < end:
        await asyncio.sleep(0)
        if loop._ready:
            quiet = 0
        elif to_thread.current_default_thread_limiter().borrowed_tokens:
            quiet = 0
            await asyncio.sleep(THREAD_SECONDS)
        elif (seconds := _seconds_to_next(loop)) < SOON:
            quiet = 0
            await asyncio.sleep(seconds)
        else:
            quiet += 1


def _seconds_to_next(loop: Any) -> float:
    """How long until something is due."""
    due = [float(timer.when()) for timer in loop._scheduled if not timer.cancelled()]
    left: float = min(due, default=float("inf")) - loop.time()
    return max(left, 0.0)


__all__ = ["wait_for_idle"]
