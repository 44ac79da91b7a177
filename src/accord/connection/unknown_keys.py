"""Decodes the peer's messages and reports keys that the schema does not know.

The native decoder skips unknown keys, which makes it fast.  They are looked for in a second pass,
and only if the log is read at that level.
"""

import logging
from typing import TypeVar

from accord.machine.logs import logger
from accord.schema.codec import Decoding, Invalid, Report, decode, ignore
from accord.schema.struct import Raw

T = TypeVar("T")

# `Connection.tolerate` writes to this log.
_log = logger("accord.connection")


class MessageDecoder:
    """Decodes with a fixed strictness and reports tolerated deviations, unknown keys among them.

    Unknown keys of a `shared` type are not reported: the first message may carry the keys of two
    versions side by side, which breaks no rule.
    """

    def __init__(
        self, *, strict: bool = False, report: Report = ignore, shared: type | None = None
    ) -> None:
        self._decoding = Decoding(strict=strict, report=report)
        self._strict = strict
        self._report = report
        self._shared = shared
        # For messages that arrive very often; unknown keys in them are not reported.
        self.reading = self._decoding.reading

    def __call__(self, wanted: type[T], raw: bytes | Raw) -> T:
        """Decode `raw` as `wanted`; raises as `decode` does."""
        value = self._decoding(wanted, raw)
        if not self._strict and wanted is not self._shared and _log.isEnabledFor(logging.INFO):
            self._report_unknown_keys(wanted, raw)
        return value

    def _report_unknown_keys(self, wanted: type[T], raw: bytes | Raw) -> None:
        try:
            decode(wanted, raw, strict=True)
        except Invalid as error:
            # The first pass has reported every other deviation.
            if error.reason == "unknown key":
                self._report(f"{getattr(wanted, '__name__', 'message')}: {error}")


__all__ = ["MessageDecoder"]
