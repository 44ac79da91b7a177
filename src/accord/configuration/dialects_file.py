"""Which dialect each agent spoke, in a file of the user's state, so that the next start is right.

Only what differs from the usual is in it.  Agents are named by a digest of their command: commands
may have secrets in them.

What always holds
    * Nothing here is needed: a file that is missing, damaged or cannot be written costs a start.
    * Two processes at the same time may lose what the other learned, and never read half a file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from accord.configuration.user_paths import replace_file
from accord.errors import ConfigError
from accord.machine.logs import logger

AGENTS_MAX = 500
"""Agents that are remembered; the one that was learned first is forgotten first."""

FILE_BYTES_MAX = 1 << 20

_log = logger("accord.configuration")


class DialectsFile:
    """What a client's `dialects=` takes."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def recall(self, agent: Sequence[str], /) -> tuple[str, str] | None:
        """The dialect that the agent spoke, and the version that it reported then."""
        entry = self._read().get(_digest(agent))
        if not isinstance(entry, dict):
            return None
        dialect, version = entry.get("dialect"), entry.get("version")
        if not isinstance(dialect, str) or not isinstance(version, str):
            return None
        return dialect, version

    def remember(self, agent: Sequence[str], dialect: str, version: str, /) -> None:
        known = self._read()
        known.pop(_digest(agent), None)
        known[_digest(agent)] = {"dialect": dialect, "version": version}
        while len(known) > AGENTS_MAX:
            del known[next(iter(known))]
        self._write(known)

    def forget(self, agent: Sequence[str], /) -> None:
        """It does not speak that any more."""
        known = self._read()
        if known.pop(_digest(agent), None) is not None:
            self._write(known)

    def _read(self) -> dict[str, Any]:
        try:
            with self._path.open("rb") as file:
                found = json.loads(file.read(FILE_BYTES_MAX))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            _log.info("what agents spoke cannot be read from %s: %s", self._path, error)
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, known: dict[str, Any]) -> None:
        try:
            replace_file(self._path, json.dumps(known, indent=1) + "\n")
        except (OSError, ConfigError) as error:
            _log.info("what agents spoke cannot be remembered in %s: %s", self._path, error)


def _digest(agent: Sequence[str]) -> str:
    text = "\0".join(agent)
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


__all__ = ["AGENTS_MAX", "DialectsFile"]
