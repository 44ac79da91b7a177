"""How a dialect of ACP differs from the official one on the JSON-RPC level.

Must not know: any particular dialect.  A connection without a `Dialect` speaks official ACP.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

# (method, code, data) -> (code, data).
ErrorMapping = Callable[[str, int, Any], tuple[int, Any]]


class Dialect(NamedTuple):
    """The error codes and the cancellation of one dialect; inside Accord all codes are official."""

    error_out: ErrorMapping
    error_in: ErrorMapping
    # Whether the peer knows `$/cancel_request`; if not, none is sent and incoming ones are dropped
    withdraws: bool = False
