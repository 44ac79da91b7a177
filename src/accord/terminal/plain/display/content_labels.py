"""One-line labels for content other than text: what it is, its type, its size.

This module does not know the version: it looks at the fields that a block has.
"""

from __future__ import annotations

from typing import Any

from accord.schema.codec import encode
from accord.schema.struct import UNSET, UnknownVariant
from accord.terminal.model.labels.amounts_and_durations import counted, size_words
from accord.terminal.model.text.display_text import one_line

RAW_CHARACTERS_MAX = 300
"""Printed characters of unknown content."""


def block_words(block: Any) -> str:
    """A label for a content block, without the text of a text block."""
    if isinstance(block, UnknownVariant):
        return unknown_words(block)
    tag = type(block).__struct_config__.tag if hasattr(block, "__struct_config__") else ""
    kind = _given(block, "mime_type")
    if tag in ("image", "audio"):
        return f"[{tag}, {one_line(kind)}, {size_words(len(block.data))}]"
    if tag == "resource_link":
        name = _given(block, "title") or block.name
        size = getattr(block, "size", None)
        more = f", {size_words(size)}" if isinstance(size, int) else ""
        return f"[link: {one_line(name)}, {one_line(block.uri)}{more}]"
    if tag == "resource":
        return _resource_words(block.resource)
    text = _given(block, "text")
    if text:
        return f"[for the agent only: {counted(len(text), 'character')}]"
    return f"[{one_line(str(tag)) or 'content'} (unknown content)]"


def is_for_user(block: Any) -> bool:
    """Whether the block's audience includes the user; without an audience it does."""
    audience = getattr(getattr(block, "annotations", None), "audience", None)
    return not isinstance(audience, list) or not audience or "user" in audience


def unknown_words(variant: UnknownVariant) -> str:
    """A label for an unknown variant, with the beginning of its JSON."""
    raw = one_line(variant.raw.decode(errors="replace"), RAW_CHARACTERS_MAX)
    return f"[{one_line(variant.tag, 60)}, unknown to this client: {raw}]"


def received_words(value: object) -> str:
    """An unknown value as the JSON that was received."""
    try:
        return one_line(encode(value).decode(errors="replace"), RAW_CHARACTERS_MAX)
    except TypeError:
        return "[cannot be shown]"


def _resource_words(resource: Any) -> str:
    text, blob = _given(resource, "text"), getattr(resource, "blob", UNSET)
    size = len(blob) if isinstance(blob, bytes) else len(text.encode())
    kind = _given(resource, "mime_type")
    shown = f", {one_line(kind)}" if kind else ""
    return f"[file: {one_line(resource.uri)}{shown}, {size_words(size)}]"


def _given(struct: Any, name: str) -> str:
    value = getattr(struct, name, None)
    return value if isinstance(value, str) else ""
