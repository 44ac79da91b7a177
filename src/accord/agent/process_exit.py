"""End an agent's process although a handler does not stop.

A handler that shields itself, or runs in a thread, does not notice that the client is gone.  Two
things can hang then: the serving itself and, after it, the interpreter, which waits for every
thread that a handler has started.  Processes that the handlers started are ended too: see
`machine/processes/process_groups.py`.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Sequence
from time import monotonic

INTERRUPTED = 130  # the exit code by which a shell reports an interrupt


class ProcessEnd:
    """Bounds how long the process lives once its client is gone.

    Threads that existed before the serving began are the program's own, and are waited for.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = min(seconds, threading.TIMEOUT_MAX)
        self._before = frozenset(threading.enumerate())
        self._timer = threading.Timer(self._seconds, _exit_now, (0,))
        self._timer.daemon = True

    def begin(self) -> None:
        """Start the countdown: the client is gone, and handlers have this many seconds left."""
        self._timer.start()

    def serving_ended(self, code: int) -> None:
        """Stop the countdown: all handlers have ended, some perhaps with threads still running.

        The program may go on.  When it ends, with `code`, such threads have this many seconds left.
        """
        self._timer.cancel()
        left = [
            thread
            for thread in threading.enumerate()
            if thread not in self._before and not thread.daemon
        ]
        if left:
            args = (left, self._seconds, code)
            threading.Thread(target=_end_after_threads, args=args, daemon=True).start()


def _end_after_threads(threads: Sequence[threading.Thread], seconds: float, code: int) -> None:
    threading.main_thread().join()
    deadline = monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - monotonic()))
    if any(thread.is_alive() for thread in threads):
        # The interpreter keeps an exception that nothing caught; it ends a program with 1.
        _exit_now(code or int(getattr(sys, "last_value", None) is not None))


def exit_code(error: BaseException) -> int:
    """The exit code of a program that raises this: what `sys.exit` was given, else 1."""
    code = error.code if isinstance(error, SystemExit) else 1
    return code if isinstance(code, int) else int(code is not None)


def _exit_now(code: int) -> None:
    try:
        # A process that has not loaded this has started no other process.
        descendants = sys.modules.get("accord.machine.processes.descendants")
        if descendants is not None:
            descendants.kill_descendants()
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.write("accord: the client is gone but a handler is still running; exiting\n")
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
    finally:
        os._exit(code)
