"""What the peer did against the rules and we live with: logged once per kind, never in a storm.

Must not know: what is tolerated, or why.  In strict mode nothing is; that is for the connection.
"""

import logging
import re

from accord.machine.logs import logger

_log = logger("accord.connection")

# A peer that finds ever new mistakes is not worth more lines than these.
KINDS_MAX = 100
_NUMBERS = re.compile(r"\d+")


class Tolerated:
    """Guards: a kind is logged once, and kinds are bounded."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()

    def tell(self, text: str, *, kind: str | None = None, level: int = logging.INFO) -> None:
        """Log it, unless its kind was logged before; numbers do not make another kind."""
        self._tell(f"tolerated: {text}", text if kind is None else kind, level)

    def warn(self, text: str, *, kind: str) -> None:
        """The same for what was not tolerated, and was answered with an error."""
        self._tell(text, kind, logging.WARNING)

    def _tell(self, text: str, kind: str, level: int) -> None:
        kind = _NUMBERS.sub("0", kind)
        if kind in self._kinds or len(self._kinds) > KINDS_MAX:
            return
        self._kinds.add(kind)
        if len(self._kinds) > KINDS_MAX:
            _log.log(level, "more than %d kinds of mistakes are not told", KINDS_MAX)
        else:
            _log.log(level, "%s", text)


__all__ = ["KINDS_MAX", "Tolerated"]
