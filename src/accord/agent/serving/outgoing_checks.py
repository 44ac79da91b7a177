"""What a program hands over to be sent, held against the schema before anything is sent.

Types are checked by nobody while a program runs, so a block may hold a number where a text
belongs.  Texts, which are nearly all that is ever said, are made here and need no check.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accord.errors import LocalProtocolError
from accord.schema import v2
from accord.schema.codec import Invalid, conform, to_raw
from accord.schema.struct import UNSET, Raw, UnknownVariant, UnsetType


def checked_block(part: object) -> v2.ContentBlock:
    """A content block, if it is one to the letter."""
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
    """A piece of tool content: text, a content block, a diff or a terminal."""
    if isinstance(item, str):
        return v2.Content(content=v2.TextContent(text=item))
    if isinstance(item, v2.Content):
        checked_block(item.content)
    elif not isinstance(item, v2.Diff | v2.Terminal):
        return v2.Content(content=checked_block(item))
    _conform(v2.ToolCallContent, item, _name(item))
    return item


def check_update(update: Any) -> None:
    """Refuse what is no update of a session in the form of v2."""
    # A variant of one's own has a tag field itself, the others by their type.
    told_by: Any = getattr(type(update), "__struct_config__", update)
    tag_field = getattr(told_by, "tag_field", None)
    if tag_field != "sessionUpdate":
        raise LocalProtocolError(f"{_name(update)} is no update of a session")
    content = getattr(update, "content", None)
    for block in content if isinstance(content, list) else [content]:
        _check_bytes(block.content if isinstance(block, v2.Content) else block)
    _conform(v2.SessionUpdate, update, _name(update))


def check_text(what: str, value: object) -> None:
    """Refuse what is no text where one is due.

    Raises:
        LocalProtocolError: it is something else.
    """
    if not isinstance(value, str):
        raise LocalProtocolError(f"{what} is a text, not {_name(value)}: {value!r}"[:200])


def raw_of(what: str, value: object) -> Raw | UnsetType:
    """What a tool was given or gave back, as JSON.

    Raises:
        LocalProtocolError: it has no such form.
    """
    if value is UNSET:
        return UNSET
    try:
        return to_raw(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise LocalProtocolError(f"{what} cannot be sent: {error}") from None


def several(given: Any) -> Sequence[Any]:
    """What was meant as one where a list is due: letters are neither places nor content."""
    is_place = isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], int)
    return (given,) if isinstance(given, str) or is_place else tuple(given)


def unsayable(error: UnicodeEncodeError) -> LocalProtocolError:
    """Half a character, such as is left where a text is cut in the middle of an emoji."""
    around = ascii(error.object[max(0, error.start - 10) : error.start + 10])
    return LocalProtocolError(f"this text cannot be sent, it holds half a character: {around}")


def _check_bytes(block: Any) -> None:
    """Base64 is made on the way: a text of it, made by the program, would be taken for bytes."""
    for holder, name in ((block, "data"), (getattr(block, "resource", None), "blob")):
        value = getattr(holder, name, b"")
        if isinstance(value, str):
            raise LocalProtocolError(f"{name} of {_name(holder)} is bytes, not their base64")


def _conform(wanted: Any, value: Any, name: str) -> None:
    try:
        conform(wanted, value)
    except Invalid as error:
        raise LocalProtocolError(f"{name} cannot be sent: {error}") from None


def _name(value: Any) -> str:
    return type(value).__name__


def describe(block: v2.ContentBlock) -> str:
    """A block's kind, for a person."""
    if isinstance(block, UnknownVariant):
        return block.tag
    return str(type(block).__struct_config__.tag)


__all__ = [
    "check_text",
    "check_update",
    "checked_block",
    "checked_content",
    "describe",
    "raw_of",
    "several",
    "unsayable",
]
