"""Event loops whose clock hardly moves while there is something to do.

Tests give what they test bounds of a tenth of a second.  On a busy machine a process may not be
scheduled for longer than that, and then such a bound is over before the other side of the test,
which is ready and runs in the same loop, had its turn.  Here one round of the loop takes a
thousandth of a second at most, however long the machine took for it; a wait takes as long as it
does.  Time that other processes and threads take is real, and programs that tests start have clocks
of their own.
"""

import asyncio
import math
import selectors
import socket
import time
import weakref
from collections.abc import Mapping
from typing import Any

import trio
from anyio import pytest_plugin

ROUND_SECONDS_MAX = 0.001
LAST_ROUNDS = 3


class Stopwatch:
    """Told when a loop begins and ends to wait."""

    def __init__(self) -> None:
        self.now = self._last = time.monotonic()

    def begin_wait(self) -> None:
        """A round of the loop is done."""
        self.now += min(self._passed(), ROUND_SECONDS_MAX)

    def end_wait(self, seconds_max: float) -> None:
        """Something is ready, or the time to wait is over."""
        self.now += max(0.0, min(self._passed(), seconds_max))

    def _passed(self) -> float:
        before, self._last = self._last, time.monotonic()
        return self._last - before


class IdleSelector(selectors.BaseSelector):
    """The system's own, with a stopwatch."""

    def __init__(self, watch: Stopwatch) -> None:
        self._inner = selectors.DefaultSelector()
        self._watch = watch

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._watch.begin_wait()
        events = self._inner.select(timeout)
        self._watch.end_wait(math.inf if timeout is None else timeout)
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
    """asyncio's loop, which also closes connections that came in its last rounds.

    A task that was to take over an accepted connection may be cancelled before it begins, and a
    transport that is closed needs another round to close its socket.
    """

    def __init__(self) -> None:
        self._watch = Stopwatch()
        self._accepted: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        super().__init__(IdleSelector(self._watch))

    def close(self) -> None:
        """Finish what was begun, and close."""
        if not self.is_closed():
            for _ in range(LAST_ROUNDS):
                self.run_until_complete(asyncio.sleep(0))
            for one in self._accepted:
                one.close()
        super().close()

    def _accept_connection2(self, factory: Any, conn: socket.socket, *args: Any) -> Any:
        self._accepted.add(conn)
        return self._take_over(factory, conn, *args)

    def _sock_accept(self, future: asyncio.Future[Any], listener: socket.socket) -> None:
        # asyncio accepts for a wait that has just been cancelled, and loses the connection (CPython
        # issue 153761); anyio's listeners wait like this.
        if not future.done():
            super()._sock_accept(future, listener)  # type: ignore[misc]

    async def _take_over(self, factory: Any, conn: socket.socket, *args: Any) -> None:
        _, _, server, *_ = args
        if server is not None and not server.sockets:
            # It was closed meanwhile, and a transport can no longer belong to it.
            conn.close()
        else:
            await super()._accept_connection2(factory, conn, *args)  # type: ignore[misc]

    def time(self) -> float:
        """Seconds on the stopwatch."""
        return self._watch.now


class IdleClock(trio.abc.Clock, trio.abc.Instrument):
    """trio's clock, which is told when its loop waits."""

    def __init__(self) -> None:
        self._watch = Stopwatch()

    def start_clock(self) -> None:
        """It runs already."""

    def current_time(self) -> float:
        """Seconds on the stopwatch."""
        return self._watch.now

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """How long to wait at most."""
        return deadline - self._watch.now

    def before_io_wait(self, timeout: float) -> None:
        """A wait begins."""
        self._watch.begin_wait()

    def after_io_wait(self, timeout: float) -> None:
        """A wait has ended."""
        self._watch.end_wait(timeout)


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
