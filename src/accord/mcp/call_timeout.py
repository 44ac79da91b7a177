"""How long a call is waited for: a bound that progress renews and a question suspends.

Must not know what is waited for.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager

import anyio


class Patience:
    """Of one call.  Guards: the scope ends when nothing was heard for so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._suspended = 0
        self.scope = anyio.CancelScope(deadline=anyio.current_time() + seconds)

    def renew(self) -> None:
        """Something was heard: the clock starts again."""
        if not self._suspended:
            self.scope.deadline = anyio.current_time() + self._seconds

    @contextmanager
    def suspended(self) -> Generator[None]:
        """While a person is asked, nobody is late."""
        self._suspended += 1
        self.scope.deadline = math.inf
        try:
            yield
        finally:
            self._suspended -= 1
            self.renew()


__all__ = ["Patience"]
