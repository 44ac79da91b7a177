"""Event loops whose clock runs only while they wait.

Tests give what they test bounds of a tenth of a second.  On a busy machine a process may not be
scheduled for longer than that, and then such a bound is over before the other side of the test,
which is ready and runs in the same loop, had its turn.  Here a bound is over only when nothing else
was ready for so long.  Time that other processes and threads take is real, and programs that tests
start have clocks of their own.
"""

from __future__ import annotations

import asyncio
import math
import selectors
import time
from collections.abc import Mapping
from typing import Any

import trio
from anyio import pytest_plugin


class IdleSelector(selectors.BaseSelector):
    """Counts the seconds that somebody waited, at most as many as were asked for."""

    def __init__(self) -> None:
        self._inner = selectors.DefaultSelector()
        self.seconds = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout <= 0:
            return self._inner.select(timeout)
        before = time.monotonic()
        events = self._inner.select(timeout)
        waited = time.monotonic() - before
        # A wait to its end counts whole: systems round it.
        self.seconds += timeout if timeout and (not events or waited > timeout) else waited
        return events

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._inner.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._inner.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._inner.modify(fileobj, events, data)

    def close(self) -> None:
        self._inner.close()

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._inner.get_map()


class IdleLoop(asyncio.SelectorEventLoop):
    """asyncio's loop."""

    def __init__(self) -> None:
        self._idle = IdleSelector()
        self._began = time.monotonic()
        super().__init__(self._idle)

    def time(self) -> float:
        """The time at which the loop was made, and what it has waited since."""
        return self._began + self._idle.seconds


class IdleClock(trio.abc.Clock, trio.abc.Instrument):
    """trio's clock, which is told when its loop waits."""

    def __init__(self) -> None:
        self._now = self._before = time.monotonic()

    def start_clock(self) -> None:
        """It runs with the first wait."""

    def current_time(self) -> float:
        """The time at which the loop was made, and what it has waited since."""
        return self._now

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """How long to wait at most."""
        return deadline - self._now

    def before_io_wait(self, timeout: float) -> None:
        """A wait begins."""
        self._before = time.monotonic()

    def after_io_wait(self, timeout: float) -> None:
        """A wait has ended."""
        if timeout > 0:
            waited = time.monotonic() - self._before
            self._now += waited if math.isinf(timeout) else min(waited, timeout)


def use_idle_clocks() -> None:
    """Run all asynchronous tests of this process on such loops."""
    extract = pytest_plugin.extract_backend_and_options

    def with_idle_clock(backend: object) -> tuple[str, dict[str, Any]]:
        name, options = extract(backend)
        if name == "trio":
            clock = IdleClock()
            return name, {"clock": clock, "instruments": [clock], **options}
        return name, {"loop_factory": IdleLoop, **options}

    pytest_plugin.extract_backend_and_options = with_idle_clock


__all__ = ["IdleClock", "IdleLoop", "use_idle_clocks"]
