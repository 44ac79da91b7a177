"""When to retry a rate-limited request.

Pure: takes an error and returns how long to wait.  Must not know: tasks, clocks, or any message.
"""

from collections.abc import Callable
from dataclasses import dataclass

from accord.errors import RateLimited

# The first wait and the longest one, where the agent does not say how long to wait.
RETRY_SECONDS_FIRST = 1.0
RETRY_SECONDS_MAX = 60.0


@dataclass(frozen=True, slots=True)
class Retry:
    """Retry until all waits together have taken `seconds`.

    `tell` is called before each wait, with the error and the seconds of the wait.
    """

    seconds: float
    tell: Callable[[RateLimited, float], None] | None = None


class RetrySchedule:
    """The retries of one request.  Guards: never more, or longer, than allowed."""

    __slots__ = ("_left", "_retry", "_seconds", "_tries")

    def __init__(self, retry: int | Retry) -> None:
        self._retry = retry if isinstance(retry, Retry) else None
        self._tries = 0 if isinstance(retry, Retry) else retry
        self._left = retry.seconds if isinstance(retry, Retry) else 0.0
        self._seconds = RETRY_SECONDS_FIRST

    def seconds_after(self, error: Exception) -> float | None:
        """Seconds to wait before the next try; None when there is no next try."""
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
        """The agent's own wait is a minimum; if it is too long for us, do not retry."""
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
    """A prompt that waits to be sent again; `inserted` if the agent has accepted the first one."""

    seconds: float
    inserted: bool
