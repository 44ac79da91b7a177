"""Content blocks: v2's in v1's form, and what the client prompts with in v2's.

v1 knows five types of block and two roles, has no icons, and a size there is an int64.  A block
that v1 cannot show becomes a line of text, with the whole block kept on it.
"""

from __future__ import annotations

from typing import Any, Final

from accord.translate.message import Json
from accord.translate.meta_store import OFFICIAL, is_number, is_text, is_valid, keep, kept, restore
from accord.translate.v2_agent.session_writer import Voice

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
    if kind == "resource_link":
        _link_to_v1(block, voice)
    annotations = block.get("annotations")
    if isinstance(annotations, dict):
        _annotations_to_v1(annotations, voice)
    return block


def _link_to_v1(block: Json, voice: Voice) -> None:
    icons = block.pop("icons", None)
    size = block.get("size")
    if size is None:
        restore(block, {"size": _is_negative})
    elif size > INT64_MAX:
        del block["size"]
        voice.lose(block, "size", size, "size")
    if icons is not None:
        voice.lose(block, "icons", icons, "icons")


def _annotations_to_v1(annotations: Json, voice: Voice) -> None:
    if "priority" in annotations:
        # Clamped on the way into v2; v1 has no bounds.
        restore(annotations, {"priority": is_number})
    audience = annotations.get("audience")
    if audience and not ROLES.issuperset(audience):
        annotations["audience"] = [role for role in audience if role in ROLES]
        voice.lose(annotations, "audience", audience, "role")


def _is_negative(value: Any) -> bool:
    return isinstance(value, int) and -INT64_MAX - 1 <= value < 0


def blocks_to_v1(blocks: list[Json], voice: Voice) -> list[Json]:
    """Every block as v1 shows it."""
    return [block_to_v1(block, voice) for block in blocks]


def block_to_v2(block: Json) -> Json:
    """A block of the client as v2 says it: what was kept on it is itself again."""
    if block.get("type") == "text" and len(block) == 2:
        return block
    raw = kept(block, OFFICIAL).get("raw")
    if isinstance(raw, dict) and is_text(raw.get("type")) and raw["type"] not in TYPES:
        return raw
    if block["type"] == "resource_link":
        _link_to_v2(block)
    annotations = block.get("annotations")
    if isinstance(annotations, dict):
        _annotations_to_v2(annotations)
    return block


def _link_to_v2(block: Json) -> None:
    size = block.get("size")
    if size is not None and size < 0:
        del block["size"]
        keep(block, OFFICIAL, "size", size)
    else:
        restore(block, {"icons": _are_icons, "size": _is_large})


def _annotations_to_v2(annotations: Json) -> None:
    restore(annotations, {"audience": _are_roles})
    priority = annotations.get("priority")
    if priority is not None and not 0 <= priority <= 1:
        annotations["priority"] = min(max(priority, 0), 1)
        keep(annotations, OFFICIAL, "priority", priority)


def _are_icons(value: Any) -> bool:
    from accord.schema import v2

    return is_valid(list[v2.Icon], value)


def _are_roles(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def _is_large(value: Any) -> bool:
    return isinstance(value, int) and INT64_MAX < value < 2**64


def size_of(block: Any) -> int:
    """About how many characters a block keeps in memory."""
    if isinstance(block, str):
        return len(block) + 64
    if isinstance(block, dict):
        return 128 + sum(len(key) + size_of(value) for key, value in block.items())
    if isinstance(block, list):
        return 64 + sum(map(size_of, block))
    return 32
