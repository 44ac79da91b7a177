"""Timers of a translator, by the clock of its driver."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import NamedTuple

from accord.translate.message import Out


class Timer(NamedTuple):
    """What to do at a time."""

    at: float
    number: int
    do: Callable[[], Sequence[Out]]


class Timers:
    """Timers in the order in which they are due.  What was cancelled never comes up."""

    def __init__(self) -> None:
        self._heap: list[Timer] = []
        self._live: set[int] = set()
        self._count = 0

    def start(self, at: float, do: Callable[[], Sequence[Out]]) -> int:
        """Have something done at a time; returns the number to cancel it by."""
        self._count += 1
        self._live.add(self._count)
        heapq.heappush(self._heap, Timer(at, self._count, do))
        return self._count

    def cancel(self, number: int | None) -> None:
        """Forget one; None, and one that was done already, is nothing to forget."""
        if number is not None:
            self._live.discard(number)
        self._drop_dead()

    def _drop_dead(self) -> None:
        while self._heap and self._heap[0].number not in self._live:
            heapq.heappop(self._heap)

    @property
    def next_at(self) -> float | None:
        """When the first of them is due."""
        return self._heap[0].at if self._heap else None

    def due(self, now: float) -> list[Out]:
        """Do everything that is due."""
        outs: list[Out] = []
        while self._heap and self._heap[0].at <= now:
            timer = heapq.heappop(self._heap)
            if timer.number in self._live:
                self._live.discard(timer.number)
                outs.extend(timer.do())
        self._drop_dead()
        return outs

    def clear(self) -> None:
        """Forget all of them."""
        self._heap.clear()
        self._live.clear()
