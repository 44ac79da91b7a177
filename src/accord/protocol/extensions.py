"""Methods beyond the protocol: their names, and how each side announces its own.

Names start with an underscore.  What a side has registered is listed in the `_meta` of its
capabilities.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from accord.errors import LocalProtocolError

META_KEY = "accord.extensions"
_NONE: frozenset[str] = frozenset()

DECIDED_BY = "accord.decidedBy"
"""In the `_meta` of the answer to a permission request that was refused: who refused it."""

DECIDERS = frozenset({"user", "remembered", "rule", "default", "cancelled"})


def check_name(name: str) -> None:
    """Only names with an underscore are free.

    Raises:
        LocalProtocolError: this one is not.
    """
    if not name.startswith("_") or len(name) < 2:
        raise LocalProtocolError(f"the name of an extension starts with `_`: {name!r}")


def read_decided_by(answer: object) -> str | None:
    """The origin of a permission decision, if the client names one that we know."""
    meta = answer.get("_meta") if isinstance(answer, Mapping) else None
    by = meta.get(DECIDED_BY) if isinstance(meta, Mapping) else None
    return by if isinstance(by, str) and by in DECIDERS else None


def advertised(names: Iterable[str]) -> dict[str, Any]:
    """The `_meta` that announces methods to the peer; empty if there are none."""
    listed = sorted(set(names))
    return {META_KEY: {"methods": listed}} if listed else {}


def read_advertised(capabilities: Mapping[str, Any]) -> frozenset[str]:
    """The names that the peer announces in the `_meta` of its capabilities."""
    meta = capabilities.get("_meta")
    ours = meta.get(META_KEY) if isinstance(meta, Mapping) else None
    names = ours.get("methods") if isinstance(ours, Mapping) else None
    if not isinstance(names, list):
        return _NONE
    return frozenset(name for name in names if isinstance(name, str))
