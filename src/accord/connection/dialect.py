"""What a dialect does differently from JSON-RPC as ACP has it: its error numbers, and whether a
request can be taken back.

Must not know: any dialect.  A connection without manners is an official one.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

# (method, code, data) -> (code, data).
ErrorWords = Callable[[str, int, Any], tuple[int, Any]]


class Manners(NamedTuple):
    """How one peer wants to be spoken to; inside everything has official numbers."""

    error_out: ErrorWords
    error_in: ErrorWords
    # Whether the peer knows `$/cancel_request`: else none is sent, and one that comes is dropped.
    withdraws: bool = False


__all__ = ["ErrorWords", "Manners"]
