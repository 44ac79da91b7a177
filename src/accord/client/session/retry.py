"""How often or how long, and after what waits, a request is tried again on a rate limit.

Pure: told what failed, it says how long to wait.  Must not know: tasks, clocks, or any message.
"""

from collections.abc import Callable
from dataclasses import dataclass

from accord.errors import RateLimited

# Where the agent does not say how long to wait before the next try.
RETRY_SECONDS_FIRST = 1.0
RETRY_SECONDS_MAX = 60.0


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again until all waits together have taken so many seconds.

    `tell` is told of each wait, with the error and its seconds, before it begins.
    """

    seconds: float
    tell: Callable[[RateLimited, float], None] | None = None


class RetrySchedule:
    """Of one request.  Guards: it is tried again so often or for so long, and no more."""

    __slots__ = ("_left", "_retry", "_seconds", "_tries")

    def __init__(self, retry: int | Retry) -> None:
        self._retry = retry if isinstance(retry, Retry) else None
        self._tries = 0 if isinstance(retry, Retry) else retry
        self._left = retry.seconds if isinstance(retry, Retry) else 0.0
        self._seconds = RETRY_SECONDS_FIRST

    def seconds_after(self, error: Exception) -> float | None:
        """How long to wait before the next try; None when there is none."""
        if not isinstance(error, RateLimited):
            return None
        if self._retry is not None:
            return self._seconds_within(self._retry, error)
        if self._tries <= 0:
            return None
        self._tries -= 1
        wanted = self._seconds if error.retry_after is None else error.retry_after
        self._seconds *= 2
        return min(wanted, RETRY_SECONDS_MAX)

    def _seconds_within(self, retry: Retry, error: RateLimited) -> float | None:
        """The agent's own word is a minimum; where that is too long for us, it is no use to try."""
        asked = error.retry_after or 0.0
        if self._left <= 0 or asked > self._left:
            return None
        wait = min(max(asked, min(self._seconds, RETRY_SECONDS_MAX)), self._left)
        self._seconds *= 2
        self._left -= wait
        if retry.tell is not None:
            retry.tell(error, wait)
        return wait


@dataclass(frozen=True, slots=True)
class Repeat:
    """A prompt that waits to be sent once more; the one before may be part of the conversation."""

    seconds: float
    inserted: bool


__all__ = ["RETRY_SECONDS_FIRST", "RETRY_SECONDS_MAX", "Repeat", "Retry", "RetrySchedule"]
