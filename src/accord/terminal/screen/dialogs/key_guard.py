"""A guard against keys that were meant for something else.

Invariant: while it is up, no key answers a question.
"""

from __future__ import annotations

from collections.abc import Callable

GUARD_SECONDS = 0.5
"""How long a question must have been on the screen before a key can answer it."""


class Guard:
    """A guard that stays up for a short time, by the clock of the chat."""

    def __init__(self, clock: Callable[[], float], seconds: float = GUARD_SECONDS) -> None:
        self._clock = clock
        self._until = clock() + seconds

    @property
    def is_up(self) -> bool:
        """Whether it is too early to answer."""
        return self._clock() < self._until
