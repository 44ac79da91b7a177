"""What the log says of bad frames: little, for noise comes in storms."""

import logging

from accord.jsonrpc.events import FrameRejected

_log = logging.getLogger("accord.connection")

# A line per tenfold tells as much as a line per line.
_COUNTS_TOLD = frozenset({0, 1, 10, 100, 1_000, 10_000, 100_000})


def report(event: FrameRejected) -> None:
    """Log a frame that was rejected, or leave it to the next that is logged."""
    if event.count in _COUNTS_TOLD:
        count = f" ({event.count} in a row)" if event.count > 1 else ""
        _log.warning("bad frame%s: %s", count, event.reason)


__all__ = ["report"]
