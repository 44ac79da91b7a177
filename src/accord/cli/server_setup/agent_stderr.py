"""What agents of a gateway write to stderr: lines in the gateway's log, with the agent's name."""

from __future__ import annotations

from typing import Final

from accord.machine.redacted_logs import logger

LINE_BYTES_MAX: Final = 8192
"""A longer line is cut into several."""

_log = logger("accord.gateway")


class AgentStderr:
    """Takes the stderr of one process."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._rest = b""

    def __call__(self, data: bytes) -> None:
        """Log the lines that are complete."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._say(line)
        while len(self._rest) > LINE_BYTES_MAX:
            self._say(self._rest[:LINE_BYTES_MAX])
            self._rest = self._rest[LINE_BYTES_MAX:]

    def finish(self) -> None:
        """Log the last line, which may not be ended."""
        self._say(self._rest)
        self._rest = b""

    def _say(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").strip()
        if text:
            _log.info("%s wrote: %s", self._name, text)
