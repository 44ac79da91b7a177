"""Methods beyond the protocol: how they are named, and how each side tells the other of its own.

Names start with an underscore.  What a side has registered is listed in the `_meta` of its
capabilities.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from accord.errors import LocalProtocolError

META_KEY = "accord.extensions"


def check_name(name: str) -> None:
    """Only names with an underscore are free.

    Raises:
        LocalProtocolError: this one is not.
    """
    if not name.startswith("_") or len(name) < 2:
        raise LocalProtocolError(f"the name of an extension starts with `_`: {name!r}")


def advertised(names: Iterable[str]) -> dict[str, Any]:
    """The `_meta` that tells the peer, empty when there is nothing to tell."""
    listed = sorted(set(names))
    return {META_KEY: {"methods": listed}} if listed else {}


def read_advertised(capabilities: Mapping[str, Any]) -> frozenset[str]:
    """The names that the peer says it understands, in the `_meta` of its capabilities."""
    meta = capabilities.get("_meta")
    ours = meta.get(META_KEY) if isinstance(meta, Mapping) else None
    names = ours.get("methods") if isinstance(ours, Mapping) else None
    if not isinstance(names, list):
        return frozenset()
    return frozenset(name for name in names if isinstance(name, str))


__all__ = ["META_KEY", "advertised", "check_name", "read_advertised"]
