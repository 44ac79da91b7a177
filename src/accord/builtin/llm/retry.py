"""How often a failed request is tried again, and how long we wait before.  Pure numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """Waits double from `first_seconds`, unless the server says how long."""

    tries: int = 5
    first_seconds: float = 2.0
    seconds_max: float = 60.0

    def wait(self, failures: int, asked: float | None) -> float | None:
        """How long to wait after so many failures; None is: not any more."""
        if failures >= self.tries:
            return None
        if asked is not None:
            # Who asks for more patience than we have is told of in the failure.
            return max(0.0, asked) if asked <= self.seconds_max else None
        seconds: float = self.first_seconds * 2 ** (failures - 1)
        return min(self.seconds_max, seconds)


__all__ = ["Patience"]
