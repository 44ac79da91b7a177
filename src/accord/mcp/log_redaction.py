"""Secrets kept out of the logs of the MCP SDK.

Must not know servers or protocols; it works on texts.

What always holds
    * Inside `redacting`, no record of the MCP package or of its HTTP client leaves with a secret
      in it, nor as more than a debug line: what matters of it is said by an error of ours.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from accord.machine.logs import logger
from accord.machine.redaction.redactor import Redactor

_SDK_LOGGERS = ("client", "httpcore2", "httpx2", "mcp", "mcp_types")

_log = logger("accord.mcp")


_current: ContextVar[Redactor | None] = ContextVar("redactor", default=None)


class _OurRecords(logging.Filter):
    """Takes the records of conversations that are ours; those of others pass."""

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
    """Have the filter on every logger that the imported packages have by now."""
    # A filter sees only what is logged on its very logger, so each one needs it.
    for name in list(logging.Logger.manager.loggerDict):
        if name.split(".")[0] in _SDK_LOGGERS:
            logging.getLogger(name).addFilter(_filter)


@contextmanager
def redacting(redactor: Redactor) -> Generator[None]:
    """What is logged in this task, and in tasks started from it, is cleaned."""
    token = _current.set(redactor)
    try:
        yield
    finally:
        _current.reset(token)


__all__ = ["redacting", "watch_sdk_logs"]
