"""When a client that lost its connection tries again, when it gives up, and what it then says.

Pure.
"""

from typing import Final

from accord.transport.remote_limits import RemoteLimits

# Statuses after which another attempt makes sense.
RETRIED_STATUSES: Final = frozenset({408, 425, 429, 500, 502, 503, 504})

# The first attempt is made at once, and mostly succeeds before anybody notices.
NOTICED_ATTEMPT: Final = 2

# What a client is told whose connection cannot go on where it was cut: over HTTP and WebSocket.
GAP_REASON: Final = (
    "messages were lost while the connection was interrupted; open a new connection and continue"
    " the session with session/load"
)
GO_ON: Final = "Connect again and load the session to go on (session/load)."
LOST_MESSAGES: Final = f"messages were lost while it was cut.  {GO_ON}"


class Reconnection:
    """The first attempt is made at once, further ones after a growing delay."""

    def __init__(self, limits: RemoteLimits) -> None:
        self._limits = limits
        self._attempts = 0
        # When the connection was lost; None while there is one.
        self.lost_at: float | None = None
        self.reason = ""

    def delay(self, now: float, chance: float, reason: str) -> float | None:
        """Return the seconds until the next attempt, or None if the grace time is over.

        `chance` is a random number from 0 to 1.
        """
        self.reason = reason
        if self.lost_at is None:
            self.lost_at = now
        if self.is_over(now):
            return None
        self._attempts += 1
        if self._attempts == 1:
            return 0.0
        delay = reconnect_delay(self._attempts - 2, chance, self._limits)
        return min(delay, self.seconds_left(now))

    def notice(self, address: object) -> str | None:
        """Say that the connection is not back, once for each loss: with the second attempt."""
        if self._attempts != NOTICED_ATTEMPT:
            return None
        seconds = f"{self._limits.grace_seconds:g} s"
        return f"the connection to {address} is interrupted ({self.reason}); trying for {seconds}"

    def seconds_left(self, now: float) -> float:
        """Return how long the server still keeps the connection."""
        since = now if self.lost_at is None else self.lost_at
        return since + self._limits.grace_seconds - now

    def is_over(self, now: float) -> bool:
        """Whether the connection has been lost for longer than the server keeps it."""
        return self.lost_at is not None and now - self.lost_at >= self._limits.grace_seconds

    def restored(self) -> None:
        """Take notice that there is a connection again."""
        self.lost_at = None

    def progressed(self) -> None:
        """Take notice that the connection works: the next loss is a new one."""
        self._attempts = 0


def reconnect_delay(attempt: int, chance: float, limits: RemoteLimits) -> float:
    """Return the seconds before attempt 0, 1, 2 …; `chance` is a random number from 0 to 1.

    The delay doubles up to the limit.  Half of it is chance, so that clients that were cut off
    together do not all come back together.
    """
    least, most = limits.reconnect_seconds_min, limits.reconnect_seconds_max
    # Beyond this many doublings every delay is at its limit, and a float would overflow.
    whole: float = min(most, least * 2.0 ** min(attempt, 64))
    return whole * (0.5 + 0.5 * chance)


__all__ = [
    "GAP_REASON",
    "GO_ON",
    "LOST_MESSAGES",
    "RETRIED_STATUSES",
    "Reconnection",
    "reconnect_delay",
]
