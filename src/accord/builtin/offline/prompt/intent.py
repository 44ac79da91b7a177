"""`Intent`: the meaning of a typed line.  Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Intent:
    """An action and its arguments.  `slash` is set for a slash command."""

    name: str
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    slash: bool = False

    def __getitem__(self, key: str) -> str:
        return self.arguments[key]

    def get(self, key: str) -> str | None:
        """An argument that may be missing."""
        return self.arguments.get(key)
