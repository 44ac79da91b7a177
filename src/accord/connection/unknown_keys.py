"""Reading what a peer sends, with a word to the log about keys that nobody knows.

The native decoder passes over them, which is what makes it quick; so they are looked for in a
second reading, and only where somebody reads the log at that level.
"""

import logging
from typing import TypeVar

from accord.machine.logs import logger
from accord.schema.codec import Decoding, Invalid, Report, decode, ignore
from accord.schema.struct import Raw

T = TypeVar("T")

# Where `Connection.tolerate` writes.
_log = logger("accord.connection")


class Noting(Decoding):
    """A `Decoding` whose report hears of unknown keys too, but not of those in a `shared` type.

    The first message may carry the keys of two versions side by side, which breaks no rule.  What
    is read by `reading`, since it comes very often, is not looked through for them either.
    """

    def __init__(
        self, *, strict: bool = False, report: Report = ignore, shared: type | None = None
    ) -> None:
        super().__init__(strict=strict, report=report)
        self._shared = shared

    def __call__(self, wanted: type[T], raw: bytes | Raw) -> T:
        """Read `raw` as `wanted`; raises as `decode` does."""
        value = super().__call__(wanted, raw)
        if not self._strict and wanted is not self._shared and _log.isEnabledFor(logging.INFO):
            self._look_for_unknown_keys(wanted, raw)
        return value

    def _look_for_unknown_keys(self, wanted: type[T], raw: bytes | Raw) -> None:
        try:
            decode(wanted, raw, strict=True)
        except Invalid as error:
            # Everything else was tolerated by the first reading, which has reported it.
            if error.reason == "unknown key":
                self._report(f"{getattr(wanted, '__name__', 'message')}: {error}")


__all__ = ["Noting"]
