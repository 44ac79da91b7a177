"""How long a client waits before each attempt to reconnect.  Pure: the caller brings the chance."""

from accord.transport.remote_limits import RemoteLimits


def reconnect_delay(attempt: int, chance: float, limits: RemoteLimits) -> float:
    """Return the seconds before attempt 0, 1, 2 …; `chance` is a random number from 0 to 1.

    The delay doubles up to the limit.  Half of it is chance, so that clients that were cut off
    together do not all come back together.
    """
    least, most = limits.reconnect_seconds_min, limits.reconnect_seconds_max
    # Beyond this many doublings every delay is at its limit, and a float would overflow.
    whole: float = min(most, least * 2.0 ** min(attempt, 64))
    return whole * (0.5 + 0.5 * chance)


__all__ = ["reconnect_delay"]
