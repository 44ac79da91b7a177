"""An event loop whose clock and whose order of steps come from a seed.

It must not know what runs on it.

What always holds
    * Two runs with one seed make the same steps in the same order, in any process.
    * Time passes only between steps: a little with each, and in a leap when nothing is ready.
    * A task that can go on goes on after a bounded number of rounds, as on any event loop; plain
      callbacks keep their order among themselves, which asyncio promises.
    * A world that can go nowhere, or goes on for ever, is an error and no hang.
"""

import asyncio
import heapq
from collections.abc import Callable
from random import Random
from typing import Any, Literal

Policy = Literal["fifo", "shuffled", "reversed", "hesitant"]
POLICIES: tuple[Policy, ...] = ("fifo", "shuffled", "shuffled", "reversed", "hesitant")

# A world that makes more steps than this, or lasts longer, does not end.
STEPS_MAX = 400_000
SECONDS_MAX = 7200.0
# So many rounds a task that can go on may be passed over.
PASSED_OVER_MAX = 6


class Stuck(Exception):
    """Nothing can happen any more, or never stops happening."""


class NumberedTask(asyncio.Task[Any]):
    """A task whose place in a set does not depend on its address."""

    made = 0

    def __init__(self, *args: Any, **more: Any) -> None:
        NumberedTask.made += 1
        self.number = NumberedTask.made
        self.passed_over = 0
        super().__init__(*args, **more)

    def __hash__(self) -> int:
        return self.number


class Readiness:
    """What the loop asks for descriptors that are ready; `simulated_pipes.py` has one."""

    def ready(self, readers: dict[int, Any], writers: dict[int, Any], now: float) -> list[Any]:
        """The handles of watched descriptors that are ready now."""
        return []

    def next_at(self, readers: dict[int, Any], writers: dict[int, Any]) -> float | None:
        """When the next of them is, if the time is known."""
        return None


