"""Content blocks: v2's in v1's form, and what the client prompts with in v2's.

v1 knows five types of block and two roles, has no icons, and a size there is an int64.  A block
that v1 cannot show becomes a line of text, with the whole block kept on it.
"""

from __future__ import annotations

from typing import Any, Final

from accord.translate.keeping import OFFICIAL, keep, take
from accord.translate.message import Json
from accord.translate.v2_agent.voice import Voice

TYPES: Final = frozenset({"text", "image", "audio", "resource_link", "resource"})
ROLES: Final = frozenset({"user", "assistant"})
INT64_MAX: Final = 2**63 - 1


def block_to_v1(block: Json, voice: Voice) -> Json:
    """A block as v1 shows it; changed in place where it can stay what it is."""
    kind = block.get("type")
    if kind not in TYPES:
        said: Json = {"type": "text", "text": f"[{kind}]"}
        voice.lose(said, "raw", block, "content block")
        return said
    if kind == "text" and len(block) == 2:
        return block
    kept = take(block, OFFICIAL)
    if kind == "resource_link":
        icons = block.pop("icons", None)
        if icons is not None:
            voice.lose(block, "icons", icons, "icons")
        size = block.get("size")
        if size is not None and size > INT64_MAX:
            del block["size"]
            voice.lose(block, "size", size, "size")
    if "annotations" in block:
        _annotations_to_v1(block, kept, voice)
    if kept:
        _restore_link(block, kept)
    return block


def _annotations_to_v1(block: Json, kept: Json, voice: Voice) -> None:
    annotations = block["annotations"]
    if not isinstance(annotations, dict):
        return
    inside = take(annotations, OFFICIAL)
    priority = inside.get("priority", kept.get("priority"))
    if isinstance(priority, int | float) and "priority" in annotations:
        # Clamped on the way into v2; v1 has no bounds.
        annotations["priority"] = priority
    audience = annotations.get("audience")
    if audience and not ROLES.issuperset(audience):
        annotations["audience"] = [role for role in audience if role in ROLES]
        voice.lose(annotations, "audience", audience, "role")


def _restore_link(block: Json, kept: Json) -> None:
    """A size below zero, which only v1 can say."""
    size = kept.get("size")
    if block["type"] == "resource_link" and isinstance(size, int) and size < 0:
        block.setdefault("size", size)


def blocks_to_v1(blocks: list[Json], voice: Voice) -> list[Json]:
    """Every block as v1 shows it."""
    return [block_to_v1(block, voice) for block in blocks]


def block_to_v2(block: Json) -> Json:
    """A block of the client as v2 says it: what was kept on it is itself again."""
    if block.get("type") == "text" and len(block) == 2:
        return block
    kept = take(block, OFFICIAL)
    raw = kept.get("raw")
    if isinstance(raw, dict) and isinstance(raw.get("type"), str) and raw["type"] not in TYPES:
        return raw
    if block["type"] == "resource_link":
        _link_to_v2(block, kept)
    annotations = block.get("annotations")
    if isinstance(annotations, dict):
        _annotations_to_v2(annotations)
    return block


def _link_to_v2(block: Json, kept: Json) -> None:
    if isinstance(kept.get("icons"), list):
        block["icons"] = kept["icons"]
    size = block.get("size")
    if size is not None and size < 0:
        del block["size"]
        keep(block, OFFICIAL, "size", size)
    elif size is None and isinstance(kept.get("size"), int):
        block["size"] = kept["size"]


def _annotations_to_v2(annotations: Json) -> None:
    kept = take(annotations, OFFICIAL)
    if isinstance(kept.get("audience"), list):
        annotations["audience"] = kept["audience"]
    priority = annotations.get("priority")
    if priority is not None and not 0 <= priority <= 1:
        annotations["priority"] = min(max(priority, 0), 1)
        keep(annotations, OFFICIAL, "priority", priority)


def size_of(block: Any) -> int:
    """About how many characters a block keeps in memory."""
    if isinstance(block, str):
        return len(block) + 64
    if isinstance(block, dict):
        return 128 + sum(len(key) + size_of(value) for key, value in block.items())
    if isinstance(block, list):
        return 64 + sum(map(size_of, block))
    return 32


__all__ = ["block_to_v1", "block_to_v2", "blocks_to_v1", "size_of"]
