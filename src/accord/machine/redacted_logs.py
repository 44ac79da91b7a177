"""Secrets kept out of what this package logs: a record may quote an agent, a command, an error.

Every module of this package has its logger from `logger`, so that none logs without the filter.
Loggers of other packages are not touched.
"""

from __future__ import annotations

import logging
import os
import traceback
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from accord.machine.redaction.redactor import Redactor

LOGGERS: Final = (
    "accord",
    "accord.agent",
    "accord.builtin",
    "accord.client",
    "accord.connection",
    "accord.configuration",
    "accord.gateway",
    "accord.machine",
    "accord.mcp",
    "accord.proxy",
    "accord.store",
    "accord.terminal",
    "accord.transport",
)
"""Every logger of this package: a filter sees only what is logged on its very logger."""


@cache
def log_redactor() -> Redactor:
    """The redactor for what this process logs and reports."""
    # Imported with the first record, so that it does not delay the start.
    from accord.machine.redaction.redactor import Redactor

    return Redactor.of_environment()


class _WithoutSecrets(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        shown = log_redactor().line(said)
        if shown != said:
            record.msg, record.args = shown, ()
        if record.exc_info and record.exc_info[1] is not None and not record.exc_text:
            told = "".join(traceback.format_exception(record.exc_info[1])).rstrip("\n")
            shown = log_redactor().line(told)
            if shown != told:
                # Formatters take this before they look at the exception itself.
                record.exc_text = shown
        return True


_filter = _WithoutSecrets()
for _name in LOGGERS:
    logging.getLogger(_name).addFilter(_filter)


SILENT = logging.Logger("accord.silent", level=logging.CRITICAL + 1)
"""For packages that would log headers, and with them credentials."""


# At DEBUG it logs the value of every header of HTTP/2, credentials too.
logging.getLogger("hpack").setLevel(logging.INFO)


def logger(name: str) -> logging.Logger:
    """Return a logger of this package, with the filter."""
    assert name in LOGGERS
    return logging.getLogger(name)


def place_of(error: BaseException) -> str:
    """Return the kind of an error and where it was raised, without its text.

    For errors whose text may quote a credential or a message.
    """
    frames = traceback.extract_tb(error.__traceback__)
    kind = type(error).__name__
    if not frames:
        return kind
    last = frames[-1]
    return f"{kind} at {os.path.basename(last.filename)}, line {last.lineno}, in {last.name}"
