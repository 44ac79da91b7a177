"""The end of an agent's process when a handler does not let it end.

A handler that shields itself, or sits in a thread, does not see that the client is gone.  What it
started goes with the process: see `machine/groups.py`.
"""

import os
import sys
import threading


class Departure:
    """Ends the process some seconds after `begin`, unless it was called off before."""

    def __init__(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, _leave)
        self._timer.daemon = True

    def begin(self) -> None:
        """The client is gone; whoever still works has so many seconds left."""
        self._timer.start()

    def call_off(self) -> None:
        """Everything ended by itself."""
        self._timer.cancel()


def _leave() -> None:
    try:
        sys.stderr.write("accord: the client is gone and a handler does not stop; leaving\n")
        sys.stderr.flush()
    finally:
        os._exit(0)


__all__ = ["Departure"]
