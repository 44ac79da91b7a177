"""What the log says of bad frames: little, for noise comes in storms."""

import logging

from accord.connection.limits import NOISE_BYTES_SHOWN
from accord.jsonrpc.codes import PARSE_ERROR
from accord.jsonrpc.events import FrameRejected

_log = logging.getLogger("accord.connection")

# A line per tenfold tells as much as a line per line.
_COUNTS_TOLD = frozenset({0, 1, 10, 100, 1_000, 10_000, 100_000})


def report(event: FrameRejected, frame: bytes, hint: str = "") -> None:
    """Log a frame that was rejected, or leave it to the next that is logged.

    The hint is for people, about frames that are no JSON at all.
    """
    if event.count in _COUNTS_TOLD:
        count = f" ({event.count} in a row)" if event.count > 1 else ""
        seen = frame[:NOISE_BYTES_SHOWN].decode("utf-8", "replace")
        told = hint if event.code == PARSE_ERROR else ""
        _log.warning("bad frame%s: %s: %r%s", count, event.reason, seen, told)


__all__ = ["report"]
