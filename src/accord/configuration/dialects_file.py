"""Remembers the dialect of each agent in a file, so that the next start uses it at once.

Only dialects other than v1 and v2 are stored.  Agents are identified by a digest of their command,
since commands may contain secrets.

What always holds
    * The file is optional: if it is missing, damaged or read-only, an agent is started once more.
    * Two processes may overwrite each other's entries, but never read half a file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from accord.configuration.user_paths import replace_file, state_folder
from accord.errors import ConfigError
from accord.machine.redacted_logs import logger

AGENTS_MAX = 500
"""How many agents are remembered; the oldest entry is forgotten first."""

FILE_BYTES_MAX = 1 << 20

_log = logger("accord.configuration")


def dialects_path() -> Path:
    """Return the path of the file of the agents' dialects."""
    return state_folder() / "dialects.json"


class DialectsFile:
    """The file of known dialects, for a client's `dialects=`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def recall(self, agent: Sequence[str], /) -> tuple[str, str] | None:
        """Return the dialect that the agent spoke, and the version that it reported."""
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
        """Remove the entry of an agent that does not speak this dialect any more."""
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
            _log.info("cannot read the dialects of agents from %s: %s", self._path, error)
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, known: dict[str, Any]) -> None:
        try:
            replace_file(self._path, json.dumps(known, indent=1) + "\n")
        except (OSError, ConfigError) as error:
            _log.info("cannot store the dialects of agents in %s: %s", self._path, error)


def dialect_memory() -> DialectsFile | None:
    """Return the file of known dialects; None if there is no state folder."""
    try:
        return DialectsFile(dialects_path())
    except ConfigError:
        return None


def _digest(agent: Sequence[str]) -> str:
    text = "\0".join(agent)
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
