"""Validate what a program wants to send against the schema, before anything is sent.

Python does not check types at run time, so a block may hold a number where text belongs.  Plain
text, which is nearly everything that is sent, needs no check.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accord.errors import LocalProtocolError
from accord.schema import v2
from accord.schema.codec import Invalid, conform, to_raw
from accord.schema.struct import UNSET, Raw, UnknownVariant, UnsetType


def checked_block(part: object) -> v2.ContentBlock:
    """Return a content block if it conforms to the schema."""
    blocks = (
        v2.TextContent,
        v2.ImageContent,
        v2.AudioContent,
        v2.ResourceLink,
        v2.EmbeddedResource,
        UnknownVariant,
    )
    if not isinstance(part, blocks):
        raise LocalProtocolError(f"{type(part).__name__} is neither text nor a content block")
    _check_bytes(part)
    _conform(v2.ContentBlock, part, _name(part))
    return part


def checked_content(item: Any) -> Any:
    """Tool content made of text, a content block, a diff or a terminal."""
    if isinstance(item, str):
        return v2.Content(content=v2.TextContent(text=item))
    if isinstance(item, v2.Content):
        checked_block(item.content)
    elif not isinstance(item, v2.Diff | v2.Terminal):
        return v2.Content(content=checked_block(item))
    _conform(v2.ToolCallContent, item, _name(item))
    return item


def check_update(update: Any) -> None:
    """Refuse anything that is not a session update of v2."""
    # Custom variants have a tag field of their own, all others by their type.
    told_by: Any = getattr(type(update), "__struct_config__", update)
    tag_field = getattr(told_by, "tag_field", None)
    if tag_field != "sessionUpdate":
        raise LocalProtocolError(f"{_name(update)} is not a session update")
    content = getattr(update, "content", None)
    for block in content if isinstance(content, list) else [content]:
        _check_bytes(block.content if isinstance(block, v2.Content) else block)
    _conform(v2.SessionUpdate, update, _name(update))


def check_text(what: str, value: object) -> None:
    """Refuse a value that is not text.

    Raises:
        LocalProtocolError: it is something else.
    """
    if not isinstance(value, str):
        raise LocalProtocolError(f"{what} must be text, not {_name(value)}: {value!r}"[:200])


def raw_of(what: str, value: object) -> Raw | UnsetType:
    """The input or output of a tool, as JSON.

    Raises:
        LocalProtocolError: it cannot be encoded.
    """
    if value is UNSET:
        return UNSET
    try:
        return to_raw(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise LocalProtocolError(f"{what} cannot be sent: {error}") from None


def several(given: Any) -> Sequence[Any]:
    """A sequence of what was given; a single string or place counts as one item."""
    is_place = isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], int)
    return (given,) if isinstance(given, str) or is_place else tuple(given)


def unsayable(error: UnicodeEncodeError) -> LocalProtocolError:
    """The error for text with half a character, such as an emoji that was cut in two."""
    around = ascii(error.object[max(0, error.start - 10) : error.start + 10])
    return LocalProtocolError(f"this text cannot be sent: it contains half a character: {around}")


def _check_bytes(block: Any) -> None:
    """Refuse base64 text where bytes belong: the encoder makes the base64."""
    for holder, name in ((block, "data"), (getattr(block, "resource", None), "blob")):
        value = getattr(holder, name, b"")
        if isinstance(value, str):
            raise LocalProtocolError(f"{name} of {_name(holder)} must be bytes, not base64 text")


def _conform(wanted: Any, value: Any, name: str) -> None:
    try:
        conform(wanted, value)
    except Invalid as error:
        raise LocalProtocolError(f"{name} cannot be sent: {error}") from None


def _name(value: Any) -> str:
    return type(value).__name__


def describe(block: v2.ContentBlock) -> str:
    """The kind of a block, for messages."""
    if isinstance(block, UnknownVariant):
        return block.tag
    return str(type(block).__struct_config__.tag)
