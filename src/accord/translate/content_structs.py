"""Content blocks of v1 in the form of v2 and back.

The two are alike on the wire but for `icons`, which v1 lacks, so all but plain text goes through
the wire form; nothing else that a block carries is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from accord.schema import v1, v2
from accord.schema.codec import decode, encode
from accord.schema.struct import UNSET, UnknownVariant

T = TypeVar("T")


def to_v1(block: v2.ContentBlock) -> v1.ContentBlock:
    """A block of v2 as v1 says it; a variant that neither knows stays as it is."""
    if isinstance(block, UnknownVariant):
        return block
    if type(block) is v2.TextContent and block.annotations is UNSET:
        return v1.TextContent(text=block.text, meta=block.meta)
    return decode(v1.ContentBlock, encode(block))  # type: ignore[arg-type]


def to_v2(block: v1.ContentBlock) -> v2.ContentBlock:
    """A block of v1 as v2 says it."""
    if isinstance(block, UnknownVariant):
        return block
    if type(block) is v1.TextContent and block.annotations is UNSET:
        return v2.TextContent(text=block.text, meta=block.meta)
    return decode(v2.ContentBlock, encode(block))  # type: ignore[arg-type]


def asked_contents(contents: Sequence[T], *reason: T) -> list[T]:
    """The contents of a tool call in a question to the user: its changes, the reason, the rest.

    Some editors show a change before they ask only where it is the first of all, and the reason is
    looked for as the first text.  Items are structs of v1 or v2, or as they are on the wire.
    """
    changes = [one for one in contents if _is_diff(one)]
    return [*changes, *reason, *(one for one in contents if not _is_diff(one))]


def _is_diff(item: object) -> bool:
    return item.get("type") == "diff" if isinstance(item, dict) else type(item) in _DIFFS


_DIFFS = frozenset({v1.Diff, v2.Diff})


def first_text(content: Any) -> str | None:
    """The first text in the content of a tool call, as it is on the wire."""
    for item in content or ():
        block = item.get("content") if item.get("type") == "content" else None
        if isinstance(block, dict) and block.get("type") == "text":
            text: str = block["text"]
            return text
    return None
