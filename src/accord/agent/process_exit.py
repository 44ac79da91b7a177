"""The end of an agent's process when a handler does not let it end.

A handler that shields itself, or sits in a thread, does not see that the client is gone.  Two
things may hang then: the serving itself, and, when that is over, the interpreter, which waits for
every thread that a handler has left behind.  What the handlers started goes with the process: see
`machine/processes/process_groups.py`.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Sequence
from time import monotonic


class Departure:
    """Bounds how long the process lives once its client is gone.

    Threads that were there before the serving began are the program's own, and are waited for.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = min(seconds, threading.TIMEOUT_MAX)
        self._before = frozenset(threading.enumerate())
        self._timer = threading.Timer(self._seconds, _leave, (0,))
        self._timer.daemon = True

    def begin(self) -> None:
        """The client is gone; whoever still works has so many seconds left."""
        self._timer.start()

    def serving_ended(self, code: int) -> None:
        """All handlers ended, or left a thread behind; `code` is how the program is to end.

        The program may go on.  Once it has ended too, such threads have so many seconds left.
        """
        self._timer.cancel()
        left = [
            thread
            for thread in threading.enumerate()
            if thread not in self._before and not thread.daemon
        ]
        if left:
            seeing_off = (left, self._seconds, code)
            threading.Thread(target=_see_off, args=seeing_off, daemon=True).start()


def _see_off(threads: Sequence[threading.Thread], seconds: float, code: int) -> None:
    threading.main_thread().join()
    deadline = monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - monotonic()))
    if any(thread.is_alive() for thread in threads):
        # The interpreter keeps what it could not catch; that ends a program with 1.
        _leave(code or int(getattr(sys, "last_value", None) is not None))


def exit_code(error: BaseException) -> int:
    """With what a program ends that raises this: as `sys.exit` says, else with 1."""
    code = error.code if isinstance(error, SystemExit) else 1
    return code if isinstance(code, int) else int(code is not None)


def _leave(code: int) -> None:
    try:
        # A process that has not loaded this has started nothing.
        descendants = sys.modules.get("accord.machine.processes.descendants")
        if descendants is not None:
            descendants.kill_descendants()
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.write("accord: the client is gone and a handler does not stop; leaving\n")
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
    finally:
        os._exit(code)


__all__ = ["Departure", "exit_code"]
