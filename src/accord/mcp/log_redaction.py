"""Keeps secrets out of the logs of the MCP SDK.

Must not know servers or protocols; it works on texts.

What always holds
    * Inside `redacting`, log records of the MCP package and its HTTP client contain no secret, and
      are logged at debug level only: important events have an error of ours.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from accord.machine.redacted_logs import logger
from accord.machine.redaction.redactor import Redactor

_SDK_LOGGERS = ("client", "httpcore2", "httpx2", "mcp", "mcp_types")

_log = logger("accord.mcp")


_current: ContextVar[Redactor | None] = ContextVar("redactor", default=None)


class _OurRecords(logging.Filter):
    """Redacts the records of our own connections; others pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        redactor = _current.get()
        if redactor is None:
            return True
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text = f"{text}: {record.exc_info[1]!r}"
        _log.debug("%s: %s", record.name, redactor.line(text))
        return False


_filter = _OurRecords()


def watch_sdk_logs() -> None:
    """Add the filter to every logger that the imported packages have now."""
    # A filter sees only the records of its own logger, so each one needs it.
    for name in list(logging.Logger.manager.loggerDict):
        if name.split(".")[0] in _SDK_LOGGERS:
            logging.getLogger(name).addFilter(_filter)


@contextmanager
def redacting(redactor: Redactor) -> Generator[None]:
    """Redact what this task, and tasks started from it, log."""
    token = _current.set(redactor)
    try:
        yield
    finally:
        _current.reset(token)
