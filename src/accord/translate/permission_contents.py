"""The contents of the tool call that a permission request shows: their order, and the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from accord.schema import v1, v2

T = TypeVar("T")
_DIFFS = frozenset({v1.Diff, v2.Diff})


def asked_contents(contents: Sequence[T], *reason: T) -> list[T]:
    """Sort the contents of a tool call for a permission request: changes, the reason, the rest.

    Some editors show a change before they ask only where it is the first of all, and the reason is
    looked for as the first text.  Items are structs of v1 or v2, or as they are on the wire.
    """
    changes = [one for one in contents if _is_diff(one)]
    return [*changes, *reason, *(one for one in contents if not _is_diff(one))]


def _is_diff(item: object) -> bool:
    return item.get("type") == "diff" if isinstance(item, dict) else type(item) in _DIFFS


def first_text(content: Any) -> str | None:
    """The first text in the content of a tool call, as it is on the wire."""
    for item in content or ():
        block = item.get("content") if item.get("type") == "content" else None
        if isinstance(block, dict) and block.get("type") == "text":
            text: str = block["text"]
            return text
    return None
