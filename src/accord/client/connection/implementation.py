"""Which program is at an end of a connection, and what the client offers as one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accord.version import __version__

VERSIONS: tuple[int, ...] = (1, 2)


@dataclass(frozen=True, slots=True)
class Implementation:
    """A program at one end of a connection."""

    name: str
    version: str
    title: str | None = None

    def to_wire(self) -> dict[str, str]:
        """The object that both versions use."""
        named = {"name": self.name, "version": self.version}
        return named if self.title is None else {**named, "title": self.title}


OUR_NAME = Implementation("accord", __version__, "Accord")
"""The name by which a client introduces itself when the program gives none."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The client's description of itself, as plain objects for each version."""

    info: Implementation
    v1: Mapping[str, Any]
    v2: Mapping[str, Any]


def read_implementation(info: object) -> Implementation | None:
    """Name and version of the agent, where it gave them in a readable form."""
    if not isinstance(info, Mapping):
        return None
    name, version, title = info.get("name"), info.get("version"), info.get("title")
    if not isinstance(name, str) or not isinstance(version, str):
        return None
    return Implementation(name, version, title if isinstance(title, str) else None)
