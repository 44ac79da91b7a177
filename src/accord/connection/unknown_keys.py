"""Decodes the peer's messages and reports keys that the schema does not know.

They are looked for only if the log is read at the level at which they are logged.
"""

import logging
from functools import partial

from accord.machine.redacted_logs import logger
from accord.schema.codec import Decoding, Report, ignore

# `Connection.tolerate` writes to this log.
_log = logger("accord.connection")


def message_decoder(
    *, strict: bool = False, report: Report = ignore, shared: type | None = None
) -> Decoding:
    """Return a decoder that reports tolerated deviations, unknown keys among them.

    Unknown keys of a `shared` type are not reported: the first message may carry the keys of two
    versions side by side, which breaks no rule.
    """
    return Decoding(
        strict=strict,
        report=report,
        wants_unknown=partial(_log.isEnabledFor, logging.INFO),
        shared=shared,
    )
