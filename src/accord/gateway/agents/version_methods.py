"""What the versions call the same things, for what the gateway does on its own.

A path leads through an agent's answer to `initialize` to the capability for a method; an empty one
means that every agent of the version has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from accord.gateway.agents.agent_process import Version

Path = tuple[str, ...]

_OF_SESSIONS: Final = ("agentCapabilities", "sessionCapabilities")


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionMethods:
    """One version: the ways to open, close, delete and fork a session."""

    # The best one first: it opens a session without sending its history, if there is a choice.
    reopening: tuple[tuple[str, Path], ...]
    closing: Path
    deleting: Path
    forking: Path

    def way_back(self, initialized: Mapping[str, Any]) -> str | None:
        """Return the method that opens a session again, if the agent has one."""
        return next((method for method, path in self.reopening if has(initialized, path)), None)


VERSIONS: Final[Mapping[Version, VersionMethods]] = {
    "v1": VersionMethods(
        reopening=(
            ("session/resume", (*_OF_SESSIONS, "resume")),
            ("session/load", ("agentCapabilities", "loadSession")),
        ),
        closing=(*_OF_SESSIONS, "close"),
        deleting=(*_OF_SESSIONS, "delete"),
        forking=(*_OF_SESSIONS, "fork"),
    ),
    "v2": VersionMethods(
        reopening=(("session/resume", ()),),
        closing=(),
        deleting=("capabilities", "session", "delete"),
        forking=("capabilities", "session", "fork"),
    ),
}

OF_DIALECT: Final[Mapping[str, Version]] = {"v1": "v1", "v2": "v2", "draft": "v1"}
"""The version that the gateway speaks with an agent; a translator serves the draft."""


def has(initialized: Mapping[str, Any], path: Path) -> bool:
    """Whether an answer to `initialize` has a capability: an object, or true."""
    found: Any = initialized
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return isinstance(found, Mapping) or found is True


__all__ = ["OF_DIALECT", "VERSIONS", "VersionMethods", "has"]
