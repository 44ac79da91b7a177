"""Content blocks: v1's in v2's form and v2's in v1's, as plain JSON and as wire types.

The two are alike but for what v1 may say and v2 may not (a priority outside 0 to 1, a size below
zero), and the other way round (icons, other roles and types, a size above an int64).
Of the wire types all but plain text goes through the wire form; but for icons nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from accord.jsonrpc.error_codes import INVALID_PARAMS
from accord.schema import v1, v2
from accord.schema.codec import decode, encode
from accord.schema.struct import UNSET, UnknownVariant
from accord.translate.message import CannotTranslate, Json
from accord.translate.meta_store import (
    OFFICIAL,
    Check,
    is_number,
    is_text,
    is_valid,
    keep,
    kept,
    restore,
)

TYPES: Final = frozenset({"text", "image", "audio", "resource_link", "resource"})
ROLES: Final = frozenset({"user", "assistant"})
INT64_MAX: Final = 2**63 - 1

Lost = Callable[[str], None]
"""Counts what one version cannot carry, by its kind."""


def _are_icons(value: Any) -> bool:
    from accord.schema import v2

    return is_valid(list[v2.Icon], value)


def _are_roles(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def _is_large(value: Any) -> bool:
    return isinstance(value, int) and INT64_MAX < value < 2**64


def _is_negative(value: Any) -> bool:
    return isinstance(value, int) and -INT64_MAX - 1 <= value < 0


_LINK_TO_V2: Final[dict[str, Check]] = {"icons": _are_icons, "size": _is_large}
_ANNOTATIONS_TO_V2: Final[dict[str, Check]] = {"audience": _are_roles}
_LINK_TO_V1: Final[dict[str, Check]] = {"size": _is_negative}
# Clamped on the way into v2; v1 has no bounds.
_ANNOTATIONS_TO_V1: Final[dict[str, Check]] = {"priority": is_number}


def block_to_v2(block: Json) -> Json:
    """Convert a block to v2: in place, unless the original block was kept in its metadata."""
    kind = block["type"]
    if kind == "text" and len(block) == 2:
        return block
    if "_meta" in block:
        raw = kept(block, OFFICIAL).get("raw")
        if isinstance(raw, dict) and is_text(raw.get("type")) and raw["type"] not in TYPES:
            return raw
    if kind == "resource_link":
        size = block.get("size")
        if size is not None and size < 0:
            del block["size"]
            keep(block, OFFICIAL, "size", size)
        else:
            restore(block, _LINK_TO_V2)
    annotations = block.get("annotations")
    if isinstance(annotations, dict):
        restore(annotations, _ANNOTATIONS_TO_V2)
        priority: Any = annotations.get("priority")
        if priority is not None and not 0 <= priority <= 1:
            annotations["priority"] = min(max(priority, 0), 1)
            keep(annotations, OFFICIAL, "priority", priority)
    return block


def blocks_to_v2(blocks: list[Json]) -> list[Json]:
    """Convert blocks to v2."""
    return [block_to_v2(block) for block in blocks]


def block_to_v1(block: Json, lost: Lost) -> Json:
    """Convert a block to v1; a type that v1 lacks becomes text with the block in its metadata."""
    kind = block.get("type")
    if kind in TYPES:
        return _known_to_v1(block, lost)
    said: Json = {"type": "text", "text": f"[{kind}]"}
    keep(said, OFFICIAL, "raw", block)
    lost("content block")
    return said


def blocks_to_v1(blocks: list[Json], lost: Lost) -> list[Json]:
    """Convert blocks to v1."""
    return [block_to_v1(block, lost) for block in blocks]


def prompted_block_to_v1(block: Json, lost: Lost) -> Json:
    """Convert a block of a prompt to v1, in place.

    Raises:
        CannotTranslate: v1 has no such block, so no v1 agent takes it.
    """
    kind = block.get("type")
    if kind not in TYPES:
        raise CannotTranslate(
            INVALID_PARAMS, f"a prompt cannot hold a block of type {kind}", {"type": kind}
        )
    return _known_to_v1(block, lost)


def _known_to_v1(block: Json, lost: Lost) -> Json:
    if block["type"] == "text" and len(block) == 2:
        return block
    if block["type"] == "resource_link":
        _link_to_v1(block, lost)
    annotations = block.get("annotations")
    if isinstance(annotations, dict):
        if "priority" in annotations:
            restore(annotations, _ANNOTATIONS_TO_V1)
        audience = annotations.get("audience")
        if audience and not ROLES.issuperset(audience):
            annotations["audience"] = [role for role in audience if role in ROLES]
            keep(annotations, OFFICIAL, "audience", audience)
            lost("role")
    return block


def _link_to_v1(block: Json, lost: Lost) -> None:
    icons = block.pop("icons", None)
    size = block.get("size")
    if size is None:
        restore(block, _LINK_TO_V1)
    elif size > INT64_MAX:
        del block["size"]
        keep(block, OFFICIAL, "size", size)
        lost("size")
    if icons is not None:
        keep(block, OFFICIAL, "icons", icons)
        lost("icons")


def size_of(block: Any) -> int:
    """Estimate how many characters a block keeps in memory."""
    if isinstance(block, str):
        return len(block) + 64
    if isinstance(block, dict):
        return 128 + sum(len(key) + size_of(value) for key, value in block.items())
    if isinstance(block, list):
        return 64 + sum(map(size_of, block))
    return 32


def to_v1(block: v2.ContentBlock) -> v1.ContentBlock:
    """Convert a wire type of v2 to v1; an unknown variant is unchanged."""
    if isinstance(block, UnknownVariant):
        return block
    if type(block) is v2.TextContent and block.annotations is UNSET:
        return v1.TextContent(text=block.text, meta=block.meta)
    return decode(v1.ContentBlock, encode(block))  # type: ignore[arg-type]


def to_v2(block: v1.ContentBlock) -> v2.ContentBlock:
    """Convert a wire type of v1 to v2."""
    if isinstance(block, UnknownVariant):
        return block
    if type(block) is v1.TextContent and block.annotations is UNSET:
        return v2.TextContent(text=block.text, meta=block.meta)
    return decode(v2.ContentBlock, encode(block))  # type: ignore[arg-type]
