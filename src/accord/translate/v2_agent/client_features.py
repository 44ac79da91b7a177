"""The features of the v1 client, and the context that all parts of this translator share.

Must not know: messages, sessions, and how updates travel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from accord.translate.message import Json, Surroundings
from accord.translate.meta_store import OFFICIAL, keep


@dataclass(frozen=True, slots=True)
class Features:
    """The optional features that the v1 client supports."""

    booleans: bool = False
    compaction: bool = False
    notices: bool = False
    plans: bool = False
    subagents: bool = False
    redactions: bool = False


@dataclass(slots=True)
class TranslationContext:
    """The context of a connection; `features` are known once the client has sent `initialize`."""

    around: Surroundings
    lost: Callable[[str], None]
    """Count what could not be said; raises `CannotTranslate` in strict mode."""
    hide: Callable[[str], None]
    """Remember a child session that the client is not told of."""
    features: Features = Features()
    dues: dict[tuple[str, str], float] = field(default_factory=dict)
    """When a tool call has to be told again: by session and call."""

    def lose(self, holder: Json, name: str, value: Any, kind: str) -> None:
        """Keep data that v1 has no field for in the nearest metadata, and count it."""
        keep(holder, OFFICIAL, name, value)
        self.lost(kind)


def merged_meta(old: Json | None, patch: Json | None) -> tuple[Json | None, Json | None]:
    """Patch the `_meta` of an entity by its keys; return all of it, for v1.

    Keys that the patch removes are told as null once, so that nobody keeps them.
    """
    if patch is None:
        return None, dict.fromkeys(old) if old else None
    told = {**copied(old or {}), **patch}
    left = {key: copied(told[key]) for key in told if told[key] is not None and key != OFFICIAL}
    return left or None, told


def copied(value: Any) -> Any:
    """Copy a JSON value, since the receiver of the original may change it."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value
