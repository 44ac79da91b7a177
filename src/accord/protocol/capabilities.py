"""Capabilities, and what they open.

A marker is read as its version says: in v1 a boolean counts only when it is true and an object
when it is there, in v2 only objects count.  What is missing, null or malformed is unsupported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.schema.method import Method


def supports(capabilities: Mapping[str, object], path: str, *, booleans: bool) -> bool:
    """Whether the capability at a dotted path is advertised."""
    at: object = capabilities
    for key in path.split("."):
        if not isinstance(at, Mapping):
            return False
        at = at.get(key)
    return isinstance(at, Mapping) or (booleans and at is True)


def is_open(method: Method, capabilities: Mapping[str, object], *, booleans: bool) -> bool:
    """Whether the handling side offered what this method needs; no gate is always open."""
    if method.gate is None:
        return True
    return any(
        supports(capabilities, path.strip(), booleans=booleans) for path in method.gate.split("|")
    )


def lacking(
    capabilities: Mapping[str, object], wanted: Iterable[str], *, booleans: bool
) -> list[str]:
    """The wanted capabilities that were not advertised, in order."""
    return [path for path in wanted if not supports(capabilities, path, booleans=booleans)]
