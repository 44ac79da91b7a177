"""The end of a process of ours that a signal asked to leave.

The steps of an orderly end have bounds of their own (a turn is cancelled, a session closed, a
program asked to go), and their sum is longer than a container runtime waits.  So there is one
deadline for all of them together: descendants that still run get SIGTERM, then SIGKILL, which ends
every wait for them, and at last the process leaves, whatever it is doing.

It must not know commands, agents or event loops.  Only a program that owns its process uses it:
the commands of `accord` do, the library does not.

Always holds
    * Nothing happens here before `begin`.
    * After `begin` the process is gone within `EXIT_AFTER_SECONDS`, and its descendants with it.
    * A second SIGINT or SIGTERM kills the descendants at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType

from accord.machine.processes import descendants

TERMINATE_AFTER_SECONDS = 3.0
"""When descendants that are left get SIGTERM, counted from the first signal."""

KILL_AFTER_SECONDS = 4.5
"""When those that are left get SIGKILL."""

EXIT_AFTER_SECONDS = 7.0
"""When the process leaves in any case; a container runtime kills it after 10."""

LAST_LOOK_SECONDS = 0.5
"""How long the process looks at that moment for what it has to kill."""

SECOND_SIGNAL_SECONDS = 1.0
"""How long the process may take to write its last output after a second signal."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What asks us to leave."""

REPEATABLE = (signal.SIGINT, signal.SIGTERM)
"""Those that mean "at once" when they come again; a closed terminal sends SIGHUP twice."""

SIGNAL_CODE = 128
"""What a shell adds to the number of the signal that ended a program."""


class _Shutdown:
    """The deadline of this process.  Guards: it is set once, and only ever comes nearer."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.owns_process = False
        self.number: int | None = None
        # SIGTERM or SIGHUP, where the handler of this module took it.
        self.caught: int | None = None
        self.began = 0.0
        self.is_urgent = False
        self.wakeup = threading.Event()
        self.wakeup_pipe: tuple[int, int] | None = None

    def begin(self, number: int) -> None:
        with self.lock:
            if not self.owns_process or (self.number is not None and number not in REPEATABLE):
                return
            first = self.number is None
            if first:
                self.number, self.began = number, time.monotonic()
            self.is_urgent = self.is_urgent or not first
            self.wakeup.set()
        if first:
            threading.Thread(target=self.watch, name="accord shutdown", daemon=True).start()

    def watch(self) -> None:
        """Take the steps, each at its time."""
        for seconds, step in (
            (TERMINATE_AFTER_SECONDS, descendants.terminate_descendants),
            (KILL_AFTER_SECONDS, descendants.kill_descendants),
            (EXIT_AFTER_SECONDS, self.leave),
        ):
            self.wait_until(self.began + seconds)
            if self.is_urgent:
                break
            step()
        descendants.kill_descendants()
        time.sleep(SECOND_SIGNAL_SECONDS)
        self.leave()

    def wait_until(self, deadline: float) -> None:
        """Return at this time, or when there is no time left."""
        while not self.is_urgent:
            left = deadline - time.monotonic()
            if left <= 0:
                return
            self.wakeup.clear()
            if not self.is_urgent:
                self.wakeup.wait(left)

    def leave(self) -> None:
        """Kill what is left and end this process, whatever its other threads do."""
        try:
            descendants.end_descendants(terminate_seconds=0.0, kill_seconds=LAST_LOOK_SECONDS)
            sys.stderr.write("accord: a part did not stop in time and was abandoned\n")
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):
            # No thread listens.
            pass
        finally:
            os._exit(SIGNAL_CODE + (self.number or signal.SIGTERM))

    def listen(self) -> None:
        """Begin at a signal even where the main thread is busy with something that hangs."""
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        self.wakeup_pipe = (reading, writing)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        threading.Thread(target=self.watch_wakeups, args=(reading,), daemon=True).start()

    def watch_wakeups(self, reading: int) -> None:
        while data := os.read(reading, 64):
            for number in data:
                if number in SIGNALS:
                    self.begin(number)


_shutdown = _Shutdown()


def own_process(*, in_thread: bool = True) -> None:
    """Take charge of the end of this process: SIGTERM and SIGHUP end it as Ctrl-C does.

    Without `in_thread` no thread is started, and the caller has to call `begin` itself.  A signal
    that our parent ignored stays ignored.
    """
    _shutdown.owns_process = True
    descendants.adopt_orphans_later()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _interrupt)
    if in_thread:
        _shutdown.listen()


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C does at this moment; how that is done depends on the event loop."""
    _shutdown.caught = number
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        handler(signal.SIGINT, frame)
    else:
        raise KeyboardInterrupt


def begin(number: int) -> None:
    """A signal asked this process to leave; from now on its time is limited.

    Does nothing in a process that is not ours (`own_process`).
    """
    _shutdown.begin(number)


def end_by_signal() -> None:
    """End this process by the signal that our handler caught, if it caught one."""
    number = _shutdown.caught
    if number is None:
        return
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            # Nobody reads it any more.
            pass
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def handled_signals() -> tuple[signal.Signals, ...]:
    """The signals to listen to; SIGHUP is not one of them under `nohup`."""
    ignored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    return tuple(one for one in SIGNALS if one != signal.SIGHUP or not ignored)


def finish() -> None:
    """The work is done: end every descendant that is left."""
    if _shutdown.owns_process:
        descendants.end_descendants()