class SeededLoop(asyncio.BaseEventLoop):
    """One world's loop."""

    def __init__(self, random: Random, policy: Policy) -> None:
        super().__init__()
        self._random = random
        self._policy = policy
        self._now = 1000.0
        self._step_seconds = random.choice((1e-6, 2e-5, 2e-4))
        self._readers: dict[int, asyncio.Handle] = {}
        self._writers: dict[int, asyncio.Handle] = {}
        self.readiness = Readiness()
        self.steps = 0
        # Told after every round of steps: what must hold all along is checked there.
        self.on_round: Callable[[], None] | None = None
        self.failures: list[str] = []
        # A world that is over is only cleaned up: no checks, no limits.
        self.over = False
        NumberedTask.made = 0
        self.set_task_factory(_numbered)
        self.set_exception_handler(self._failed)

    # ---- time

    def time(self) -> float:
        """Virtual seconds."""
        return self._now

    # ---- descriptors

    def add_reader(self, fd: Any, callback: Any, *args: Any) -> None:  # type: ignore[override]
        """Call back while it can be read."""
        self.remove_reader(fd)
        self._readers[fd] = asyncio.Handle(callback, args, self)

    def remove_reader(self, fd: Any) -> bool:
        """No more."""
        return _dropped(self._readers.pop(fd, None))

    def add_writer(self, fd: Any, callback: Any, *args: Any) -> None:  # type: ignore[override]
        """Call back while it can be written."""
        self.remove_writer(fd)
        self._writers[fd] = asyncio.Handle(callback, args, self)

    def remove_writer(self, fd: Any) -> bool:
        """No more."""
        return _dropped(self._writers.pop(fd, None))

    def watched(self) -> list[int]:
        """All descriptors that somebody watches."""
        return [*self._readers, *self._writers]

    def timers(self) -> list[asyncio.TimerHandle]:
        """Those that are still to ring."""
        return [timer for timer in self._timer_heap if not timer.cancelled()]

    @property
    def _timer_heap(self) -> list[asyncio.TimerHandle]:
        heap: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        return heap

    # ---- the loop

    def _process_events(self, event_list: object) -> None:
        """There is no selector."""

    def _write_to_self(self) -> None:
        """Nobody calls from another thread."""

    def _run_once(self) -> None:
        ready = self._ready  # type: ignore[attr-defined]
        if not ready:
            self._leap()
        self._ring()
        for handle in self.readiness.ready(self._readers, self._writers, self._now):
            ready.append(handle)
        batch = [handle for handle in ready if not handle.cancelled()]
        ready.clear()
        for handle in self._ordered(batch, ready):
            if not handle.cancelled():
                self._now += self._step_seconds
                self.steps += 1
                handle._run()
        if not self.over:
            if self.steps > STEPS_MAX or self._now > SECONDS_MAX:
                raise Stuck(f"no end after {self.steps} steps and {self._now - 1000:g} s")
            if self.on_round is not None:
                self.on_round()

    def _leap(self) -> None:
        """Nothing is ready: the clock goes on to the next thing that will be."""
        heap = self._timer_heap
        while heap and heap[0].cancelled():
            heapq.heappop(heap)._scheduled = False  # type: ignore[attr-defined]
        moments = [heap[0].when()] if heap else []
        soon = self.readiness.next_at(self._readers, self._writers)
        if soon is not None:
            moments.append(soon)
        if not moments:
            raise Stuck("nothing is ready and no timer runs")
        self._now = max(self._now, min(moments))

    def _ring(self) -> None:
        heap = self._timer_heap
        while heap and (heap[0].cancelled() or heap[0].when() <= self._now):
            timer = heapq.heappop(heap)
            timer._scheduled = False  # type: ignore[attr-defined]
            if not timer.cancelled():
                self._ready.append(timer)  # type: ignore[attr-defined]

    def _ordered(self, batch: list[Any], ready: Any) -> list[Any]:
        """The steps of one round in the order of the seed; some tasks may have to wait."""
        if self._policy == "fifo" or self.over:
            return batch
        tasks: list[tuple[int, Any, NumberedTask]] = []
        plain: list[Any] = []
        for handle in batch:
            owner = getattr(handle._callback, "__self__", None)
            if isinstance(owner, NumberedTask):
                tasks.append((owner.number, handle, owner))
            else:
                plain.append(handle)
        # From an order that owes nothing to addresses, whatever set they came out of.
        tasks.sort(key=_by_number)
        if self._policy == "reversed":
            tasks.reverse()
        else:
            self._random.shuffle(tasks)
        chosen: list[Any] = []
        for _, handle, task in tasks:
            if self._policy == "hesitant" and self._passes_over(task):
                ready.append(handle)
            else:
                chosen.append(handle)
        return _merged(self._random, chosen, plain)

    def _passes_over(self, task: NumberedTask) -> bool:
        if task.passed_over < PASSED_OVER_MAX and self._random.random() < 0.4:
            task.passed_over += 1
            return True
        task.passed_over = 0
        return False

    # ---- what goes wrong

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not self.over:
            error = context.get("exception")
            self.failures.append(f"{context.get('message')}: {error!r}")


def _dropped(handle: asyncio.Handle | None) -> bool:
    """What was about to be called is not called any more, as on any event loop."""
    if handle is not None:
        handle.cancel()
    return handle is not None


def _numbered(loop: asyncio.AbstractEventLoop, coro: Any, **more: Any) -> NumberedTask:
    return NumberedTask(coro, loop=loop, **more)


def _by_number(entry: tuple[int, Any, NumberedTask]) -> int:
    return entry[0]


def _merged(random: Random, one: list[Any], other: list[Any]) -> list[Any]:
    """Both lists as one, each in its own order."""
    if not one or not other:
        return one or other
    merged: list[Any] = []
    at = there = 0
    while at < len(one) or there < len(other):
        left, right = len(one) - at, len(other) - there
        if random.random() * (left + right) < left:
            merged.append(one[at])
            at += 1
        else:
            merged.append(other[there])
            there += 1
    return merged
