"""The log of a server on stderr: as text, or as one JSON object in each line.

Secrets were removed before a record comes here: every logger of this package has that filter.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import Final

from accord.machine.console.control_characters import visible

FORMATS: Final = ("text", "json")
LEVELS: Final = ("error", "warning", "info")


class JsonLines(logging.Formatter):
    """One object with time, level, logger and message."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_text:
            line["error"] = record.exc_text
        return json.dumps(line)


class TextLines(logging.Formatter):
    """A sentence behind the name of the command, as the command's own."""

    def __init__(self, command: str = "serve") -> None:
        super().__init__()
        self._command = command

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return visible(f"accord {self._command}: {record.levelname.lower()}: {record.getMessage()}")


def write_log(kind: str, level: str, *, command: str = "serve") -> None:
    """Write what this package logs from now on to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if kind == "json" else TextLines(command))
    ours = logging.getLogger("accord")
    ours.setLevel(level.upper())
    ours.handlers[:] = [handler]
    ours.propagate = False
