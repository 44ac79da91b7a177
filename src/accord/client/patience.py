"""How often, and after how long, a request is tried again when the agent says: too many.

Pure: told what failed, it says how long to wait.  Must not know: tasks, clocks, or any message.
"""

from dataclasses import dataclass

from accord.errors import RateLimited

# Where the agent does not say how long to wait before the next try.
RETRY_SECONDS_FIRST = 1.0
RETRY_SECONDS_MAX = 60.0


class Patience:
    """Of one request.  Guards: it is tried again so often, and no more."""

    __slots__ = ("_seconds", "_tries")

    def __init__(self, tries: int) -> None:
        self._tries = tries
        self._seconds = RETRY_SECONDS_FIRST

    def seconds_after(self, error: Exception) -> float | None:
        """How long to wait before the next try; None when there is none."""
        if not isinstance(error, RateLimited) or self._tries <= 0:
            return None
        self._tries -= 1
        wanted = self._seconds if error.retry_after is None else error.retry_after
        self._seconds *= 2
        return min(wanted, RETRY_SECONDS_MAX)


@dataclass(frozen=True, slots=True)
class Repeat:
    """A prompt that waits to be sent once more; the one before may be part of the conversation."""

    seconds: float
    inserted: bool


__all__ = ["RETRY_SECONDS_FIRST", "RETRY_SECONDS_MAX", "Patience", "Repeat"]
