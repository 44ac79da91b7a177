"""The one time limit of tests.  It is there to find what hangs, and judges no speed.

A step of a test takes a second or two.  On two cores that twenty processes want it takes ten times
as long, and now and then much longer; only something that hangs reaches the limit.  The limit of a
whole test (`timeout` in pyproject.toml) is larger, so that the step that hangs is named.
"""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

HANG_SECONDS = 300.0


class Patience:
    """How much is left of a time, for loops that wait."""

    def __init__(self, seconds: float = HANG_SECONDS) -> None:
        self._until = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds, at least 0."""
        return max(0.0, self._until - time.monotonic())


@contextmanager
def cpu_seconds_max(seconds: int) -> Iterator[None]:
    """Fail when the block computes for longer, however long it waits for a busy machine.

    For inputs that take no time, unless somebody reads them again and again.
    """

    def fail(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"it computed for more than {seconds} s")

    before = signal.signal(signal.SIGPROF, fail)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


__all__ = ["HANG_SECONDS", "Patience", "cpu_seconds_max"]
